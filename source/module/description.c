// SPDX-License-Identifier: Apache-2.0
// See description.h. One lock guards the chain; no device is called while it is held.
#include "module/description.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/int_list.h"

typedef struct description
{
    const struct device* device;
    struct vector* lists[2];  // int, by device_ability_t
    struct description* next;
} description_t;

static struct
{
    pthread_mutex_t mutex;
    description_t* first;  // one for each device that was asked
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void free_description(description_t* description)
{
    if (!description) return;
    release_vector(description->lists[DEVICE_OPERATOR]);
    release_vector(description->lists[DEVICE_DATA_TYPE]);
    free_memory(description);
}

// Removes the operators that are in both lists.
static void remove_blocked(struct vector* allowed, const struct vector* blocked)
{
    for (int i = get_vector_num(allowed) - 1; i >= 0; --i)
        if (is_in_int_list(blocked, *(const int*)get_vector_data(allowed, i)))
            remove_vector_via_index(allowed, i);
}

static int call_describe(struct device* device, const description_t* description,
                         struct vector* blocked)
{
    struct vector* allowed = description->lists[DEVICE_OPERATOR];
    struct vector* types = description->lists[DEVICE_DATA_TYPE];
    if (!allowed || !types || !blocked)
        return tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory for its description",
                                 device->name);
    tengine_error_clear();
    if (device->allocator->describe(device, allowed, blocked, types) < 0)
        return tengine_error_code() == TENGINE_ENOMEM
                   ? TENGINE_ENOMEM
                   : tengine_error_set(TENGINE_EDEVICE, "device '%s' cannot describe itself",
                                       device->name);
    remove_blocked(allowed, blocked);
    return TENGINE_OK;
}

// NULL when that fails, which has been recorded.
static description_t* ask(struct device* device)
{
    description_t* made = alloc_memory(sizeof *made);
    if (!made) {
        tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory for its description",
                          device->name);
        return NULL;
    }
    made->device = device;
    made->lists[DEVICE_OPERATOR] = create_vector(sizeof(int), NULL);
    made->lists[DEVICE_DATA_TYPE] = create_vector(sizeof(int), NULL);
    struct vector* blocked = create_vector(sizeof(int), NULL);
    const int status = call_describe(device, made, blocked);
    release_vector(blocked);
    if (status >= 0) return made;
    free_description(made);
    return NULL;
}

// Removes the description of a device from the chain; NULL when it has none.
static description_t* take_out(const struct device* device)
{
    description_t** place = &kept.first;
    while (*place && (*place)->device != device)
        place = &(*place)->next;
    description_t* found = *place;
    if (found) *place = found->next;
    return found;
}

static void keep(description_t* description)
{
    pthread_mutex_lock(&kept.mutex);
    description_t* old = take_out(description->device);
    description->next = kept.first;
    kept.first = description;
    pthread_mutex_unlock(&kept.mutex);
    free_description(old);
}

void forget_device_description(const struct device* device)
{
    pthread_mutex_lock(&kept.mutex);
    description_t* old = take_out(device);
    pthread_mutex_unlock(&kept.mutex);
    free_description(old);
}

int count_device_abilities(struct device* device, device_ability_t ability)
{
    description_t* description = ask(device);
    if (!description) {
        forget_device_description(device);
        return tengine_error_code();
    }
    const int number = get_vector_num(description->lists[ability]);
    keep(description);
    return number;
}

// The number of elements, -1 when no description is stored.
static int read_kept(const struct device* device, device_ability_t ability, int index,
                     int* out_value)
{
    pthread_mutex_lock(&kept.mutex);
    const description_t* found = kept.first;
    while (found && found->device != device)
        found = found->next;
    const struct vector* list = found ? found->lists[ability] : NULL;
    const int* value = list ? get_vector_data(list, index) : NULL;
    if (value) *out_value = *value;
    const int number = list ? get_vector_num(list) : -1;
    pthread_mutex_unlock(&kept.mutex);
    return number;
}

int read_device_ability(struct device* device, device_ability_t ability, int index, int* out_value)
{
    int number = read_kept(device, ability, index, out_value);
    while (number < 0) {
        TENGINE_RETURN_IF_ERROR(count_device_abilities(device, ability));
        number = read_kept(device, ability, index, out_value);
    }
    return number;
}

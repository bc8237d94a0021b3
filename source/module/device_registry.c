// SPDX-License-Identifier: Apache-2.0
// Registered devices in the order of registration. The tables of devices that were compiled against
// shorter ones are extended.
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/core.h"
#include "graph/use.h"
#include "module/abi.h"
#include "module/description.h"
#include "module/module.h"

// Tables in the library's full length.
struct full_tables
{
    struct interface interface;
    struct allocator allocator;
    struct optimizer optimizer;
};

typedef struct registered_device
{
    struct device* device;
    struct device own;         // the device's own tables
    struct full_tables* full;  // the extended tables; NULL: its own are long enough
} registered_device_t;

static struct vector* devices;  // registered_device_t
static struct device* first_device;

int get_device_count(void)
{
    return devices ? get_vector_num(devices) : 0;
}

struct device* find_device_via_index(int index)
{
    const registered_device_t* entry = devices ? get_vector_data(devices, index) : NULL;
    return entry ? entry->device : NULL;
}

struct device* find_device_via_name(const char* name)
{
    for (int i = 0; name && i < get_device_count(); ++i)
        if (strcmp(find_device_via_index(i)->name, name) == 0) return find_device_via_index(i);
    return NULL;
}

struct device* find_default_device(void)
{
    return find_device_via_name(ir_default_device_name);
}

static int check_device(const struct device* device)
{
    if (!device || !device->name || !*device->name)
        return tengine_error_set(TENGINE_EINVAL, "a device needs a name");
    const struct
    {
        const char* name;
        bool present;
    } needed[] = {
        {"interface", device->interface != NULL},
        {"interface.init", device->interface && device->interface->init},
        {"interface.pre_run", device->interface && device->interface->pre_run},
        {"interface.run", device->interface && device->interface->run},
        {"interface.post_run", device->interface && device->interface->post_run},
        {"interface.release_device", device->interface && device->interface->release_device},
        {"allocator", device->allocator != NULL},
        {"allocator.describe", device->allocator && device->allocator->describe},
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); ++i)
        if (!needed[i].present)
            return tengine_error_set(TENGINE_EINVAL, "device '%s' lacks %s", device->name,
                                     needed[i].name);
    if (find_device_via_name(device->name))
        return tengine_error_set(TENGINE_EEXIST, "device '%s' is already registered", device->name);
    return TENGINE_OK;
}

// ---- tables of older versions ----

static int check_tables(const struct device* device, const ir_abi_t* abi)
{
    TENGINE_RETURN_IF_ERROR(check_ir_abi("device", device->name, abi));
    // The contract of Tengine Lite, which later versions extend.
    if (abi->interface_size >= offsetof(struct interface, save) &&
        abi->allocator_size >= offsetof(struct allocator, inspect) &&
        abi->optimizer_size >= sizeof(struct optimizer))
        return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EINVAL, "device '%s': its tables have %u, %u and %u bytes, which is too few",
        device->name, abi->interface_size, abi->allocator_size, abi->optimizer_size);
}

static void copy_table(void* to, size_t to_size, const void* from, size_t from_size)
{
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

// save had other parameters in ABI 1.0, and no library called it or load.
static void forget_first_save(struct interface* interface)
{
    interface->save = NULL;
    interface->load = NULL;
}

// Gives the device tables of full length, in which entries that it does not know are NULL.
static int lengthen_tables(registered_device_t* entry, const ir_abi_t* abi)
{
    if (abi->interface_size >= sizeof(struct interface) &&
        abi->allocator_size >= sizeof(struct allocator) &&
        abi->optimizer_size >= sizeof(struct optimizer))
        return TENGINE_OK;
    struct device* device = entry->device;
    struct full_tables* full = alloc_memory(sizeof *full);
    if (!full)
        return tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory while registering it",
                                 device->name);
    copy_table(&full->interface, sizeof full->interface, device->interface, abi->interface_size);
    copy_table(&full->allocator, sizeof full->allocator, device->allocator, abi->allocator_size);
    if (device->optimizer)
        copy_table(&full->optimizer, sizeof full->optimizer, device->optimizer,
                   abi->optimizer_size);
    if (abi->minor == 0) forget_first_save(&full->interface);
    entry->full = full;
    device->interface = &full->interface;
    device->allocator = &full->allocator;
    if (device->optimizer) device->optimizer = &full->optimizer;
    return TENGINE_OK;
}

static void give_back_tables(registered_device_t* entry)
{
    if (!entry->full) return;
    entry->device->interface = entry->own.interface;
    entry->device->allocator = entry->own.allocator;
    entry->device->optimizer = entry->own.optimizer;
    free_memory(entry->full);
}

// ---- registration ----

// The registry's entry of a device, NULL when it has none.
static registered_device_t* find_entry(const struct device* device)
{
    for (int i = 0; i < get_device_count(); ++i) {
        registered_device_t* entry = get_vector_data(devices, i);
        if (entry->device == device) return entry;
    }
    return NULL;
}

static int start_device(struct device* device)
{
    tengine_error_clear();
    const int status = device->interface->init(device);
    if (status >= 0) return TENGINE_OK;
    if (tengine_error_code() == 0)
        tengine_error_set(TENGINE_EDEVICE, "device '%s': init returned %d", device->name, status);
    return tengine_error_code();
}

static int enter_device(const registered_device_t* entry)
{
    struct device* device = entry->device;
    if (!devices) devices = create_vector(sizeof *entry, NULL);
    if (!devices) return tengine_error_set(TENGINE_ENOMEM, "out of memory for the device registry");
    TENGINE_RETURN_IF_ERROR(start_device(device));
    if (push_vector_data(devices, entry) == 0) return TENGINE_OK;
    device->interface->release_device(device);
    return tengine_error_set(TENGINE_ENOMEM, "device '%s': out of memory while registering it",
                             device->name);
}

int register_ir_device(struct device* device, const ir_abi_t* abi)
{
    TENGINE_RETURN_IF_ERROR(check_device(device));
    TENGINE_RETURN_IF_ERROR(check_tables(device, abi));
    registered_device_t entry = {.device = device, .own = *device};
    TENGINE_RETURN_IF_ERROR(lengthen_tables(&entry, abi));
    const int status = enter_device(&entry);
    if (status < 0) give_back_tables(&entry);
    return status;
}

static void leave_device(struct device* device)
{
    forget_device_description(device);
    remove_vector_via_pointer(devices, find_entry(device));
    if (first_device == device) first_device = NULL;
    if (get_vector_num(devices) > 0) return;
    release_vector(devices);
    devices = NULL;
}

int unregister_device(struct device* device)
{
    const registered_device_t* found = find_entry(device);
    if (!found)
        return tengine_error_set(TENGINE_ENOENT, "device '%s' is not registered",
                                 device && device->name ? device->name : "");
    TENGINE_RETURN_IF_ERROR(check_ir_unused(device, "device", device->name));
    registered_device_t entry = *found;
    int (*release)(struct device*) = device->interface->release_device;
    leave_device(device);
    give_back_tables(&entry);
    // A device may be destroyed by its own release.
    if (release(device) < 0)
        return tengine_error_set(TENGINE_EDEVICE, "device '%s': release_device failed",
                                 device->name);
    return TENGINE_OK;
}

int set_first_device(const char* name)
{
    struct device* device = find_device_via_name(name);
    if (!device) return tengine_error_set(TENGINE_ENOENT, "unknown device '%s'", name ? name : "");
    first_device = device;
    return TENGINE_OK;
}

struct device* get_first_device(void)
{
    return first_device ? first_device : find_default_device();
}

// SPDX-License-Identifier: Apache-2.0
// A list under a mutex: few objects are in use at a time.
#include "graph/use.h"

#include <pthread.h>

#include "base/alloc.h"

// An object with a user.
typedef struct use
{
    const void* object;
    int number[IR_USER_NUMBER];
} use_t;

static struct
{
    pthread_mutex_t mutex;
    struct vector* list;  // use_t; NULL: nothing is in use
} uses = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static use_t* find_use(const void* object)
{
    for (int i = 0; i < get_vector_num(uses.list); ++i) {
        use_t* use = get_vector_data(uses.list, i);
        if (use->object == object) return use;
    }
    return NULL;
}

static use_t* find_or_add_use(const void* object)
{
    const use_t made = {.object = object};
    if (!uses.list) uses.list = create_vector(sizeof made, NULL);
    if (!uses.list) return NULL;
    use_t* found = find_use(object);
    if (found) return found;
    return push_vector_data(uses.list, &made) == 0 ? find_use(object) : NULL;
}

int begin_ir_use(const void* object, const char* name, ir_user_t user)
{
    pthread_mutex_lock(&uses.mutex);
    use_t* use = find_or_add_use(object);
    if (use) ++use->number[user];
    pthread_mutex_unlock(&uses.mutex);
    return use ? TENGINE_OK
               : tengine_error_set(TENGINE_ENOMEM, "'%s': out of memory for its users", name);
}

static bool has_user(const use_t* use)
{
    for (int user = 0; user < IR_USER_NUMBER; ++user)
        if (use->number[user] > 0) return true;
    return false;
}

void end_ir_use(const void* object, ir_user_t user)
{
    pthread_mutex_lock(&uses.mutex);
    use_t* use = find_use(object);
    --use->number[user];
    if (!has_user(use)) remove_vector_via_pointer(uses.list, use);
    if (get_vector_num(uses.list) == 0) {
        release_vector(uses.list);
        uses.list = NULL;
    }
    pthread_mutex_unlock(&uses.mutex);
}

// A graph lists its devices in its context, which the program may have destroyed already, and a
// watched part has a context of its own.
static const char* find_user(const void* object)
{
    static const char* const sentences[] = {
        [IR_USER_GRAPH] = "a graph uses it; call postrun_graph or destroy_graph first",
        [IR_USER_CALL] = "a call of it has not returned yet",
        [IR_USER_CONTEXT] =
            "a context lists it; call remove_context_device, or destroy the context and its "
            "graphs, "
            "first",
    };
    const use_t* use = find_use(object);
    if (!use) return NULL;
    int user = 0;
    while (use->number[user] == 0)
        ++user;
    return sentences[user];
}

int check_ir_unused(const void* object, const char* kind, const char* name)
{
    pthread_mutex_lock(&uses.mutex);
    const char* user = find_user(object);
    pthread_mutex_unlock(&uses.mutex);
    if (!user) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "%s '%s' is in use: %s", kind, name, user);
}

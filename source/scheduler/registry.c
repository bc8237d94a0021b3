// SPDX-License-Identifier: Apache-2.0
// Schedulers by name: the built-in ones first, then those of devices and programs in the order of
// registration. Also the choice of a graph's scheduler.
#include <string.h>

#include "base/text.h"
#include "graph/option.h"
#include "graph/use.h"
#include "module/abi.h"
#include "module/module.h"
#include "optimizer/optimizer.h"
#include "scheduler/scheduler.h"

enum
{
    BUILT_IN_NUMBER = 2
};

static struct vector* registered;  // struct scheduler*

static struct scheduler* get_built_in(int index)
{
    return index == 0 ? get_sync_scheduler() : get_pipeline_scheduler();
}

int get_scheduler_count(void)
{
    return BUILT_IN_NUMBER + get_vector_num(registered);
}

struct scheduler* find_scheduler_via_index(int index)
{
    if (index < 0) return NULL;
    if (index < BUILT_IN_NUMBER) return get_built_in(index);
    struct scheduler** entry = get_vector_data(registered, index - BUILT_IN_NUMBER);
    return entry ? *entry : NULL;
}

struct scheduler* find_scheduler_via_name(const char* name)
{
    for (int i = 0; name && i < get_scheduler_count(); ++i)
        if (strcmp(find_scheduler_via_index(i)->name, name) == 0)
            return find_scheduler_via_index(i);
    return NULL;
}

static int check_scheduler(const struct scheduler* scheduler)
{
    if (!scheduler || !scheduler->name || !*scheduler->name)
        return tengine_error_set(TENGINE_EINVAL, "the scheduler has no name");
    if (!scheduler->run || !scheduler->wait)
        return tengine_error_set(TENGINE_EINVAL, "scheduler '%s' lacks %s", scheduler->name,
                                 scheduler->run ? "wait" : "run");
    if (find_scheduler_via_name(scheduler->name))
        return tengine_error_set(TENGINE_EEXIST, "scheduler '%s' is already registered",
                                 scheduler->name);
    return TENGINE_OK;
}

int register_ir_scheduler(struct scheduler* scheduler, const ir_abi_t* abi)
{
    TENGINE_RETURN_IF_ERROR(check_scheduler(scheduler));
    TENGINE_RETURN_IF_ERROR(check_ir_abi("scheduler", scheduler->name, abi));
    if (!registered) registered = create_vector(sizeof(struct scheduler*), NULL);
    if (!registered || push_vector_data(registered, &scheduler) < 0)
        return tengine_error_set(
            TENGINE_ENOMEM, "scheduler '%s': out of memory while registering it", scheduler->name);
    return TENGINE_OK;
}

static int find_entry(const struct scheduler* scheduler)
{
    for (int i = 0; i < get_vector_num(registered); ++i)
        if (*(struct scheduler**)get_vector_data(registered, i) == scheduler) return i;
    return -1;
}

int unregister_scheduler(struct scheduler* scheduler)
{
    const int index = find_entry(scheduler);
    if (index < 0)
        return tengine_error_set(TENGINE_ENOENT, "scheduler '%s' is built in or not registered",
                                 scheduler && scheduler->name ? scheduler->name : "");
    TENGINE_RETURN_IF_ERROR(check_ir_unused(scheduler, "scheduler", scheduler->name));
    remove_vector_via_index(registered, index);
    if (get_vector_num(registered) == 0) {
        release_vector(registered);
        registered = NULL;
    }
    if (scheduler->release) scheduler->release(scheduler);
    return TENGINE_OK;
}

void release_schedulers(void)
{
    int status = TENGINE_OK;
    while (get_vector_num(registered) > 0 && status == TENGINE_OK)
        status = unregister_scheduler(*(struct scheduler**)get_vector_data(registered, 0));
}

int require_ir_scheduler(const char* name, struct scheduler** out_scheduler)
{
    *out_scheduler = find_scheduler_via_name(name);
    if (*out_scheduler) return TENGINE_OK;
    text_t names = {0};
    for (int i = 0; i < get_scheduler_count(); ++i)
        append_text(&names, "%s%s", i > 0 ? ", " : "", find_scheduler_via_index(i)->name);
    tengine_error_set(TENGINE_ENOENT, "unknown scheduler '%.100s': expected %s", name,
                      names.data ? names.data : "");
    free_text(&names);
    return TENGINE_ENOENT;
}

int choose_ir_scheduler(const struct graph* source, struct scheduler** out_scheduler)
{
    const char* name = get_ir_context_option(source->attribute->context, "scheduler");
    if (*name) return require_ir_scheduler(name, out_scheduler);
    struct scheduler* own = find_best_device(source)->scheduler;
    *out_scheduler = own ? own : get_sync_scheduler();
    return TENGINE_OK;
}

// SPDX-License-Identifier: Apache-2.0
// C API, group Plug-ins: shared libraries whose init function registers devices and schedulers
// through device.h. What is registered while it runs is the plug-in's, and must be gone before its
// code is.
#include "api/plugin.h"

#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/alloc.h"
#include "base/dynamic_library.h"
#include "graph/context.h"
#include "scheduler/session.h"
#include "scheduler/watchdog.h"
#include "tengine/log.h"

typedef struct plugin
{
    char* name;
    dynamic_library_t* library;
    struct vector* devices;     // of struct device*, that it has registered
    struct vector* schedulers;  // of struct scheduler*
} plugin_t;

static struct vector* plugins;  // of plugin_t

// ---- what a plug-in has registered ----

// Devices and schedulers are listed alike, by address.
typedef void* (*find_registered_t)(int index);

static void* find_device(int index)
{
    return find_device_via_index(index);
}

static void* find_scheduler(int index)
{
    return find_scheduler_via_index(index);
}

static bool is_listed(const struct vector* list, const void* object)
{
    for (int i = 0; i < get_vector_num(list); ++i)
        if (*(void**)get_vector_data(list, i) == object) return true;
    return false;
}

// What is registered now and is not in `known`; `known` may be NULL.
static struct vector* list_registered(find_registered_t find, const struct vector* known)
{
    struct vector* list = create_vector(sizeof(void*), NULL);
    void* object;
    for (int i = 0; list && (object = find(i)) != NULL; ++i) {
        if (is_listed(known, object) || push_vector_data(list, &object) == 0) continue;
        release_vector(list);
        return NULL;
    }
    return list;
}

static bool is_registered(find_registered_t find, const void* object)
{
    void* other;
    for (int i = 0; (other = find(i)) != NULL; ++i)
        if (other == object) return true;
    return false;
}

// Those the plug-in's own release function has left.
static void unregister_all(const plugin_t* plugin)
{
    for (int i = 0; i < get_vector_num(plugin->devices); ++i) {
        struct device* device = *(struct device**)get_vector_data(plugin->devices, i);
        if (is_registered(find_device, device) && unregister_device(device) < 0)
            TLOG_WARNING("plug-in '%s': %s", plugin->name, tengine_error_message());
    }
    for (int i = 0; i < get_vector_num(plugin->schedulers); ++i) {
        struct scheduler* scheduler = *(struct scheduler**)get_vector_data(plugin->schedulers, i);
        if (is_registered(find_scheduler, scheduler) && unregister_scheduler(scheduler) < 0)
            TLOG_WARNING("plug-in '%s': %s", plugin->name, tengine_error_message());
    }
}

static void free_plugin(plugin_t* plugin)
{
    release_vector(plugin->devices);
    release_vector(plugin->schedulers);
    close_dynamic_library(plugin->library);
    free_memory(plugin->name);
    memset(plugin, 0, sizeof *plugin);
}

// ---- whether it is in use ----

static bool lists_device(const struct context* context, const plugin_t* plugin)
{
    for (int i = 0; context && i < get_vector_num(context->devices); ++i) {
        const ir_context_device_t* entry = get_vector_data(context->devices, i);
        if (is_listed(plugin->devices, entry->device)) return true;
    }
    return false;
}

// Refusals name their device too.
static bool mentions_device(const struct graph* execution, const plugin_t* plugin)
{
    for (int i = 0; i < execution->node_num; ++i) {
        const struct node* node = execution->node_list[i];
        if (is_listed(plugin->devices, node->device)) return true;
        for (int k = 0; k < node->refusal_num; ++k)
            if (is_listed(plugin->devices, node->refusal_list[k].device)) return true;
    }
    return false;
}

static bool is_context_using(const void* context, const api_graph_t* owner, const void* plugin)
{
    (void)owner;
    return lists_device(context, plugin);
}

static bool is_graph_using(const void* object, const api_graph_t* owner, const void* argument)
{
    const struct graph* graph = object;
    const plugin_t* plugin = argument;
    if (is_listed(plugin->devices, graph->device) || lists_device(owner->context, plugin))
        return true;
    if (!graph->execution) return false;
    return mentions_device(graph->execution, plugin) ||
           is_listed(plugin->schedulers, get_ir_session(graph->execution)->scheduler);
}

static int check_unused(const plugin_t* plugin, const char* function)
{
    const char* user = NULL;
    if (has_handle(HANDLE_CONTEXT, is_context_using, plugin))
        user = "a context lists one of its devices";
    else if (has_handle(HANDLE_GRAPH, is_graph_using, plugin))
        user = "a graph uses one of its devices or schedulers";
    else if (wait_hung_calls(0) > 0)
        user = "a call of a device has not returned yet";
    if (!user) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "%s: plug-in '%s' is in use: %s", function,
                             plugin->name, user);
}

// ---- load ----

static int find_plugin(const char* name)
{
    for (int i = 0; i < get_vector_num(plugins); ++i)
        if (strcmp(((plugin_t*)get_vector_data(plugins, i))->name, name) == 0) return i;
    return -1;
}

// The sentence about a failure in the plug-in's library or its code.
static int fail_plugin(const char* function, const char* name)
{
    char cause[512];
    const int code = tengine_error_code();
    snprintf(cause, sizeof cause, "%s", tengine_error_message());
    return tengine_error_set(code, "%s: plug-in '%s': %s", function, name, cause);
}

// Calls a function of the plug-in by name; none for NULL.
static int call_plugin(const plugin_t* plugin, const char* function, const char* entry_name)
{
    dynamic_function_t entry;
    if (!entry_name) return TENGINE_OK;
    if (find_dynamic_function(plugin->library, entry_name, &entry) < 0)
        return fail_plugin(function, plugin->name);
    tengine_error_clear();
    const int status = entry();
    if (status >= 0) return TENGINE_OK;
    if (tengine_error_code() != 0) return fail_plugin(function, plugin->name);
    return tengine_error_set(TENGINE_EDEVICE, "%s: plug-in '%s': %s returned %d", function,
                             plugin->name, entry_name, status);
}

static int start_plugin(plugin_t* plugin, const char* function, const char* init_name)
{
    struct vector* devices = list_registered(find_device, NULL);
    struct vector* schedulers = list_registered(find_scheduler, NULL);
    int status = devices && schedulers
                     ? call_plugin(plugin, function, init_name)
                     : tengine_error_set(TENGINE_ENOMEM, "%s: no memory", function);
    plugin->devices = list_registered(find_device, devices);
    plugin->schedulers = list_registered(find_scheduler, schedulers);
    if (status == TENGINE_OK && (!plugin->devices || !plugin->schedulers))
        status = tengine_error_set(TENGINE_ENOMEM, "%s: no memory", function);
    release_vector(devices);
    release_vector(schedulers);
    return status;
}

// On failure nothing of it stays, whatever it had registered before.
static int load_plugin(const char* name, const char* file_name, const char* init_name,
                       const char* function)
{
    plugin_t plugin = {.name = duplicate_string(name)};
    if (!plugins) plugins = create_vector(sizeof plugin, NULL);
    if (!plugin.name || !plugins) {
        free_memory(plugin.name);
        return tengine_error_set(TENGINE_ENOMEM, "%s: no memory", function);
    }
    int status = open_dynamic_library(file_name, &plugin.library);
    if (status < 0) status = fail_plugin(function, name);
    if (status == TENGINE_OK) status = start_plugin(&plugin, function, init_name);
    if (status == TENGINE_OK && push_vector_data(plugins, &plugin) < 0)
        status = tengine_error_set(TENGINE_ENOMEM, "%s: no memory", function);
    if (status == TENGINE_OK) return TENGINE_OK;
    unregister_all(&plugin);
    free_plugin(&plugin);
    return status;
}

int load_tengine_plugin(const char* plugin_name, const char* file_name, const char* init_func_name)
{
    if (check_initialised(__func__) < 0 || check_name(plugin_name, __func__, "plugin_name") < 0 ||
        check_name(file_name, __func__, "file_name") < 0)
        return api_failure();
    if (find_plugin(plugin_name) >= 0)
        return api_result(tengine_error_set(TENGINE_EEXIST, "%s: there is a plug-in '%s' already",
                                            __func__, plugin_name));
    return api_result(load_plugin(plugin_name, file_name, init_func_name, __func__));
}

// ---- unload ----

static void drop_plugin(int index)
{
    plugin_t* plugin = get_vector_data(plugins, index);
    unregister_all(plugin);
    free_plugin(plugin);
    remove_vector_via_index(plugins, index);
    if (get_vector_num(plugins) > 0) return;
    release_vector(plugins);
    plugins = NULL;
}

void release_plugins(void)
{
    while (get_vector_num(plugins) > 0)
        drop_plugin(get_vector_num(plugins) - 1);
    release_vector(plugins);
    plugins = NULL;
}

int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name)
{
    if (check_initialised(__func__) < 0 || check_name(plugin_name, __func__, "plugin_name") < 0)
        return api_failure();
    const int index = find_plugin(plugin_name);
    if (index < 0)
        return api_result(tengine_error_set(TENGINE_ENOENT, "%s: there is no plug-in '%s'",
                                            __func__, plugin_name));
    const plugin_t* plugin = get_vector_data(plugins, index);
    if (check_unused(plugin, __func__) < 0 || call_plugin(plugin, __func__, rel_func_name) < 0)
        return api_failure();
    drop_plugin(index);
    return 0;
}

int get_tengine_plugin_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : get_vector_num(plugins);
}

const char* get_tengine_plugin_name(int idx)
{
    if (check_initialised(__func__) < 0 ||
        check_index(idx, get_vector_num(plugins), __func__, "plug-ins") < 0)
        return api_pointer(NULL);
    return ((const plugin_t*)get_vector_data(plugins, idx))->name;
}

// SPDX-License-Identifier: Apache-2.0
// C API, group Plug-ins: shared libraries whose init function registers devices, schedulers and
// custom operators. Everything that is registered while it runs belongs to the plug-in and must be
// unregistered before its code is unloaded. Folders of plug-ins are in plugin_path.c.
#include "api/plugin.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/alloc.h"
#include "base/dynamic_library.h"
#include "base/foreign_call.h"
#include "graph/use.h"
#include "module/abi.h"
#include "operator/custom/op.h"
#include "scheduler/scheduler.h"
#include "tengine/log.h"
#include "tengine/plugin.h"

typedef struct plugin
{
    char* name;
    char* version;
    char* file;
    int (*release)(void);  // the plug-in's own, or NULL
    dynamic_library_t* library;
    struct vector* devices;      // struct device*, registered by it
    struct vector* schedulers;   // struct scheduler*
    struct vector* operators;    // tengine_op_t*
    const struct plugin* outer;  // during its init: the plug-in whose init loads it
} plugin_t;

static struct vector* plugins;    // plugin_t
static const plugin_t* starting;  // the plug-in whose init runs, or NULL

// ---- what a plug-in has registered ----

// Devices, schedulers and custom operators are listed in the same way, by address.
typedef void* (*find_registered_t)(int index);

static void* find_device(int index)
{
    return find_device_via_index(index);
}

static void* find_scheduler(int index)
{
    return find_scheduler_via_index(index);
}

static void* find_operator(int index)
{
    return find_custom_op_via_index(index);
}

static bool is_listed(const struct vector* list, const void* object)
{
    for (int i = 0; i < get_vector_num(list); ++i)
        if (*(void**)get_vector_data(list, i) == object) return true;
    return false;
}

// Whether a loaded plug-in has registered the object, such as one that another plug-in's init has
// loaded.
static bool is_owned(const void* object)
{
    for (int i = 0; i < get_vector_num(plugins); ++i) {
        const plugin_t* plugin = get_vector_data(plugins, i);
        if (is_listed(plugin->devices, object) || is_listed(plugin->schedulers, object) ||
            is_listed(plugin->operators, object))
            return true;
    }
    return false;
}

// The registered objects that belong to no other plug-in and are not in `known`, which may be NULL.
static struct vector* list_registered(find_registered_t find, const struct vector* known)
{
    struct vector* list = create_vector(sizeof(void*), NULL);
    void* object;
    for (int i = 0; list && (object = find(i)) != NULL; ++i) {
        if (is_listed(known, object) || is_owned(object) || push_vector_data(list, &object) == 0)
            continue;
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

static void unregister_devices(const plugin_t* plugin)
{
    for (int i = 0; i < get_vector_num(plugin->devices); ++i) {
        struct device* device = *(struct device**)get_vector_data(plugin->devices, i);
        if (is_registered(find_device, device) && unregister_device(device) < 0)
            TLOG_WARNING("plug-in '%s': %s", plugin->name, tengine_error_message());
    }
}

static void unregister_schedulers(const plugin_t* plugin)
{
    for (int i = 0; i < get_vector_num(plugin->schedulers); ++i) {
        struct scheduler* scheduler = *(struct scheduler**)get_vector_data(plugin->schedulers, i);
        if (is_registered(find_scheduler, scheduler) && unregister_scheduler(scheduler) < 0)
            TLOG_WARNING("plug-in '%s': %s", plugin->name, tengine_error_message());
    }
}

static bool has_registered(const struct vector* list, find_registered_t find)
{
    for (int i = 0; i < get_vector_num(list); ++i)
        if (is_registered(find, *(void**)get_vector_data(list, i))) return true;
    return false;
}

// Unregisters everything that the plug-in's own release function has left. The code of an object
// that is in use, such as by a context that a failing init leaves behind, stays in memory.
static void unregister_all(plugin_t* plugin)
{
    unregister_devices(plugin);
    unregister_schedulers(plugin);
    for (int i = 0; i < get_vector_num(plugin->operators); ++i) {
        tengine_op_t* op = *(tengine_op_t**)get_vector_data(plugin->operators, i);
        // A function of the API, which plug-ins need in programs that are linked with the library.
        if (is_registered(find_operator, op)) tengine_op_unregister(NULL, op);
    }
    if (has_registered(plugin->devices, find_device) ||
        has_registered(plugin->schedulers, find_scheduler) ||
        has_registered(plugin->operators, find_operator))
        plugin->library = NULL;
}

static void free_plugin(plugin_t* plugin)
{
    release_vector(plugin->devices);
    release_vector(plugin->schedulers);
    release_vector(plugin->operators);
    close_dynamic_library(plugin->library);
    free_memory(plugin->name);
    free_memory(plugin->version);
    free_memory(plugin->file);
    memset(plugin, 0, sizeof *plugin);
}

// ---- whether it is in use ----

// Puts the step that failed in front of the recorded message.
static int fail_again(const char* function, const char* before, const char* subject,
                      const char* after)
{
    char cause[512];
    const int code = tengine_error_code();
    snprintf(cause, sizeof cause, "%s", tengine_error_message());
    return tengine_error_set(code, "%s: %s%s%s%s", function, before, subject, after, cause);
}

// Objects that the plug-in itself has unregistered are not in use.
static int check_devices(const plugin_t* plugin)
{
    for (int i = 0; i < get_vector_num(plugin->devices); ++i) {
        const struct device* device = *(struct device**)get_vector_data(plugin->devices, i);
        if (is_registered(find_device, device))
            TENGINE_RETURN_IF_ERROR(check_ir_unused(device, "device", device->name));
    }
    return TENGINE_OK;
}

static int check_schedulers(const plugin_t* plugin)
{
    for (int i = 0; i < get_vector_num(plugin->schedulers); ++i) {
        const struct scheduler* scheduler =
            *(struct scheduler**)get_vector_data(plugin->schedulers, i);
        if (is_registered(find_scheduler, scheduler))
            TENGINE_RETURN_IF_ERROR(check_ir_unused(scheduler, "scheduler", scheduler->name));
    }
    return TENGINE_OK;
}

static int check_operators(const plugin_t* plugin)
{
    for (int i = 0; i < get_vector_num(plugin->operators); ++i) {
        tengine_op_t* op = *(tengine_op_t**)get_vector_data(plugin->operators, i);
        if (is_registered(find_operator, op) && is_custom_op_used(op))
            return tengine_error_set(TENGINE_ESTATE, "a graph uses one of its operators");
    }
    return TENGINE_OK;
}

static int check_unused(const plugin_t* plugin, const char* function)
{
    if (check_devices(plugin) == TENGINE_OK && check_schedulers(plugin) == TENGINE_OK &&
        check_operators(plugin) == TENGINE_OK)
        return TENGINE_OK;
    return fail_again(function, "plug-in '", plugin->name, "' is in use: ");
}

// ---- load ----

static int find_plugin(const char* name)
{
    for (int i = 0; i < get_vector_num(plugins); ++i)
        if (strcmp(((plugin_t*)get_vector_data(plugins, i))->name, name) == 0) return i;
    return -1;
}

// A failure in the plug-in's library or its code.
static int fail_plugin(const char* function, const char* name)
{
    return fail_again(function, "plug-in '", name, "': ");
}

static int call_plugin(const plugin_t* plugin, const char* function, const char* entry_name,
                       int (*entry)(void))
{
    int status = TENGINE_OK;
    if (!entry) return TENGINE_OK;
    tengine_error_clear();
    if (call_foreign_entry(entry, entry_name, &status) < 0)
        return fail_plugin(function, plugin->name);
    if (status >= 0) return TENGINE_OK;
    if (tengine_error_code() != 0) return fail_plugin(function, plugin->name);
    return tengine_error_set(TENGINE_EDEVICE, "%s: plug-in '%s': %s returned %d", function,
                             plugin->name, entry_name, status);
}

// Finds the plug-in's function of this name; `otherwise` when `name` is NULL.
static int find_entry(const plugin_t* plugin, const char* function, const char* name,
                      int (*otherwise)(void), int (**out_entry)(void))
{
    dynamic_function_t found;
    *out_entry = otherwise;
    if (!name) return TENGINE_OK;
    if (find_dynamic_function(plugin->library, name, &found) < 0)
        return fail_plugin(function, plugin->name);
    *out_entry = (int (*)(void))found;
    return TENGINE_OK;
}

static int start_plugin(plugin_t* plugin, const char* function, const char* init_name,
                        int (*init)(void))
{
    struct vector* devices = list_registered(find_device, NULL);
    struct vector* schedulers = list_registered(find_scheduler, NULL);
    struct vector* operators = list_registered(find_operator, NULL);
    int status = devices && schedulers && operators
                     ? call_plugin(plugin, function, init_name, init)
                     : tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", function);
    plugin->devices = list_registered(find_device, devices);
    plugin->schedulers = list_registered(find_scheduler, schedulers);
    plugin->operators = list_registered(find_operator, operators);
    if (status == TENGINE_OK && (!plugin->devices || !plugin->schedulers || !plugin->operators))
        status = tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", function);
    release_vector(devices);
    release_vector(schedulers);
    release_vector(operators);
    return status;
}

// After a failure everything that the plug-in has registered is unregistered.
static int enter_plugin(plugin_t* plugin, const char* function, const char* init_name,
                        int (*init)(void))
{
    plugin->outer = starting;
    starting = plugin;
    int status = start_plugin(plugin, function, init_name, init);
    starting = plugin->outer;
    plugin->outer = NULL;
    if (status == TENGINE_OK && push_vector_data(plugins, plugin) < 0)
        status = tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", function);
    if (status == TENGINE_OK) return TENGINE_OK;
    ir_failure_t failure;
    keep_ir_failure(&failure);
    unregister_all(plugin);
    return raise_ir_failure(&failure);
}

#define LITERT_SENTENCE                                                     \
    "it was built for LiteRT: build the source of a compiler plug-in with " \
    "tengine/compat/litert/litert.hpp"

// A library for LiteRT up to 2.1.4, which calls functions of LiteRT's, cannot be opened; the
// loader's message shows that it is one.
static int fail_to_open(const char* file, const char* function)
{
    char cause[512];
    snprintf(cause, sizeof cause, "%s", tengine_error_message());
    if (!strstr(cause, "undefined symbol: LiteRt")) return fail_again(function, "", "", "");
    return tengine_error_set(TENGINE_ENOENT, "%s: %s: " LITERT_SENTENCE " (%s)", function, file,
                             cause);
}

// Other libraries for LiteRT are recognised by a function that each must have; newer ones have
// another one.
static int refuse_library(const plugin_t* plugin)
{
    dynamic_function_t function;
    if (find_dynamic_function(plugin->library, "LiteRtGetCompilerPluginSocManufacturer",
                              &function) < 0)
        return tengine_error_set(TENGINE_ENOENT, "it does not export tengine_plugin()");
    if (find_dynamic_function(plugin->library, "LiteRtGetCompilerPluginSDKVersion", &function) < 0)
        return tengine_error_set(TENGINE_ENOENT, LITERT_SENTENCE);
    return tengine_error_set(TENGINE_ENOENT,
                             "it is a compiler plug-in that was built for LiteRT 2.1.5 or newer, "
                             "whose LiteRtCompilerContext is not known");
}

// The library's description of itself (plugin.h), NULL when it has none.
static int read_entry(const plugin_t* plugin, const tengine_plugin_t** out_entry)
{
    dynamic_function_t function;
    *out_entry = NULL;
    const int found = find_dynamic_function(plugin->library, "tengine_plugin", &function);
    if (found == TENGINE_ENOENT) return refuse_library(plugin);
    TENGINE_RETURN_IF_ERROR(found);
    const void* returned = NULL;
    TENGINE_RETURN_IF_ERROR(
        call_foreign_getter((const void* (*)(void))function, "tengine_plugin()", &returned));
    const tengine_plugin_t* entry = returned;
    if (!entry || entry->size < offsetof(tengine_plugin_t, release) || !entry->name ||
        !*entry->name || !entry->init)
        return tengine_error_set(TENGINE_EINVAL,
                                 "tengine_plugin() returns a structure without name or init");
    TENGINE_RETURN_IF_ERROR(check_ir_abi("plug-in", entry->name, &entry->abi));
    *out_entry = entry;
    return TENGINE_OK;
}

static bool describe_plugin(plugin_t* plugin, const char* name, const char* file,
                            const tengine_plugin_t* entry)
{
    const bool has_release = entry && entry->size >= sizeof *entry;
    if (has_release) plugin->release = entry->release;
    plugin->name = duplicate_string(name);
    plugin->version = duplicate_string(entry && entry->version ? entry->version : "");
    plugin->file = duplicate_string(file);
    if (!plugins) plugins = create_vector(sizeof *plugin, NULL);
    return plugin->name && plugin->version && plugin->file && plugins;
}

static int check_new_name(const char* name, const char* function)
{
    if (find_plugin(name) < 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EEXIST, "%s: plug-in '%s' is loaded already", function, name);
}

// A plug-in whose init loads the plug-in again, under any name, would never end.
static int check_not_starting(const plugin_t* plugin, const char* file, const char* function)
{
    for (const plugin_t* each = starting; each; each = each->outer)
        if (each->library == plugin->library)
            return tengine_error_set(TENGINE_ESTATE,
                                     "%s: %s: plug-in '%s' is being loaded, and its init loads it "
                                     "again",
                                     function, file, each->name);
    return TENGINE_OK;
}

// `name` NULL: the library's description has the name.
static int load_library(plugin_t* plugin, const char* name, const char* file, const char* init_name,
                        const char* function)
{
    const tengine_plugin_t* entry;
    int (*init)(void);
    if (open_dynamic_library(file, &plugin->library) < 0) return fail_to_open(file, function);
    TENGINE_RETURN_IF_ERROR(check_not_starting(plugin, file, function));
    const int status = read_entry(plugin, &entry);
    if (status < 0 && !(status == TENGINE_ENOENT && name))
        return fail_again(function, "", file, ": ");
    if (!name) name = entry->name;
    TENGINE_RETURN_IF_ERROR(check_new_name(name, function));
    if (!describe_plugin(plugin, name, file, entry))
        return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", function);
    TENGINE_RETURN_IF_ERROR(
        find_entry(plugin, function, init_name, entry ? entry->init : NULL, &init));
    return enter_plugin(plugin, function, init_name ? init_name : "init", init);
}

static int load_plugin(const char* name, const char* file, const char* init_name,
                       const char* function)
{
    plugin_t plugin = {0};
    const int status = load_library(&plugin, name, file, init_name, function);
    if (status < 0) free_plugin(&plugin);
    return status;
}

int load_plugin_file(const char* path, const char* function)
{
    return load_plugin(NULL, path, NULL, function);
}

int load_tengine_plugin(const char* plugin_name, const char* file_name, const char* init_func_name)
{
    if (check_initialised(__func__) < 0 || check_name(plugin_name, __func__, "plugin_name") < 0 ||
        check_name(file_name, __func__, "file_name") < 0 ||
        check_new_name(plugin_name, __func__) < 0)
        return api_failure();
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
    while (get_vector_num(plugins) > 0) {
        const int last = get_vector_num(plugins) - 1;
        const plugin_t* plugin = get_vector_data(plugins, last);
        if (call_plugin(plugin, "release_tengine", "release", plugin->release) < 0)
            TLOG_WARNING("%s", tengine_error_message());
        drop_plugin(last);
    }
    release_vector(plugins);
    plugins = NULL;
}

int unload_tengine_plugin(const char* plugin_name, const char* rel_func_name)
{
    if (check_initialised(__func__) < 0 || check_name(plugin_name, __func__, "plugin_name") < 0)
        return api_failure();
    const int index = find_plugin(plugin_name);
    if (index < 0)
        return api_result(tengine_error_set(TENGINE_ENOENT, "%s: plug-in '%s' is not loaded",
                                            __func__, plugin_name));
    const plugin_t* plugin = get_vector_data(plugins, index);
    int (*release)(void);
    if (check_unused(plugin, __func__) < 0 ||
        find_entry(plugin, __func__, rel_func_name, plugin->release, &release) < 0 ||
        call_plugin(plugin, __func__, rel_func_name ? rel_func_name : "release", release) < 0)
        return api_failure();
    drop_plugin(index);
    return 0;
}

int get_tengine_plugin_number(void)
{
    return check_initialised(__func__) < 0 ? api_failure() : get_vector_num(plugins);
}

static const plugin_t* find_plugin_via_index(int index, const char* function)
{
    if (check_initialised(function) < 0 ||
        check_index(index, get_vector_num(plugins), function, "plug-ins") < 0)
        return api_pointer(NULL);
    return get_vector_data(plugins, index);
}

const char* get_tengine_plugin_name(int idx)
{
    const plugin_t* plugin = find_plugin_via_index(idx, __func__);
    return plugin ? plugin->name : NULL;
}

const char* tengine_plugin_get_version(int idx)
{
    const plugin_t* plugin = find_plugin_via_index(idx, __func__);
    return plugin ? plugin->version : NULL;
}

const char* tengine_plugin_get_file(int idx)
{
    const plugin_t* plugin = find_plugin_via_index(idx, __func__);
    return plugin ? plugin->file : NULL;
}

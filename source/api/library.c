// SPDX-License-Identifier: Apache-2.0
// C API, group Library: start and stop, memory, version, the last error.
#include "api/check.h"
#include "api/plugin.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/minimal.h"
#include "base/named_memory.h"
#include "module/module.h"
#include "scheduler/scheduler.h"
#include "scheduler/watchdog.h"
#include "tengine/version.h"

enum
{
    PATIENCE_MS = 10000  // time that calls into devices that were given up have to return
};

int init_tengine(void)
{
    if (are_modules_initialised()) return 0;
    const int status = init_modules();
    if (status == TENGINE_OK) load_environment_plugins();
    return api_result(status);
}

static bool is_calling_hooks(const void* object, const api_graph_t* owner, const void* unused)
{
    (void)object, (void)unused;
    return owner->running;
}

static int check_releasable(void)
{
    if (has_handle(HANDLE_GRAPH, is_calling_hooks, NULL))
        return tengine_error_set(
            TENGINE_ESTATE,
            "release_tengine: called by a hook of a running graph; the library stays initialised");
    return TENGINE_OK;
}

void release_tengine(void)
{
    if (!are_modules_initialised() || api_result(check_releasable()) < 0) return;
    void* object;
    while ((object = find_any_handle(HANDLE_GRAPH)) != NULL)
        destroy_graph(object);
    while ((object = find_any_handle(HANDLE_CONTEXT)) != NULL)
        destroy_context(object);
    // A device must not be destroyed while a call that was given up may return to it.
    const int hung_num = wait_hung_calls(PATIENCE_MS);
    if (hung_num > 0) {
        api_result(tengine_error_set(
            TENGINE_ESTATE,
            "release_tengine: %d calls of devices have not returned; the library stays initialised",
            hung_num));
        return;
    }
    release_plugins();
    release_schedulers();
    release_modules();
}

int tengine_is_initialised(void)
{
    return are_modules_initialised() ? 1 : 0;
}

int tengine_arena_set(void* memory, size_t size)
{
    if (are_modules_initialised())
        return api_result(tengine_error_set(TENGINE_ESTATE,
                                            "%s: the library is in use; set the arena before "
                                            "init_tengine or after release_tengine",
                                            __func__));
    const int status = set_memory_arena(memory, size);
    if (status == TENGINE_ESTATE) {
        size_t used, peak;
        get_memory_use(&used, &peak);
        tengine_error_set(status, "the arena is in use: %zu bytes, expected 0 before it is changed",
                          used);
    } else if (status < 0) {
        tengine_error_set(status,
                          "invalid arena of %zu bytes at %p: expected at least %d bytes, or NULL "
                          "and 0 for the heap",
                          size, memory, (int)ARENA_LEAST_BYTES);
    }
    return api_result(status);
}

int tengine_memory_set(const char* name, void* memory, size_t size)
{
    if (check_pointer(name, __func__, "name") < 0) return api_failure();
    if (IS_MINIMAL) return api_result(fail_not_supported(__func__, "memories of a board are"));
    const int status = set_named_memory(name, memory, size);
    if (status == TENGINE_ESTATE)
        tengine_error_set(status, "the memory '%.100s' is in use by a prepared graph", name);
    else if (status == TENGINE_ELIMIT)
        tengine_error_set(status, "the memory '%.100s': there are %d others, expected fewer", name,
                          (int)MOST_NAMED_MEMORIES);
    else if (status < 0)
        tengine_error_set(status,
                          "invalid memory '%.100s' of %zu bytes at %p: expected a name of 1 to %d "
                          "bytes, and at least %d bytes, or NULL and 0 for none",
                          name, size, memory, (int)NAMED_MEMORY_NAME_SIZE - 1,
                          (int)ARENA_LEAST_BYTES);
    return api_result(status);
}

int tengine_arena_get_use(size_t* out_used, size_t* out_peak)
{
    size_t used, peak;
    get_memory_use(&used, &peak);
    if (out_used) *out_used = used;
    if (out_peak) *out_peak = peak;
    return 0;
}

const char* get_tengine_version(void)
{
    return TENGINE_VERSION_STRING "-dev";
}

int request_tengine_version(const char* version)
{
    (void)version;
    return 1;
}

const char* get_tengine_hcl_version(void)
{
    return api_pointer(NULL);
}

int get_tengine_errno(void)
{
    return tengine_error_code();
}

const char* get_tengine_error(void)
{
    return tengine_error_message();
}

int clr_tengine_errno(void)
{
    tengine_error_clear();
    return 0;
}

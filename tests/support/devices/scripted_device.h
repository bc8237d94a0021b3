// SPDX-License-Identifier: Apache-2.0
// A device that follows a script: the nodes that it takes, its promises, the places where it fails
// or hangs. It runs its nodes with the default device's kernels. tests/support/test_device.h wraps
// it for the tests; the folders a/ and b/ make loadable devices of it, whose script the command
// line writes. Needs the public headers only.
#pragma once

#include "script.h"
#include "tengine/device.h"

// Counts that any thread may read; C11 and C++ name the same type differently.
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> script_count_t;
extern "C" {
#else
#include <stdatomic.h>
typedef atomic_int script_count_t;
#endif

// Hooks, which are called if they are set, with `privacy` as their first argument.
typedef struct script_hooks
{
    void* privacy;
    // Called before all other checks; its refusal is final.
    int (*inspect)(void* privacy, const struct node* node, ir_verdict_t* out_verdict);
    int (*survey)(void* privacy, const struct graph* graph);
    void (*pre_run)(void* privacy, struct subgraph* part, void* options);
    // Called before the work; its failure is returned.
    int (*run)(void* privacy, struct subgraph* part);
    int (*async_run)(void* privacy, struct subgraph* part);
    // Called instead of reporting that the run of async_run is done.
    int (*async_wait)(void* privacy, struct subgraph* part, int try_wait);
} script_hooks_t;

typedef struct scripted_device
{
    struct device device;  // first, so that each can be cast to the other
    struct interface interface;
    struct allocator allocator;
    script_t script;
    script_hooks_t hooks;
    // describe() lists the default device's operators, so that options can name them
    int lists_all;

    // Calls of entries so far. `runs` counts run and async_run together.
    script_count_t describes, surveys, inspects, estimates, evaluations;
    script_count_t pre_runs, runs, async_runs, async_waits, post_runs, releases;
    script_count_t allocations, allocator_releases;
    script_count_t hanging;  // runs that hang at present
    script_count_t hang_releases;
    script_count_t cancels;
} scripted_device_t;

// `out_device` must be all zero; the name is not copied.
void init_scripted_device(scripted_device_t* out_device, const char* name);
// Add the optional entries: estimate; async_run and async_wait. A run that async_run starts is done
// when it returns.
void enable_scripted_estimate(scripted_device_t* device);
void enable_scripted_async(scripted_device_t* device);
// Adds the entry survey, which calls the hook.
void enable_scripted_survey(scripted_device_t* device);
// Adds the entry cancel, which ends the hangs.
void enable_scripted_cancel(scripted_device_t* device);

// Ends all hangs of present runs; later ones hang again.
void release_scripted_hangs(scripted_device_t* device);

#ifdef __cplusplus
}
#endif

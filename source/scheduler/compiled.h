// SPDX-License-Identifier: Apache-2.0
// A part that a device has compiled: the part as a graph of its own, from pre_run to release. Its
// boundary tensors are the runner's business (runner.h).
#pragma once

#include "scheduler/part_store.h"
#include "scheduler/watchdog.h"

TENGINE_EXTERN_C_BEGIN

typedef struct compiled
{
    struct subgraph* subgraph;  // all nodes of subgraph->graph; subgraph->device runs it
    int part_index;             // in the execution graph, for sentences
    bool isolated;              // see compile_ir_part()
    bool entered;               // pre_run has succeeded
    int64_t begin_ns;           // that of the run under way
    int64_t run_ns;             // time of the last run
    int64_t* node_ns;           // the same of each node, -1 where it is not known; NULL: no profile
    ir_stored_part_t stored;    // see part_store.h
} ir_compiled_t;

// The party to blame for a failure, which has been recorded.
typedef enum ir_blame
{
    IR_BLAME_CORE,    // also: there was no failure
    IR_BLAME_DEVICE,  // its pre_run failed
    IR_BLAME_HANG     // its pre_run did not return in time
} ir_blame_t;

// Lets `device` compile a part, in the time of option prerun.watchdog_ms. `isolated`: the graph has
// its own copies of constants and options and boundary tensors with memory of their own, so that a
// call that never returns touches nothing else; it has them too when the time of pre_run is
// limited.
int compile_ir_part(const struct subgraph* part, struct device* device, bool isolated,
                    ir_compiled_t** out_compiled, ir_blame_t* out_blame);

// One run, and in two steps where can_start_ir_compiled(). They return the device's status: not 0
// is a failure, recorded or not.
int run_ir_compiled(ir_compiled_t* compiled);
bool can_start_ir_compiled(const ir_compiled_t* compiled);
int start_ir_compiled(ir_compiled_t* compiled);
int finish_ir_compiled(ir_compiled_t* compiled);

// The run under way was given up: tells the device, where that wants to know.
void cancel_ir_compiled(ir_compiled_t* compiled);

// Its runs, for create_ir_watch(). It must be isolated.
ir_watched_t get_ir_watched_run(ir_compiled_t* compiled);

// The counts of the device in the last run: appends ir_counter_t.
int count_ir_compiled(const ir_compiled_t* compiled, struct vector* out_counters);

// The kernel that the device computes a node of the part with, the one at `index` of its node_list.
int explain_ir_compiled(const ir_compiled_t* compiled, int index, ir_node_kernel_t* out_kernel);

// Like fail_ir_entry() for an entry of the device that compiled it.
int fail_ir_compiled(const ir_compiled_t* compiled, const char* entry, int status);

// post_run, if pre_run has succeeded, then frees everything whatever it returns but, where
// `out_device_graph` is not NULL, the object that the device can take up again: it comes out there,
// else NULL. NULL is allowed.
int end_ir_compiled(ir_compiled_t* compiled, void** out_device_graph);

// post_run, if pre_run has succeeded, then frees everything whatever it returns. NULL is allowed.
int close_ir_compiled(ir_compiled_t* compiled);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// A part that a device has compiled: the part as a graph of its own, from pre_run to release. The
// runner (runner.h) fills its boundary tensors.
#pragma once

#include "graph/run_state.h"
#include "scheduler/part_store.h"
#include "scheduler/watchdog.h"

TENGINE_EXTERN_C_BEGIN

typedef struct compiled
{
    struct device* device;      // it uses the device (graph/use.h)
    struct subgraph* subgraph;  // all nodes of subgraph->graph; subgraph->device runs it
    int part_index;             // in the execution graph, for messages
    bool isolated;              // see compile_ir_part()
    ir_run_t own_run;           // isolated: the run that the subgraph refers to
    ir_call_t call;             // of the device, in the run of the graph
    bool entered;               // pre_run has succeeded
    int64_t begin_ns;           // start of the run in flight
    int64_t run_ns;             // time of the last run
    int64_t* node_ns;           // of each node in the last run, -1: unknown; NULL: no profile
    ir_stored_part_t stored;    // see part_store.h
} ir_compiled_t;

// The party to blame for a failure, which has been recorded.
typedef enum ir_blame
{
    IR_BLAME_CORE,    // also: there was no failure
    IR_BLAME_DEVICE,  // its pre_run failed
    IR_BLAME_HANG     // its pre_run did not return in time
} ir_blame_t;

// Lets `device` compile a part, within option prerun.watchdog_ms. `isolated`: the graph has its own
// copies of constants and options, and boundary tensors with memory of their own, so that a call
// that never returns touches nothing else; it also has them if the time of pre_run is limited.
int compile_ir_part(const struct subgraph* part, struct device* device, bool isolated,
                    ir_compiled_t** out_compiled, ir_blame_t* out_blame);

// run_ir_compiled() makes one run; the other two make it in two steps, if can_start_ir_compiled().
// They return the device's status: not 0 is a failure, recorded or not.
int run_ir_compiled(ir_compiled_t* compiled);
bool can_start_ir_compiled(const ir_compiled_t* compiled);
int start_ir_compiled(ir_compiled_t* compiled);
int finish_ir_compiled(ir_compiled_t* compiled);

// These two enclose the calls in a run, which may be NULL: the subgraph refers to it, and the
// device is told when it should end. TENGINE_ECANCELED: it should, and the call must not begin.
TENGINE_MUST_USE int enter_ir_run(ir_compiled_t* compiled, ir_run_t* run);
void leave_ir_run(ir_compiled_t* compiled);

// Returns the runs of a part as a subject of create_ir_watch(). The part must be isolated.
ir_watched_t get_ir_watched_run(ir_compiled_t* compiled);

// Appends the ir_counter_t of the device's last run.
int count_ir_compiled(const ir_compiled_t* compiled, struct vector* out_counters);

// Returns the kernel of a node of the part on its device; `index` is the node's place in node_list.
int explain_ir_compiled(const ir_compiled_t* compiled, int index, ir_node_kernel_t* out_kernel);

// Between the places of nodes in the node_list of a part and of its compiled form, whose nodes are
// those of the part, or several for some of them: the place in the part, and the last one in the
// compiled form, -1 when it has none.
int find_ir_part_place(const struct subgraph* part, const struct subgraph* compiled, int index);
int find_ir_compiled_place(const struct subgraph* part, const struct subgraph* compiled, int place);

// Like fail_ir_entry(), for an entry of the device that compiled the part.
int fail_ir_compiled(const ir_compiled_t* compiled, const char* entry, int status);

// Calls post_run, if pre_run has succeeded, and frees everything, whatever post_run returns. If
// `out_device_graph` is not NULL, the object that the device can use again is not freed but stored
// there, or NULL if there is none. `compiled` may be NULL.
int end_ir_compiled(ir_compiled_t* compiled, void** out_device_graph);

// Calls post_run, if pre_run has succeeded, and frees everything, whatever post_run returns.
// `compiled` may be NULL.
int close_ir_compiled(ir_compiled_t* compiled);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Running one part. A part is compiled as a graph of its own (compiled.h), so that several runs can
// be in flight in different parts and a call that hangs touches nothing else. Boundary values
// travel in a frame (frame.h); a runner puts them into its graph's tensors, calls the
// device, and takes the results out. Which parts have a runner: prepare.c.
#pragma once

#include "scheduler/compiled.h"
#include "scheduler/frame.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct runner ir_runner_t;

// Lets the part's device compile it and sets part->runner. *out_blame is as in compile_ir_part().
int open_ir_runner(struct subgraph* part, ir_blame_t* out_blame);

// Calls post_run of the part; a call that hangs stays with its thread. Does nothing without a
// runner.
int close_ir_runner(struct subgraph* part);

// Like close_ir_runner(), but the device's object for the part stays in part->device_graph, if the
// device can use it again (device.h, pre_run).
int retire_ir_runner(struct subgraph* part);

// Whether the compiled part may be abandoned: a call that never returns may write to its memory at
// any time.
bool may_abandon_ir_part(const struct subgraph* part);

// Runs a part for a frame, within the time limit, and on the default device if the device fails, as
// run_ir_subgraph() promises. A part has one call at a time; different parts may run on different
// threads.
int run_ir_part(struct subgraph* part, ir_frame_t* frame);

// Like run_ir_part(), in two steps: start, which never fails, then finish, which waits. If the
// device has no async_run, or is watched, finish makes the call.
void start_ir_part(struct subgraph* part, ir_frame_t* frame);
int finish_ir_part(struct subgraph* part, ir_frame_t* frame);

// On the user's thread, with the session's mutex held: copies changes in the runner to the
// execution graph: times, and whether the device was given up.
int publish_ir_runner(struct subgraph* part);

// Between runs: resets times and counts to those of a part that has not run.
void forget_ir_runner_runs(struct subgraph* part);

// Between runs: returns the graph that the part is compiled as, on the device that runs it now;
// NULL if both its device and the default device have failed.
struct subgraph* get_ir_compiled_part(const struct subgraph* part);

// Between runs: appends the ir_counter_t of the part's last run; nothing before the first one.
int count_ir_part(struct subgraph* part, struct vector* out_counters);
// Between runs: finds the kernel of the node on the device that runs it now. *out_kernel is all
// zero before, and stays so if the device does not report kernels.
int explain_ir_node(const struct node* node, ir_node_kernel_t* out_kernel);

TENGINE_EXTERN_C_END

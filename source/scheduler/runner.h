// SPDX-License-Identifier: Apache-2.0
// Running one part. A part is compiled as a graph of its own (detach_ir_subgraph), so that several
// runs can be under way in different parts and a call that hangs touches nothing else. The values
// that cross borders travel in a frame (frame.h); a runner puts them into its graph's tensors,
// calls the device, and takes the results out.
#pragma once

#include "scheduler/frame.h"
#include "tengine/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct runner ir_runner_t;

// Compiles every part of an execution graph: pre_run of its device on a graph of its own. A part
// that fails is halved, down to single nodes, which go to the default device (optimizer.h repair).
// Fails when the default device fails, or when the context allows no (such) fallback.
int prepare_ir_parts(struct graph* execution);

// post_run of all parts; a hung one is left to its thread. Reports the first failure.
int close_ir_parts(struct graph* execution);

// Runs a part for a frame. Watchdog, redo and counting as run_ir_subgraph() promises. One call for
// a part at a time; different parts on different threads.
int run_ir_part(struct subgraph* part, ir_frame_t* frame);

// The same in two steps, for a device with async_run: start, then finish, which waits. Where the
// device has none, or is watched, start does nothing and finish does it all.
int start_ir_part(struct subgraph* part, ir_frame_t* frame);
int finish_ir_part(struct subgraph* part, ir_frame_t* frame);

// After a run, on the user's thread: what happened in the runners (device given up, times) becomes
// visible in the execution graph.
int publish_ir_parts(struct graph* execution);

// Calls into devices that were given up and have not returned yet; waits up to `timeout_ms` for
// them. Returns how many are left.
int wait_hung_calls(int timeout_ms);

#ifdef __cplusplus
}
#endif

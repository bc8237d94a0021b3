// SPDX-License-Identifier: Apache-2.0
// The room scheduler: running graphs. It prepares a graph, walks its parts and hands results back.
// The optimizer decides on the parts, and their devices compute them.
//
// The C API calls these functions on source graphs; the walk over the execution graph is a
// scheduler's (ir_scheduler_t in device.h).
//
// States (graph->status): CREATED --prerun--> READY --run--> READY ... --postrun--> DONE. While
// runs are in flight it is RUNNING. prerun is legal in every state but RUNNING and drops an earlier
// preparation. A failed run leaves ERROR, from which run, prerun and postrun are legal.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Makes and compiles the execution graph; output tensors of the source graph then have a shape and
// memory. On failure the graph is as after postrun. ENOENT: the context names a scheduler that does
// not exist.
int prerun_ir_graph(struct graph* source, const ir_run_options_t* options);

// Makes the execution graph and its parts, and stops before a device compiles one: the device of
// each node can be read, and nothing can be run. An earlier preparation is dropped first.
int place_ir_graph(struct graph* source, const ir_run_options_t* options);

// Whether a prepared graph would get the same shapes from the present values of its inputs. If not,
// it must be prepared again.
bool has_ir_execution_values(const struct graph* source);

// After a run that failed with `status`: whether the preparation may have assumed shapes that do
// not match a value of this run, for nodes without an output in a buffer of the program's. This is
// true once: later preparations leave these shapes to the run.
bool await_ir_values(struct graph* source, int status);

// Whether run_ir_graph() would begin a run now. ESTATE: before prerun, and with `block` while runs
// are in flight; ELIMIT: as many are in flight as the scheduler takes.
int check_ir_graph_run(const struct graph* source, int block);

// Fails as check_ir_graph_run() does; ESTATE: an input's shape was changed since prerun; EINVAL: an
// input has no data. `block` 0 returns immediately if the scheduler can: the run is then in flight,
// and the graph RUNNING.
int run_ir_graph(struct graph* source, int block);

// Waits for the oldest run in flight and hands its results to the source graph; fails as the run
// did. 1: it is done, or none was in flight; 0: it is not finished yet (only with try_wait).
int wait_ir_graph(struct graph* source, int try_wait);

// Drops the execution graph after the runs in flight have ended; outputs lose the memory that
// prerun gave them. A no-op if the graph is not prepared. A prepared graph must not be destroyed
// before.
int postrun_ir_graph(struct graph* source);

// Whether inputs may get new data: always, unless a run reads the user's memory.
bool may_feed_ir_graph(const struct graph* source);

// Finds the scheduler of this name; ENOENT lists the names.
int require_ir_scheduler(const char* name, struct scheduler** out_scheduler);

// Chooses the scheduler that the context names, else that of the first device, else the synchronous
// one.
int choose_ir_scheduler(const struct graph* source, struct scheduler** out_scheduler);

// Unregisters the schedulers that are still registered, except the built-in ones.
void release_schedulers(void);

// Return the built-in schedulers (sync.c, pipeline.c).
struct scheduler* get_sync_scheduler(void);
struct scheduler* get_pipeline_scheduler(void);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Running a graph: prepare it, walk its parts, hand results back. The C API calls these four on
// source graphs; the walk over the execution graph is a scheduler's (ir_scheduler_t in device.h).
//
// States (graph->status): CREATED --prerun--> READY --run--> READY ... --postrun--> DONE. prerun is
// legal in every state but RUNNING and drops what an earlier prerun made. A failed run leaves
// ERROR, from which run, prerun and postrun are legal.
#pragma once

#include "tengine/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// GRAPH_STAT_* of c_api.h.
enum
{
    IR_GRAPH_CREATED,
    IR_GRAPH_READY,
    IR_GRAPH_RUNNING,
    IR_GRAPH_DONE,
    IR_GRAPH_ERROR
};

// Makes and compiles the execution graph; output tensors of the source graph then have a shape
// and memory. On failure the graph is as after postrun.
int prerun_ir_graph(struct graph* source, const ir_run_options_t* options);

// ESTATE before prerun or when an input's shape was changed since; EINVAL names an input without
// data. `block` 0 returns at once where the scheduler can.
int run_ir_graph(struct graph* source, int block);

// 1: no run is under way; 0: not finished yet (only with try_wait).
int wait_ir_graph(struct graph* source, int try_wait);

// Drops the execution graph; outputs lose the memory prerun gave them. A no-op when not prepared.
int postrun_ir_graph(struct graph* source);

// The synchronous scheduler: parts one after the other on the calling thread.
struct scheduler* find_default_scheduler(void);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// All parts of an execution graph: compiled, their results published, closed.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Compiles every part: pre_run of its device on a graph of its own. A part that fails is halved,
// down to single nodes, which go to the default device (optimizer.h, repairs). Fails when the
// default device fails, or when the context does not allow the fallback.
int prepare_ir_parts(struct graph* execution);

// After a run, on the user's thread: copies changes in the runners to the execution graph.
int publish_ir_parts(struct graph* execution);

// Resets a prepared graph to its state before the first run: results and times are dropped.
void forget_ir_runs(struct graph* execution);

// Drops the measured times of all parts and nodes.
void forget_ir_times(struct graph* execution);

// Ends an execution graph, prepared or not: undoes the scheduler's prerun, calls post_run of all
// parts, and destroys the graph. Reports the first failure.
int close_ir_execution(struct graph* execution);

// Like close_ir_execution(), but objects that devices can use again stay with the graph's parts
// (runner.h), and are released with the graph. After a failure the graph is destroyed, and
// *out_spare is NULL.
int retire_ir_execution(struct graph* execution, struct graph** out_spare);

TENGINE_EXTERN_C_END

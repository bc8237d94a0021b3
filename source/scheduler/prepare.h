// SPDX-License-Identifier: Apache-2.0
// All parts of an execution graph: compiled, run results published, closed.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Compiles every part: pre_run of its device on a graph of its own. A part that fails is halved,
// down to single nodes, which go to the default device (optimizer.h, repairs). Fails when the
// default device fails, or when the context does not allow the fallback.
int prepare_ir_parts(struct graph* execution);

// After a run, on the user's thread: changes in the runners become visible in the execution graph.
int publish_ir_parts(struct graph* execution);

// A prepared graph that has run is as if it had not: results and times are gone.
void forget_ir_runs(struct graph* execution);

// No part and no node has been measured yet.
void forget_ir_times(struct graph* execution);

// The end of an execution graph, prepared or not: undoes the scheduler's prerun, calls post_run of
// all parts, and destroys the graph. Reports the first failure.
int close_ir_execution(struct graph* execution);

// The same, but objects that devices can take up again stay with its parts (runner.h), to be
// released with the graph. After a failure the graph is gone, and *out_spare is NULL.
int retire_ir_execution(struct graph* execution, struct graph** out_spare);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Limits of the preparation of a graph: the program may cancel it and limit its memory. Also the
// shapes that are left to runs. Runs in flight are in run_state.h.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// These two enclose the preparation of a source graph; an earlier request to cancel is dropped.
void begin_ir_preparation(struct graph* source);
void end_ir_preparation(struct graph* source);

// Requests the end of the preparation; false when there is none. Any thread.
bool cancel_ir_preparation(struct graph* source);

// TENGINE_ECANCELED when the preparation of `execution` has been asked to end: that of its source
// graph or of a graph around it, or the run that prepares a body.
TENGINE_MUST_USE int check_ir_cancelled(const struct graph* execution);

// The source graph that runs when `graph` does: the outermost graph around a part, a body, or the
// part of a body. NULL when the part's graph has no graph around it.
const struct graph* find_ir_outermost_source(const struct graph* graph);

// Leaves shapes that values decide (operator.h, value_shape) to the runs of this source graph and
// its bodies, where no input of the model has the value.
void leave_ir_shapes_to_runs(struct graph* source);
// Whether they are left to runs; `execution` is the execution graph of the source graph or of a
// body.
bool are_ir_shapes_left_to_runs(const struct graph* execution);

// Reads the limit, the option memory.limit_mb of the execution graph's context.
void limit_ir_memory(struct graph* execution);
// Counts `bytes` that the graph holds or is about to hold for `what`. TENGINE_ELIMIT, with the
// numbers, when the sum exceeds its limit.
TENGINE_MUST_USE int claim_ir_memory(struct graph* execution, int64_t bytes, const char* what);
// The same without counting, for memory that is freed again. `graph` may also be the graph of a
// part, which has the limit, and the count at its creation.
TENGINE_MUST_USE int check_ir_memory(const struct graph* graph, int64_t bytes, const char* what);

TENGINE_EXTERN_C_END

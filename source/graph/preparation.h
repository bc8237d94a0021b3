// SPDX-License-Identifier: Apache-2.0
// Limits of the preparation and the runs of a graph: the program may cancel them and limit their
// memory. Also the shapes that are left to runs.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// These two enclose the preparation of a source graph; an earlier request to cancel is dropped.
void begin_ir_preparation(struct graph* source);
void end_ir_preparation(struct graph* source);

// These two enclose the runs of a source graph, from the first in flight to the last; an earlier
// request to cancel is dropped. Not for bodies.
void begin_ir_runs(struct graph* source);
void end_ir_runs(struct graph* source);

// Requests the end of the preparation or of the runs in flight; false when there are none. Any
// thread.
bool cancel_ir_work(struct graph* source);

// TENGINE_ECANCELED when the source graph of `execution` (or none) has been asked to end.
TENGINE_MUST_USE int check_ir_cancelled(const struct graph* execution);

// The source graph that runs when `graph` does: the outermost graph around a part, a body, or the
// part of a body. NULL when the part's graph has no graph around it.
const struct graph* find_ir_run(const struct graph* graph);
// TENGINE_ECANCELED when the runs of this source graph (or NULL) have been asked to end.
TENGINE_MUST_USE int check_ir_run(const struct graph* source);

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

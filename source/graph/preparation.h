// SPDX-License-Identifier: Apache-2.0
// What bounds the preparation of a graph: the program may cancel it, and limits its memory.
#pragma once

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// These two enclose the preparation of a source graph; an earlier request to cancel is dropped.
void begin_ir_preparation(struct graph* source);
void end_ir_preparation(struct graph* source);

// Asks for the end of the preparation that is under way; false when none is. Any thread.
bool cancel_ir_preparation(struct graph* source);

// TENGINE_ECANCELED when the source graph of `execution` (or none) has been asked to end.
TENGINE_MUST_USE int check_ir_cancelled(const struct graph* execution);

// Reads the limit, the option memory.limit_mb of the execution graph's context.
void limit_ir_memory(struct graph* execution);
// Counts `bytes` that the graph is about to hold or has just begun to, for `what`. TENGINE_ELIMIT,
// with the numbers, when that is more than its limit.
TENGINE_MUST_USE int claim_ir_memory(struct graph* execution, int64_t bytes, const char* what);
// The same without counting, for what does not stay. `graph` may also be the graph of one part,
// which has the limit, and what was held when it was made.
TENGINE_MUST_USE int check_ir_memory(const struct graph* graph, int64_t bytes, const char* what);

#ifdef __cplusplus
}
#endif

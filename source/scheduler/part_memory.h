// SPDX-License-Identifier: Apache-2.0
// The memory that a part holds; that of a whole graph is in memory.h.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct device_memory
{
    struct device* device;
    int part_num;     // of the present preparation; the figures below cover all that are kept
    int unknown_num;  // parts whose device does not report its memory
    ir_part_memory_t held;
    int64_t tensors;  // tensors of its parts, with memory of their own
} ir_device_memory_t;

// Adds the memory of the compiled part at `part_index`, as far as its device reports it. Fails as
// the device does.
TENGINE_MUST_USE int add_ir_part_memory(struct subgraph* compiled, int part_index,
                                        ir_device_memory_t* sum);

// Counts the memory of a compiled part, in bytes.
TENGINE_MUST_USE int count_ir_part_memory(const struct subgraph* part, int64_t* out_bytes);

// Returns the bytes of tensors with memory of their own.
int64_t count_ir_own_tensors(const struct graph* graph);

TENGINE_EXTERN_C_END

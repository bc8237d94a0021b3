// SPDX-License-Identifier: Apache-2.0
// Preparations that belong to a model: execution graphs after all passes, with their parts and the
// memory between these, as bytes of the model's file (graph/model_part.h). A start for the same
// terms reads such a graph in place of making it.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// The memory that a preparation takes, as planned where it was made.
typedef struct ir_prepared_memory
{
    int part_num;
    int64_t arenas;   // bytes inside the parts
    int64_t between;  // bytes between them, with the outputs'
} ir_prepared_memory_t;

// A block of memory that a preparation has planned inside a part, in the order of interface.plan:
// those of tensors; then, if the device has several memories, the scratch of steps.
typedef struct ir_arena_block
{
    uint64_t offset;  // bytes from the begin of its memory
    uint64_t bytes;
    int32_t memory;  // index in the list of interface.memories
    int32_t part;    // index
} ir_arena_block_t;

// A place of core->planned_places: the tensor is not in the memory between parts.
#define IR_NO_PLACE UINT64_MAX

// How the format of a model's file writes and reads execution graphs. A graph that it makes refers
// to constants of its source graph, which have the same indices in both processes.
typedef struct ir_prepared_format
{
    // `blocks`: a vector of ir_arena_block_t, those of one part after those of the other. ENOTSUP:
    // the graph has something that the format cannot carry, which the message names.
    int (*write)(const struct graph* execution, const struct vector* blocks, struct ir_sink* sink);
    // Fills an empty graph, whose core->source is set, from bytes that may be hostile, apart from
    // its run options: nodes in their order, with devices and refusals; parts; tensors with shapes
    // and types as stored, which the reader has not compared with the operators' rules; the memory
    // as planned (core->planned_*), with the parts' blocks in order. The bytes must stay, for
    // constants may lie in them.
    int (*read)(struct graph* execution, const void* data, size_t size);
    // Reads the sizes of the memory alone. EFORMAT.
    int (*measure)(const void* data, size_t size, ir_prepared_memory_t* out_memory);
} ir_prepared_format_t;

TENGINE_EXTERN_C_END

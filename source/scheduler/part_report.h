// SPDX-License-Identifier: Apache-2.0
// The data of a compiled part that reports ask its device for: counters of nodes, and the memory
// plan. runner.h has the counters of a part, and part_memory.h the sums of memory.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// Between runs: appends the ir_counter_t of a node of an execution graph in the last run of its
// part; nothing before the first one, and for a device that does not count by node.
int count_ir_node(const struct node* node, struct vector* out_counters);

// Between runs: appends the ir_part_block_t of the device that runs the part, with the indices of
// tensors in the execution graph, the node in the execution graph of each of its steps (int32_t),
// and the ir_block_place_t of each block; nothing for a device without plans.
int plan_ir_part(const struct subgraph* part, struct vector* out_blocks, struct vector* out_steps,
                 struct vector* out_places);

// Between runs: appends the ir_arena_block_t (graph/prepared.h) of the parts whose arenas the core
// lends; the sums of blocks with one number, but not the scratch that all steps of a part share.
int list_ir_arena_blocks(const struct graph* execution, struct vector* out_blocks);

TENGINE_EXTERN_C_END

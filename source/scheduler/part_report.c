// SPDX-License-Identifier: Apache-2.0
#include "scheduler/part_report.h"

#include "graph/graph.h"
#include "graph/prepared.h"
#include "scheduler/compiled.h"
#include "scheduler/failure.h"
#include "scheduler/runner.h"

static int find_place(const struct subgraph* part, int node)
{
    for (int i = 0; i < part->node_num; ++i)
        if (part->node_list[i] == node) return i;
    return -1;
}

int count_ir_node(const struct node* node, struct vector* out_counters)
{
    const struct subgraph* part = get_ir_graph_subgraph(node->graph, node->subgraph_idx);
    struct subgraph* compiled = get_ir_compiled_part(part);
    if (part->core->measured_ns < 0 || !compiled) return TENGINE_OK;
    struct device* device = compiled->device;
    if (!device->interface->count_node) return TENGINE_OK;
    const int place = find_ir_compiled_place(part, compiled, find_place(part, node->index));
    if (place < 0) return TENGINE_OK;
    tengine_error_clear();
    const int status = device->interface->count_node(device, compiled, place, out_counters);
    return status == 0 ? TENGINE_OK
                       : fail_ir_entry(device, "count_node", part->index, part->node_num, status);
}

static bool is_index(int index, int number)
{
    return index >= 0 && index < number;
}

static int fail_plan(const struct subgraph* part, const struct device* device, const char* what,
                     int index)
{
    tengine_error_set(TENGINE_EDEVICE, "%s %d does not exist", what, index);
    return fail_ir_entry(device, "plan", part->index, part->node_num, TENGINE_EDEVICE);
}

// Replaces the device's indices by those of the execution graph.
static int translate(const struct subgraph* part, const struct subgraph* compiled,
                     struct vector* blocks, int first_block, struct vector* steps, int first_step)
{
    const struct graph* graph = compiled->graph;
    for (int i = first_step; i < get_vector_num(steps); ++i) {
        int32_t* step = get_vector_data(steps, i);
        if (!is_index(*step, compiled->node_num))
            return fail_plan(part, compiled->device, "node", *step);
        *step = part->node_list[find_ir_part_place(part, compiled, *step)];
    }
    const int step_num = get_vector_num(steps) - first_step;
    for (int i = first_block; i < get_vector_num(blocks); ++i) {
        ir_part_block_t* block = get_vector_data(blocks, i);
        if (!is_index(block->first, step_num) || !is_index(block->last, step_num))
            return fail_plan(part, compiled->device, "step", block->last);
        if (block->tensor < 0) continue;
        if (block->tensor >= graph->tensor_num)
            return fail_plan(part, compiled->device, "tensor", block->tensor);
        block->tensor = graph->tensor_list[block->tensor]->core->source_index;
    }
    return TENGINE_OK;
}

static int check_places(const struct subgraph* part, const struct subgraph* compiled,
                        const struct vector* places, int first, int block_num)
{
    if (get_vector_num(places) - first != block_num)
        return fail_plan(part, compiled->device, "block", get_vector_num(places) - first);
    for (int i = first; i < get_vector_num(places); ++i) {
        const int memory = ((const ir_block_place_t*)get_vector_data(places, i))->memory;
        if (!is_index(memory, compiled->core->memory_num))
            return fail_plan(part, compiled->device, "memory", memory);
    }
    return TENGINE_OK;
}

static int place_blocks(const struct subgraph* part, struct subgraph* compiled, int block_num,
                        struct vector* out_places)
{
    struct device* device = compiled->device;
    const int first = get_vector_num(out_places);
    if (!device->interface->place || compiled->core->memory_num < 2) {
        const ir_block_place_t place = {0};
        for (int i = 0; i < block_num; ++i)
            if (push_vector_data(out_places, &place) < 0)
                return tengine_error_set(TENGINE_ENOMEM, "out of memory for a memory plan");
        return TENGINE_OK;
    }
    tengine_error_clear();
    const int status = device->interface->place(device, compiled, out_places);
    if (status != 0) return fail_ir_entry(device, "place", part->index, part->node_num, status);
    return check_places(part, compiled, out_places, first, block_num);
}

int plan_ir_part(const struct subgraph* part, struct vector* out_blocks, struct vector* out_steps,
                 struct vector* out_places)
{
    struct subgraph* compiled = get_ir_compiled_part(part);
    if (!compiled || !compiled->device->interface->plan) return TENGINE_OK;
    struct device* device = compiled->device;
    const int first_block = get_vector_num(out_blocks), first_step = get_vector_num(out_steps);
    tengine_error_clear();
    const int status = device->interface->plan(device, compiled, out_blocks, out_steps);
    if (status != 0) return fail_ir_entry(device, "plan", part->index, part->node_num, status);
    TENGINE_RETURN_IF_ERROR(
        translate(part, compiled, out_blocks, first_block, out_steps, first_step));
    return place_blocks(part, compiled, get_vector_num(out_blocks) - first_block, out_places);
}

// ---- the blocks for a model's file ----

static int fail_blocks(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for a list of blocks");
}

// Whether the block is neither the scratch that all steps share, nor kept from prerun to postrun.
static bool is_in_arena(const struct subgraph* part, const ir_part_block_t* block,
                        const ir_block_place_t* place)
{
    const bool is_shared = block->tensor < 0 && get_ir_compiled_part(part)->core->memory_num < 2;
    return !is_shared && !place->is_kept;
}

// Appends a block without bytes for each number, of which a device has at most one for each tensor.
static int number_arena_blocks(const struct subgraph* part, const struct vector* blocks,
                               const struct vector* places, struct vector* out_blocks)
{
    const ir_arena_block_t none = {UINT64_MAX, 0, 0, part->index};
    int most = 0;
    for (int i = 0; i < get_vector_num(blocks); ++i) {
        const ir_part_block_t* block = get_vector_data(blocks, i);
        if (!is_index(block->block, get_vector_num(blocks)))
            return fail_plan(part, part->device, "block", block->block);
        if (block->block >= most && is_in_arena(part, block, get_vector_data(places, i)))
            most = block->block + 1;
    }
    for (int i = 0; i < most; ++i)
        if (push_vector_data(out_blocks, &none) < 0) return fail_blocks();
    return TENGINE_OK;
}

static void widen_arena_block(const ir_part_block_t* by, const ir_block_place_t* place,
                              ir_arena_block_t* block)
{
    const uint64_t begin = (uint64_t)by->offset, end = begin + (uint64_t)by->bytes;
    const uint64_t known_end = block->bytes > 0 ? block->offset + block->bytes : 0;
    block->memory = place->memory;
    if (begin < block->offset) block->offset = begin;
    block->bytes = (end > known_end ? end : known_end) - block->offset;
}

static int add_arena_blocks(const struct subgraph* part, const struct vector* blocks,
                            const struct vector* places, struct vector* out_blocks)
{
    const int first = get_vector_num(out_blocks);
    TENGINE_RETURN_IF_ERROR(number_arena_blocks(part, blocks, places, out_blocks));
    for (int i = 0; i < get_vector_num(blocks); ++i) {
        const ir_part_block_t* block = get_vector_data(blocks, i);
        const ir_block_place_t* place = get_vector_data(places, i);
        if (is_in_arena(part, block, place))
            widen_arena_block(block, place, get_vector_data(out_blocks, first + block->block));
    }
    return TENGINE_OK;
}

// Whether the device leaves its arena to the core.
static bool is_lent(const struct subgraph* compiled)
{
    for (int i = 0; i < compiled->core->scratch_num; ++i)
        if (compiled->core->scratch[i].bytes > 0) return true;
    return false;
}

static int list_part_blocks(const struct subgraph* part, struct vector* out_blocks)
{
    struct vector* blocks = create_vector(sizeof(ir_part_block_t), NULL);
    struct vector* steps = create_vector(sizeof(int32_t), NULL);
    struct vector* places = create_vector(sizeof(ir_block_place_t), NULL);
    int status = blocks && steps && places ? TENGINE_OK : fail_blocks();
    if (status == TENGINE_OK) status = plan_ir_part(part, blocks, steps, places);
    if (status == TENGINE_OK) status = add_arena_blocks(part, blocks, places, out_blocks);
    release_vector(places);
    release_vector(steps);
    release_vector(blocks);
    return status;
}

int list_ir_arena_blocks(const struct graph* execution, struct vector* out_blocks)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        const struct subgraph* part = get_ir_graph_subgraph(execution, i);
        const struct subgraph* compiled = get_ir_compiled_part(part);
        if (compiled && is_lent(compiled))
            TENGINE_RETURN_IF_ERROR(list_part_blocks(part, out_blocks));
    }
    return TENGINE_OK;
}

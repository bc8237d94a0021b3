// SPDX-License-Identifier: Apache-2.0
// Plans host memory for the tensors that outlive a part: the graph's outputs, which share no
// memory, and the boundary tensors between parts, which do unless parts may run at the same time.
// They lie in the memories of the board, as far as parts leave room there. A device plans the
// memory inside its parts.
#include <algorithm>
#include <limits>
#include <new>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/memory_plan.h"
#include "base/minimal.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "optimizer/optimizer.h"
#include "optimizer/pass.h"
#include "tengine/device.h"

namespace tengine {
namespace {

bool is_planned(const graph& graph, const struct tensor& tensor)
{
    if (tensor.producer < 0 || !is_ir_tensor_shape_known(&tensor)) return false;
    return tensor.subgraph_num > 0 || is_ir_graph_output(&graph, tensor.index);
}

memory_block_t make_block(const graph& graph, const struct tensor& tensor)
{
    memory_block_t block = {};
    // A tensor without elements gets an address of its own, too.
    block.size = std::max<size_t>(get_ir_tensor_bytes(&tensor), 1);
    block.first_use = graph.node_list[tensor.producer]->subgraph_idx;
    block.last_use = block.first_use;
    for (int i = 0; i < tensor.subgraph_num; ++i)
        block.last_use = std::max(block.last_use, tensor.subgraph_list[i]);
    if (is_ir_graph_output(&graph, tensor.index) || graph.run_options->concurrent) {
        block.first_use = 0;
        block.last_use = std::numeric_limits<int32_t>::max();
    }
    return block;
}

// The bytes that a run moves: a part writes the tensor, nodes of other parts, or the program, read
// it.
uint64_t count_moved(const graph& graph, const struct tensor& tensor)
{
    const int reads = tensor.consumer_num + (is_ir_graph_output(&graph, tensor.index) ? 1 : 0);
    return uint64_t{get_ir_tensor_bytes(&tensor)} * (1 + static_cast<uint64_t>(reads));
}

struct Boundary
{
    Vector<struct tensor*> tensors;
    Vector<memory_block_t> blocks;
    Vector<int32_t> memories;  // of each block
};

Boundary list_boundary(const graph& graph)
{
    Boundary boundary;
    for (int i = 0; i < graph.tensor_num; ++i) {
        struct tensor* tensor = graph.tensor_list[i];
        if (!is_planned(graph, *tensor)) continue;
        boundary.tensors.push_back(tensor);
        boundary.blocks.push_back(make_block(graph, *tensor));
    }
    boundary.memories.resize(boundary.tensors.size(), 0);
    return boundary;
}

int claim(graph& graph, size_t bytes)
{
    return claim_ir_memory(&graph, static_cast<int64_t>(bytes), "tensors between parts");
}

// Without memories of a board, or if one of them, which other graphs may use, has become too small.
int plan_in_one(graph& graph, Boundary* boundary)
{
    ir_graph_core& core = *graph.core;
    for (int i = 0; i < core.plan_need_num; ++i) {
        core.plan_needs[i].bytes = core.plan_needs[i].planned = 0;
        TENGINE_RETURN_IF_ERROR(fit_ir_scratch(&core.plan_needs[i].own, 0));
    }
    std::fill(boundary->memories.begin(), boundary->memories.end(),
              std::max(core.plan_need_num - 1, 0));
    if (take_prepared_places(graph, boundary->tensors, &boundary->blocks, &core.plan_bytes))
        return TENGINE_OK;
    return plan_memory(boundary->blocks.data(), static_cast<int64_t>(boundary->blocks.size()),
                       ALLOC_ALIGNMENT, &core.plan_bytes);
}

int plan_in_tiers(graph& graph, Boundary* boundary)
{
    ir_graph_core& core = *graph.core;
    Vector<memory_tier_t> tiers;
    Vector<uint64_t> moved;
    for (int i = 0; i < core.plan_need_num; ++i)
        tiers.push_back({core.plan_needs[i].room, core.plan_needs[i].ns_per_kib, 0});
    for (const struct tensor* tensor : boundary->tensors)
        moved.push_back(count_moved(graph, *tensor));
    TENGINE_RETURN_IF_ERROR(
        plan_memory_tiers(boundary->blocks.data(), moved.data(), boundary->memories.data(),
                          static_cast<int64_t>(boundary->blocks.size()), ALLOC_ALIGNMENT,
                          tiers.data(), static_cast<int>(tiers.size())));
    core.plan_bytes = tiers.back().used;
    for (int i = 0; i + 1 < core.plan_need_num; ++i) {
        ir_scratch_need_t& need = core.plan_needs[i];
        need.bytes = need.planned = tiers[static_cast<size_t>(i)].used;
        TENGINE_RETURN_IF_ERROR(claim(graph, need.bytes));
        if (need.bytes > 0 && lend_ir_need(&need, 0) < 0) return plan_in_one(graph, boundary);
    }
    return TENGINE_OK;
}

int plan_boundary_memory(graph& graph)
{
    Boundary boundary = list_boundary(graph);
    ir_graph_core& core = *graph.core;
    const bool has_tiers = !IS_MINIMAL && core.plan_need_num > 1;
    TENGINE_RETURN_IF_ERROR((has_tiers ? plan_in_tiers : plan_in_one)(graph, &boundary));
    TENGINE_RETURN_IF_ERROR(claim(graph, core.plan_bytes));
    core.plan = alloc_memory(core.plan_bytes);
    if (!core.plan)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu bytes between parts",
                                 core.plan_bytes);
    for (size_t i = 0; i < boundary.tensors.size(); ++i) {
        const bool is_in_plan = boundary.memories[i] + 1 >= core.plan_need_num;
        void* memory = is_in_plan ? core.plan : core.plan_needs[boundary.memories[i]].address;
        boundary.tensors[i]->data = static_cast<char*>(memory) + boundary.blocks[i].offset;
        boundary.tensors[i]->internal_allocated = 1;
    }
    return TENGINE_OK;
}

// ---- reports ----

bool is_inside(const void* data, const void* begin, size_t bytes)
{
    const auto* address = static_cast<const char*>(data);
    const auto* first = static_cast<const char*>(begin);
    return first && address >= first && address < first + bytes;
}

// The memory that has the tensor's data, and its begin.
int32_t find_memory(const graph& graph, const struct tensor& tensor, const char** out_begin)
{
    const ir_graph_core& core = *graph.core;
    for (int32_t i = 0; i + 1 < core.plan_need_num; ++i) {
        const ir_scratch_need_t& need = core.plan_needs[i];
        *out_begin = static_cast<const char*>(need.address);
        if (is_inside(tensor.data, need.address, need.bytes)) return i;
    }
    *out_begin = static_cast<const char*>(core.plan);
    return std::max(core.plan_need_num - 1, 0);
}

// The block of a tensor whose memory has been planned; its last use is a part.
ir_part_block_t describe_block(const graph& graph, const struct tensor& tensor, int number)
{
    const memory_block_t block = make_block(graph, tensor);
    const int last_part = get_vector_num(graph.subgraph_list) - 1;
    const char* begin;
    find_memory(graph, tensor, &begin);
    ir_part_block_t described = {};
    described.tensor = tensor.index;
    described.block = number;
    described.offset = static_cast<const char*>(tensor.data) - begin;
    described.bytes = static_cast<int64_t>(block.size);
    described.first = block.first_use;
    described.last = std::min(block.last_use, last_part);
    return described;
}

// The bytes that blocks have in a memory in the fullest step of a block's life.
int64_t count_taken(const Vector<ir_part_block_t>& blocks, const Vector<ir_block_place_t>& places,
                    int32_t memory, const ir_part_block_t& block)
{
    int64_t most = 0;
    for (int32_t step = block.first; step <= block.last; ++step) {
        int64_t taken = 0;
        for (size_t i = 0; i < blocks.size(); ++i)
            if (places[i].memory == memory && blocks[i].first <= step && step <= blocks[i].last)
                taken += blocks[i].bytes;
        most = std::max(most, taken);
    }
    return most;
}

// The reasons why blocks are not in the memory before their own.
void explain(const graph& graph, const Vector<ir_part_block_t>& blocks,
             Vector<ir_block_place_t>* places)
{
    for (size_t i = 0; i < blocks.size(); ++i) {
        ir_block_place_t& place = (*places)[i];
        if (place.memory == 0) continue;
        const int32_t faster = place.memory - 1;
        const size_t room = graph.core->plan_needs[faster].room;
        const bool is_too_large = static_cast<uint64_t>(blocks[i].bytes) > room;
        place.reason = is_too_large ? IR_PLACE_TOO_LARGE : IR_PLACE_NO_ROOM;
        place.bytes = is_too_large ? static_cast<int64_t>(room)
                                   : count_taken(blocks, *places, faster, blocks[i]);
    }
}

int list_blocks(const graph& graph, struct vector* out_blocks, struct vector* out_places)
{
    Vector<ir_part_block_t> blocks;
    Vector<ir_block_place_t> places;
    for (int i = 0; graph.core->plan && i < graph.tensor_num; ++i) {
        const struct tensor& tensor = *graph.tensor_list[i];
        if (!is_planned(graph, tensor)) continue;
        const char* begin;
        const auto number = get_vector_num(out_blocks) + static_cast<int>(blocks.size());
        blocks.push_back(describe_block(graph, tensor, number));
        ir_block_place_t place = {};
        place.memory = find_memory(graph, tensor, &begin);
        place.moved = static_cast<int64_t>(count_moved(graph, tensor));
        places.push_back(place);
    }
    if (graph.core->plan_need_num > 1) explain(graph, blocks, &places);
    for (size_t i = 0; i < blocks.size(); ++i)
        if (push_vector_data(out_blocks, &blocks[i]) < 0 ||
            push_vector_data(out_places, &places[i]) < 0)
            throw std::bad_alloc();
    return TENGINE_OK;
}

}  // namespace
}  // namespace tengine

int list_ir_boundary_blocks(const struct graph* execution, struct vector* out_blocks,
                            struct vector* out_places)
{
    return tengine::guarded(
        [&] { return tengine::list_blocks(*execution, out_blocks, out_places); },
        "out of memory for a memory plan");
}

int plan_ir_boundary_memory(struct graph* execution)
{
    return tengine::guarded([&] { return tengine::plan_boundary_memory(*execution); },
                            "graph '%s': out of memory while planning its memory", execution->name);
}

// SPDX-License-Identifier: Apache-2.0
// Plans host memory for the tensors that outlive a part: the graph's outputs, which share no
// memory, and the boundary tensors between parts, which do unless parts may run at the same time. A
// device plans the memory inside its parts.
#include <algorithm>
#include <limits>

#include "base/alloc.h"
#include "base/containers.hpp"
#include "base/guard.hpp"
#include "base/memory_plan.h"
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

int plan_boundary_memory(graph& graph)
{
    Vector<struct tensor*> tensors;
    Vector<memory_block_t> blocks;
    for (int i = 0; i < graph.tensor_num; ++i) {
        struct tensor* tensor = graph.tensor_list[i];
        if (!is_planned(graph, *tensor)) continue;
        tensors.push_back(tensor);
        blocks.push_back(make_block(graph, *tensor));
    }
    size_t total = 0;
    if (!take_prepared_places(graph, tensors, &blocks, &total))
        TENGINE_RETURN_IF_ERROR(plan_memory(blocks.data(), static_cast<int64_t>(blocks.size()),
                                            ALLOC_ALIGNMENT, &total));
    TENGINE_RETURN_IF_ERROR(
        claim_ir_memory(&graph, static_cast<int64_t>(total), "tensors between parts"));
    graph.core->plan = alloc_memory(total);
    graph.core->plan_bytes = total;
    if (!graph.core->plan)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu bytes between parts",
                                 total);
    for (size_t i = 0; i < tensors.size(); ++i) {
        tensors[i]->data = static_cast<char*>(graph.core->plan) + blocks[i].offset;
        tensors[i]->internal_allocated = 1;
    }
    return TENGINE_OK;
}

// The block of a tensor whose memory has been planned; its last use is a part.
ir_part_block_t describe_block(const graph& graph, const struct tensor& tensor, int number)
{
    const memory_block_t block = make_block(graph, tensor);
    const int last_part = get_vector_num(graph.subgraph_list) - 1;
    const auto* begin = static_cast<const char*>(graph.core->plan);
    ir_part_block_t described = {};
    described.tensor = tensor.index;
    described.block = number;
    described.offset = static_cast<const char*>(tensor.data) - begin;
    described.bytes = static_cast<int64_t>(block.size);
    described.first = block.first_use;
    described.last = std::min(block.last_use, last_part);
    return described;
}

}  // namespace
}  // namespace tengine

int list_ir_boundary_blocks(const struct graph* execution, struct vector* out_blocks)
{
    if (!execution->core->plan) return TENGINE_OK;
    for (int i = 0; i < execution->tensor_num; ++i) {
        const struct tensor& tensor = *execution->tensor_list[i];
        if (!tengine::is_planned(*execution, tensor)) continue;
        const ir_part_block_t block =
            tengine::describe_block(*execution, tensor, get_vector_num(out_blocks));
        if (push_vector_data(out_blocks, &block) < 0)
            return tengine_error_set(TENGINE_ENOMEM, "out of memory for a memory plan");
    }
    return TENGINE_OK;
}

int plan_ir_boundary_memory(struct graph* execution)
{
    return tengine::guarded([&] { return tengine::plan_boundary_memory(*execution); },
                            "graph '%s': out of memory while planning its memory", execution->name);
}

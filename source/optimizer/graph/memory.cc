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
    TENGINE_RETURN_IF_ERROR(
        plan_memory(blocks.data(), static_cast<int64_t>(blocks.size()), ALLOC_ALIGNMENT, &total));
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

}  // namespace
}  // namespace tengine

int plan_ir_boundary_memory(struct graph* execution)
{
    return tengine::guarded([&] { return tengine::plan_boundary_memory(*execution); },
                            "graph '%s': out of memory while planning its memory", execution->name);
}

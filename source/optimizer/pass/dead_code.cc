// SPDX-License-Identifier: Apache-2.0
// Removes the nodes and tensors that no output of the graph needs.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

bool is_needed(const node& node)
{
    for (int i = 0; i < node.output_num; ++i) {
        const struct tensor* tensor = get_ir_node_output(&node, i);
        if (tensor && (tensor->consumer_num > 0 || is_ir_graph_output(node.graph, tensor->index)))
            return true;
    }
    return false;
}

}  // namespace

int remove_dead_code(graph& graph)
{
    for (int i = graph.node_num - 1; i >= 0; --i)  // consumers before producers
        if (!is_needed(*graph.node_list[i])) destroy_ir_node(&graph, graph.node_list[i]);
    Vector<bool> is_input(static_cast<size_t>(graph.tensor_num));
    for (int i = 0; i < graph.input_tensor_num; ++i)
        is_input[static_cast<size_t>(graph.input_tensors[i])] = true;
    for (int i = 0; i < graph.tensor_num; ++i) {
        const struct tensor* tensor = graph.tensor_list[i];
        if (tensor && tensor->producer < 0 && tensor->consumer_num == 0 &&
            !is_input[static_cast<size_t>(i)] && !is_ir_graph_output(&graph, i))
            destroy_ir_tensor(&graph, graph.tensor_list[i]);
    }
    return TENGINE_OK;
}

}  // namespace tengine

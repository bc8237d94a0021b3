// SPDX-License-Identifier: Apache-2.0
// Removes what no output of the graph needs.
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

bool is_border(const graph& graph, int index)
{
    for (int i = 0; i < graph.input_tensor_num; ++i)
        if (graph.input_tensors[i] == index) return true;
    return is_ir_graph_output(&graph, index);
}

}  // namespace

int remove_dead_code(graph& graph)
{
    for (int i = graph.node_num - 1; i >= 0; --i)  // consumers before producers
        if (!is_needed(*graph.node_list[i])) destroy_ir_node(&graph, graph.node_list[i]);
    for (int i = 0; i < graph.tensor_num; ++i) {
        const struct tensor* tensor = graph.tensor_list[i];
        if (tensor && tensor->producer < 0 && tensor->consumer_num == 0 && !is_border(graph, i))
            destroy_ir_tensor(&graph, graph.tensor_list[i]);
    }
    return TENGINE_OK;
}

}  // namespace tengine

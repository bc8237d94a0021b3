// SPDX-License-Identifier: Apache-2.0
#include "optimizer/pass/unknown_shape.h"

#include "graph/graph.h"

namespace tengine {
namespace {

// Searches upwards along unknown tensors; null when an input of the graph is unknown.
const node* find_origin(const graph& graph, const struct tensor& unknown)
{
    const struct tensor* tensor = &unknown;
    const node* origin = nullptr;
    for (int i = 0; tensor && i < graph.node_num; ++i) {
        origin = get_ir_graph_node(&graph, tensor->producer);
        tensor = origin ? find_ir_unknown_input(origin) : nullptr;
    }
    return origin;
}

// The nearest input of the graph that `result` is computed from; null when there is none.
const struct tensor* find_graph_input(const graph& graph, const struct tensor* result)
{
    Vector<const struct tensor*> tensors = {result};
    Vector<bool> seen(static_cast<size_t>(graph.tensor_num), false);
    for (size_t next = 0; next < tensors.size(); ++next) {
        const struct tensor* tensor = tensors[next];
        if (!tensor || tensor->tensor_type == TENSOR_TYPE_CONST) continue;
        const node* producer = get_ir_graph_node(&graph, tensor->producer);
        if (tensor->tensor_type == TENSOR_TYPE_INPUT || !producer) return tensor;
        if (seen[static_cast<size_t>(tensor->index)]) continue;
        seen[static_cast<size_t>(tensor->index)] = true;
        for (int i = 0; i < producer->input_num; ++i)
            tensors.push_back(get_ir_node_input(producer, i));
    }
    return nullptr;
}

// The last input of a node has the shape or number that decides (Reshape, TopK, Compress).
const struct tensor* find_deciding_input(const graph& graph, const node& origin)
{
    for (int i = origin.input_num - 1; i >= 0; --i)
        if (const struct tensor* input = find_graph_input(graph, get_ir_node_input(&origin, i)))
            return input;
    return nullptr;
}

}  // namespace

String describe_origin(const graph& graph, const struct tensor& unknown)
{
    const node* origin = find_origin(graph, unknown);
    if (!origin) return "";
    const struct tensor* input = find_deciding_input(graph, *origin);
    const String by = input ? String(" by the values of input '") + input->name + "'" : "";
    return String(" (") + get_ir_node_op(origin) + " '" + origin->name + "' decides" + by + ")";
}

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
#include "calibration/graph_reader.h"

#include <cstring>

#include "tengine/inspect.h"

namespace tengine::calibration {
namespace {

// `number` and get() are results of the C API; an answer of NULL has the code TENGINE_ENOENT.
template <class Get>
Vector<void*> list_items(int number, const Get& get)
{
    Vector<void*> items;
    if (number < 0) throw CallFailed{tengine_error_code()};
    for (int i = 0; i < number; ++i) {
        items.push_back(get(i));
        if (!items.back() && tengine_error_code() != TENGINE_ENOENT)
            throw CallFailed{tengine_error_code()};
    }
    return items;
}

}  // namespace

Vector<node_t> list_all_nodes(graph_t graph)
{
    return list_items(get_graph_node_num(graph),
                      [graph](int i) { return get_graph_node_by_idx(graph, i); });
}

Vector<node_t> list_nodes(graph_t graph)
{
    Vector<node_t> nodes;
    for (node_t node : list_all_nodes(graph)) {
        const char* op = get_node_op(node);
        if (std::strcmp(op, "InputOp") != 0 && std::strcmp(op, "Const") != 0) nodes.push_back(node);
    }
    return nodes;
}

Vector<tensor_t> list_tensors(graph_t graph)
{
    return list_items(tengine_graph_get_tensor_number(graph),
                      [graph](int i) { return tengine_graph_get_tensor(graph, i); });
}

Vector<tensor_t> list_inputs(graph_t graph)
{
    return list_items(tengine_graph_get_input_number(graph),
                      [graph](int i) { return tengine_graph_get_input(graph, i); });
}

Vector<tensor_t> list_outputs(graph_t graph)
{
    return list_items(tengine_graph_get_output_number(graph),
                      [graph](int i) { return tengine_graph_get_output(graph, i); });
}

Vector<tensor_t> list_node_inputs(node_t node)
{
    return list_items(get_node_input_number(node),
                      [node](int i) { return get_node_input_tensor(node, i); });
}

Vector<tensor_t> list_node_outputs(node_t node)
{
    return list_items(get_node_output_number(node),
                      [node](int i) { return get_node_output_tensor(node, i); });
}

}  // namespace tengine::calibration

// SPDX-License-Identifier: Apache-2.0
// The form of graphs in files and programs: every input and every constant is the output of a node,
// and the graph's outputs are all outputs of a list of nodes.

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/registry.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/graph/namer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

int add_source_node(graph& graph, Namer& namer, const char* op, struct tensor& tensor)
{
    const String name = namer.choose(tensor.name);
    node* made = create_ir_node(&graph, name.c_str(), get_op_type("tengine", op), 0);
    if (!made) return tengine_error_code();
    return set_ir_node_output_tensor(made, 0, &tensor);
}

int add_source_nodes(graph& graph, Namer& namer)
{
    for (int i = 0; i < graph.input_tensor_num; ++i)
        TENGINE_RETURN_IF_ERROR(
            add_source_node(graph, namer, "InputOp", *graph.tensor_list[graph.input_tensors[i]]));
    for (int i = 0; i < graph.tensor_num; ++i) {
        struct tensor& tensor = *graph.tensor_list[i];
        if (tensor.tensor_type == TENSOR_TYPE_CONST && tensor.producer < 0)
            TENGINE_RETURN_IF_ERROR(add_source_node(graph, namer, "Const", tensor));
    }
    return TENGINE_OK;
}

// Whether a node can be in the list of output nodes for its tensor.
bool stands_for(const node* producer, const struct tensor& tensor)
{
    if (!producer || producer->output_num != 1) return false;
    return tensor.tensor_type != TENSOR_TYPE_INPUT && tensor.tensor_type != TENSOR_TYPE_CONST;
}

// Gives an output a node of its own, if its producer has several results or it is an input or a
// constant.
int give_own_node(graph& graph, Namer& namer, int place)
{
    struct tensor& tensor = *graph.tensor_list[graph.output_tensors[place]];
    if (stands_for(get_ir_graph_node(&graph, tensor.producer), tensor)) return TENGINE_OK;
    struct tensor* copy =
        create_ir_tensor(&graph, (String(tensor.name) + "_inner").c_str(), tensor.data_type);
    const String name = namer.choose(tensor.name);
    const bool known = is_ir_tensor_shape_known(&tensor);
    const char* op = known ? "tengine.Dropout" : "Identity";
    node* made = create_op_node(&graph, name.c_str(), op, name.c_str());
    if (!copy || !made) return tengine_error_code();
    if (known) TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(copy, tensor.dims, tensor.dim_num));
    if (known && is_quantized(tensor)) TENGINE_RETURN_IF_ERROR(quantise_like(*copy, tensor));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 0, &tensor));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(made, 0, copy));
    replace_ir_graph_output(&graph, place, copy);
    // Inputs keep their name, by which the program feeds them.
    if (tensor.tensor_type != TENSOR_TYPE_INPUT) exchange_ir_tensor_names(&graph, copy, &tensor);
    return TENGINE_OK;
}

int give_own_nodes(graph& graph, Namer& namer)
{
    for (int i = 0; i < graph.output_tensor_num; ++i)
        TENGINE_RETURN_IF_ERROR(give_own_node(graph, namer, i));
    return TENGINE_OK;
}

Vector<int32_t> list_producers(const graph& graph, const int32_t* tensors, int number)
{
    Vector<int32_t> nodes;
    for (int i = 0; i < number; ++i)
        nodes.push_back(graph.tensor_list[tensors[i]]->producer);
    return nodes;
}

int set_node_lists(graph& graph)
{
    const Vector<int32_t> inputs =
        list_producers(graph, graph.input_tensors, graph.input_tensor_num);
    const Vector<int32_t> outputs =
        list_producers(graph, graph.output_tensors, graph.output_tensor_num);
    if (!inputs.empty())
        TENGINE_RETURN_IF_ERROR(
            set_ir_graph_input_node(&graph, inputs.data(), static_cast<int>(inputs.size())));
    return set_ir_graph_output_node(&graph, outputs.data(), static_cast<int>(outputs.size()));
}

}  // namespace

int to_source_form(graph& graph, bool outputs_are_nodes)
{
    Namer namer;
    for (int i = 0; i < graph.node_num; ++i)
        namer.take(graph.node_list[i]->name);
    TENGINE_RETURN_IF_ERROR(add_source_nodes(graph, namer));
    if (outputs_are_nodes) TENGINE_RETURN_IF_ERROR(give_own_nodes(graph, namer));
    TENGINE_RETURN_IF_ERROR(tidy_graph(graph));
    return outputs_are_nodes ? set_node_lists(graph) : TENGINE_OK;
}

}  // namespace tengine

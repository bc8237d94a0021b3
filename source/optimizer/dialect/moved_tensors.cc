// SPDX-License-Identifier: Apache-2.0
// Raising adds nodes that only move elements around other nodes, such as the Reshape before and
// after a convolution with one axis. The tensors between are float, and no node quantises them. But
// moved elements have the same bytes, so such a tensor can be quantised like the tensor it is
// computed from, or like the one computed from it. Then these nodes compute in int8 or uint8 as the
// node of the ONNX model does, and Tengine Lite, which has no float between quantised tensors, can
// load them.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"
#include "optimizer/dialect/linear_node.h"
#include "optimizer/dialect/quantized_tensors.h"

namespace tengine {
namespace {

struct Quantisation
{
    int data_type = TENGINE_DT_FP32;  // int8 or uint8 if there is one
    LinearParameters parameters;
};

Quantisation quantisation_of(const struct tensor& tensor)
{
    if (!is_quantized(tensor) || !is_byte_type(tensor.data_type)) return {};
    const int number = tensor.quant_param_num;
    return {tensor.data_type,
            {{scales_of(tensor), scales_of(tensor) + number},
             {zero_points_of(tensor), zero_points_of(tensor) + number}}};
}

Quantisation quantisation_by(const node& linear, const struct tensor& bytes,
                             const struct tensor& values)
{
    Quantisation found;
    if (is_byte_type(bytes.data_type) &&
        read_linear_parameters(linear, bytes, values, &found.parameters))
        found.data_type = bytes.data_type;
    return found;
}

Quantisation quantisation_before(const graph& graph, const struct tensor& tensor)
{
    const node* writer = get_ir_graph_node(&graph, tensor.producer);
    return is_op(writer, "DequantizeLinear")
               ? quantisation_by(*writer, *get_ir_node_input(writer, 0), tensor)
               : quantisation_of(tensor);
}

Quantisation quantisation_after(const graph& graph, const struct tensor& tensor)
{
    if (tensor.consumer_num != 1 || is_ir_graph_output(&graph, tensor.index))
        return quantisation_of(tensor);
    const node* reader = graph.node_list[tensor.consumer[0]];
    return is_op(reader, "QuantizeLinear")
               ? quantisation_by(*reader, *get_ir_node_output(reader, 0), tensor)
               : quantisation_of(tensor);
}

// Raising leaves types and shapes of new tensors to be inferred.
bool is_made_by_raising(const graph& graph, const struct tensor* tensor)
{
    return tensor && tensor->data_type == TENGINE_DT_UNKNOWN && tensor->core->source_index < 0 &&
           speaks_tengine(get_ir_graph_node(&graph, tensor->producer)) &&
           is_read_by_tengine_only(graph, *tensor);
}

bool moves_one_tensor(const node* node)
{
    return moves_bytes(node) && String(get_ir_node_op(node)) != "Concat";
}

// One scale is valid for all moved elements.
bool may_move(const Quantisation& quantisation)
{
    return quantisation.data_type != TENGINE_DT_FP32 && quantisation.parameters.scales.size() == 1;
}

int quantise(struct tensor& tensor, const Quantisation& quantisation)
{
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&tensor, quantisation.data_type));
    return give_parameters(tensor, quantisation.parameters);
}

int quantise_result(graph& graph, const node& move)
{
    const Quantisation quantisation = quantisation_before(graph, *get_ir_node_input(&move, 0));
    if (!may_move(quantisation)) return TENGINE_OK;
    for (int i = 0; i < move.output_num; ++i) {
        struct tensor* to = get_ir_node_output(&move, i);
        if (is_made_by_raising(graph, to)) TENGINE_RETURN_IF_ERROR(quantise(*to, quantisation));
    }
    return TENGINE_OK;
}

int quantise_operand(graph& graph, const node& move)
{
    struct tensor* from = get_ir_node_input(&move, 0);
    if (move.output_num != 1 || !is_made_by_raising(graph, from) || from->consumer_num != 1)
        return TENGINE_OK;
    const Quantisation quantisation = quantisation_after(graph, *get_ir_node_output(&move, 0));
    return may_move(quantisation) ? quantise(*from, quantisation) : TENGINE_OK;
}

// Tengine's weights have two spatial axes. Lowering would move them, but not the scales of
// channels.
int give_second_axis(graph& graph, const node& convolution)
{
    struct tensor* weight = get_ir_node_input(&convolution, 1);
    if (weight->dim_num != 3 || weight->consumer_num != 1 ||
        weight->tensor_type != TENSOR_TYPE_CONST || is_ir_graph_output(&graph, weight->index))
        return TENGINE_OK;
    const int dims[] = {weight->dims[0], weight->dims[1], weight->dims[2], 1};
    return set_ir_tensor_shape(weight, dims, 4);
}

bool is_convolution(const node* node)
{
    if (!speaks_tengine(node)) return false;
    const String op = get_ir_node_op(node);
    return op == "Convolution" || op == "Deconvolution";
}

}  // namespace

int quantise_moved_tensors(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i)
        if (is_convolution(graph.node_list[i]))
            TENGINE_RETURN_IF_ERROR(give_second_axis(graph, *graph.node_list[i]));
    for (int i = 0; i < graph.node_num; ++i)
        if (moves_one_tensor(graph.node_list[i]))
            TENGINE_RETURN_IF_ERROR(quantise_result(graph, *graph.node_list[i]));
    for (int i = graph.node_num; i-- > 0;)
        if (moves_one_tensor(graph.node_list[i]))
            TENGINE_RETURN_IF_ERROR(quantise_operand(graph, *graph.node_list[i]));
    return TENGINE_OK;
}

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// For files of Tengine's dialect: a clamp becomes the field `activation` of the Convolution before
// it, as Tengine's converter writes it. Lowering restores the node.
#include <algorithm>
#include <limits>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/operator.h"
#include "operator/param.h"
#include "optimizer/dialect/quantized_tensors.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// Values of the field. The value 1 is not used: for it, Tengine Lite's reference kernels clip to -1
// .. 1, those for int8 to 0 .. 1, and the fast ones to 0 .. 6, as for every number above 0. All of
// them compute an operator ReLU1 in the same way. The field of Deconvolution stays empty, as in
// Tengine's converter.
constexpr int kNone = -1;
constexpr int kRelu = 0;
constexpr int kRelu6 = 6;

int find_activation(const node& clamp)
{
    const String op = get_ir_node_op(&clamp);
    if (op == "ReLU6") return kRelu6;
    if (op == "ReLU") return kRelu;
    const bool is_relu =
        op == "Clip" && get_ir_node_float(&clamp, "min", 0) == 0 &&
        get_ir_node_float(&clamp, "max", 0) == std::numeric_limits<float>::infinity();
    return is_relu ? kRelu : kNone;
}

// Whether both have the same type, with the same scales and zero points or none.
bool are_quantized_alike(const struct tensor& a, const struct tensor& b)
{
    const int number = a.quant_param_num;
    return a.data_type == b.data_type && b.quant_param_num == number &&
           std::equal(scales_of(a), scales_of(a) + number, scales_of(b)) &&
           std::equal(zero_points_of(a), zero_points_of(a) + number, zero_points_of(b));
}

// Whether the user requires float for the tensor, which then keeps its node and name.
bool is_kept(const graph& graph, const struct tensor& clamped)
{
    return clamped.quant_param_num == 0 &&
           get_ir_context_number(graph.attribute->context, "model.fold_activations") == 0;
}

// An output of the graph keeps its node, since programs know its name. A convolution whose
// quantisation differs from its clamp's is rounded twice, and must stay so.
int fold_activation(graph& graph, node& clamp)
{
    const struct tensor* clamped = find_clamped(clamp);
    if (!clamped || is_kept(graph, *clamped)) return TENGINE_OK;
    const int activation = find_activation(clamp);
    node* conv = get_ir_graph_node(&graph, clamped->producer);
    struct tensor* result = get_ir_node_output(&clamp, 0);
    if (activation == kNone || String(get_ir_node_op(conv)) != "Convolution" ||
        get_ir_node_int(conv, "activation", kNone) != kNone ||
        is_ir_graph_output(&graph, result->index) || !are_quantized_alike(*clamped, *result))
        return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(set_node_int(conv, "activation", activation));
    destroy_ir_node(&graph, &clamp);
    return set_ir_node_output_tensor(conv, 0, result);
}

}  // namespace

int fold_activations(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i)
        if (graph.node_list[i])
            TENGINE_RETURN_IF_ERROR(fold_activation(graph, *graph.node_list[i]));
    return TENGINE_OK;
}

}  // namespace tengine

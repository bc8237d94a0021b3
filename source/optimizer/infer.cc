// SPDX-License-Identifier: Apache-2.0
// Shapes, types and constants in one walk from inputs to outputs: a Reshape's target may be
// computed by Shape, Gather and Concat, so a node is folded as soon as its inputs are known.
#include "operator/infer.h"

#include "optimizer/pass.h"

namespace tengine {
namespace {

bool are_input_shapes_known(const node& node)
{
    for (int i = 0; i < node.input_num; i++) {
        const ir_tensor_t* tensor = get_ir_node_input(&node, i);
        if (tensor && !is_ir_tensor_shape_known(tensor)) return false;
    }
    return true;
}

bool are_inputs_constant(const node& node)
{
    for (int i = 0; i < node.input_num; i++) {
        const ir_tensor_t* tensor = get_ir_node_input(&node, i);
        if (tensor && tensor->tensor_type != TENSOR_TYPE_CONST) return false;
    }
    return true;
}

bool are_outputs_known(const node& node)
{
    for (int i = 0; i < node.output_num; i++) {
        const ir_tensor_t* tensor = get_ir_node_output(&node, i);
        if (tensor && !is_ir_tensor_shape_known(tensor)) return false;
    }
    return true;
}

// What folding may compute for one graph; beyond it nodes stay for the run. A few bytes of a
// hostile file must not claim all memory; weights that real models make of ConstantOfShape fit.
constexpr int64_t kFoldBudget = int64_t{2} << 30;

int64_t count_output_bytes(const node& node)
{
    int64_t bytes = 0;
    for (int i = 0; i < node.output_num; i++)
        if (const ir_tensor_t* tensor = get_ir_node_output(&node, i))
            bytes += static_cast<int64_t>(get_ir_tensor_bytes(tensor));
    return bytes;
}

bool is_foldable(const node& node)
{
    const uint32_t traits = node.op.method->traits;
    if (traits & OP_RANDOM) return false;
    return (traits & OP_SHAPE_ONLY) || are_inputs_constant(node);
}

int infer_node(node& node, int64_t* budget)
{
    TENGINE_RETURN_IF_ERROR(settle_moved_inputs(node));
    int status = OP_SHAPE_LATER;
    if (are_input_shapes_known(node))
        status = node.op.same_shape
                     ? set_node_output_like(&node, 0, get_ir_node_input(&node, 0), -1)
                     : node.op.infer_shape(&node);
    if (status < 0) return status;
    node.dynamic_shape = status == OP_SHAPE_LATER || !are_outputs_known(node);
    const bool fold_later_shape = (node.op.method->traits & OP_SELF_SHAPED) != 0;
    if (node.dynamic_shape && !fold_later_shape) return TENGINE_OK;
    const int64_t bytes = count_output_bytes(node);
    if (!is_foldable(node) || bytes > *budget) return TENGINE_OK;
    *budget -= bytes;
    return evaluate_node(node);
}

}  // namespace

int infer_graph(graph& graph)
{
    for (int i = 0; i < graph.input_tensor_num; i++) {
        const ir_tensor_t* input = graph.tensor_list[graph.input_tensors[i]];
        if (!is_ir_tensor_shape_known(input))
            return tengine_error_set(TENGINE_EINVAL,
                                     "input '%s' has no complete shape; give it one with "
                                     "set_tensor_shape before prerun",
                                     input->name);
    }
    int64_t budget = kFoldBudget;
    for (int i = 0; i < graph.node_num; i++)
        TENGINE_RETURN_IF_ERROR(infer_node(*graph.node_list[i], &budget));
    return TENGINE_OK;
}

}  // namespace tengine

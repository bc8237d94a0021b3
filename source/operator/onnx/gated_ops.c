// SPDX-License-Identifier: Apache-2.0
// Activations that gate another tensor (N. Shazeer, "GLU Variants Improve Transformer", 2020):
// SwiGLU of ONNX, lowered to Swish and Mul, and BiasSplitGelu of ONNX Runtime, to Add, Split, Gelu
// and Mul. The node itself becomes the product, so that it keeps its name.
#include "operator/infer.h"
#include "operator/onnx/activation_param.h"
#include "operator/onnx/legacy.h"
#include "operator/param.h"
#include "operator/row.h"
#include "tengine/device.h"

static const op_field_t swiglu_fields[] = {
    OP_FIELD(struct alpha_param, FLOAT, alpha, .number = 1),
};

static int lower_swiglu(struct graph* graph, struct node* node)
{
    const struct alpha_param* param = node->op.param_mem;
    struct tensor* gate = get_ir_node_input(node, 0);
    struct node* swish = append_lowered_node(graph, node, "Swish", &gate, 1);
    if (!swish) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_node_float(swish, "alpha", param->alpha));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, get_ir_node_output(swish, 0)));
    return change_node_method(node, "Mul");
}

// Emits x + bias, split in two: the first part times Gelu of the second.
static int lower_bias_split_gelu(struct graph* graph, struct node* node)
{
    struct tensor* inputs[] = {get_ir_node_input(node, 0), get_ir_node_input(node, 1)};
    struct node* sum = append_lowered_node(graph, node, "Add", inputs, 2);
    struct tensor* whole = sum ? get_ir_node_output(sum, 0) : NULL;
    struct node* split = whole ? append_lowered_node(graph, node, "Split", &whole, 1) : NULL;
    struct tensor* second = split ? create_ir_tensor(graph, NULL, TENGINE_DT_UNKNOWN) : NULL;
    if (!second) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(split, 1, second));
    TENGINE_RETURN_IF_ERROR(set_node_int(split, "axis", -1));
    TENGINE_RETURN_IF_ERROR(set_node_int(split, "num_outputs", 2));
    struct node* gelu = append_lowered_node(graph, node, "Gelu", &second, 1);
    if (!gelu) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, get_ir_node_output(split, 0)));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 1, get_ir_node_output(gelu, 0)));
    return change_node_method(node, "Mul");
}

static const ir_method_t* const rows[] = {
    OP_ROW(SwiGLU, .version = 28, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           OP_FIELDS(swiglu_fields), .param_size = sizeof(struct alpha_param), .traits = OP_LEGACY,
           .lower = lower_swiglu),
    MICROSOFT_ROW(BiasSplitGelu, .version = 1, .until = 1, .min_input = 2, .max_input = 2,
                  .min_output = 1, .max_output = 1, .traits = OP_LEGACY,
                  .lower = lower_bias_split_gelu),
};

OPERATOR_TABLE(gated_ops, rows);

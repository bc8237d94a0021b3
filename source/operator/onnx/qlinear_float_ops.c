// SPDX-License-Identifier: Apache-2.0
// Integer operators of the domain com.microsoft without kernels of their own: they are lowered to
// DequantizeLinear, the float operator of ONNX and QuantizeLinear. The node itself becomes the
// float operator, so that it keeps its name. Neighbour: qlinear_ops.c; its QLinearAdd and
// QLinearMul are lowered like this if a scale is negative.
#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/onnx/activation_param.h"
#include "operator/onnx/join_param.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/quantized.h"
#include "operator/onnx/reduce_param.h"
#include "operator/param.h"
#include "operator/row.h"
#include "tengine/device.h"

// Appends the DequantizeLinear of inputs index, index + 1 and index + 2.
static int append_dequantize(struct graph* graph, const struct node* node, int index,
                             struct tensor** out_tensor)
{
    struct tensor* inputs[] = {get_ir_node_input(node, index), get_ir_node_input(node, index + 1),
                               get_ir_node_input(node, index + 2)};
    if (!inputs[0] || !inputs[1])
        return fail_node(node, TENGINE_EGRAPH, "input %d is missing",
                         inputs[0] ? index + 1 : index);
    struct node* made =
        append_lowered_node(graph, node, "DequantizeLinear", inputs, inputs[2] ? 3 : 2);
    if (!made) return tengine_error_code();
    *out_tensor = get_ir_node_output(made, 0);
    return TENGINE_OK;
}

// Appends a zero point of 0 for a result without one. It has the type of the node's tensor `value`,
// which the zero point after it or the model itself gives.
static int append_zero_point(struct graph* graph, const struct node* node, int value,
                             struct tensor** out_tensor)
{
    const struct tensor* known = get_ir_node_input(node, value + 2);
    if (!known) known = get_ir_node_input(node, value);
    if (known->data_type != TENGINE_DT_INT8 && known->data_type != TENGINE_DT_UINT8)
        return fail_node(
            node, TENGINE_ENOTSUP,
            "'%s' may be int8 or uint8: neither a zero point nor the model defines its type",
            known->name);
    *out_tensor = create_ir_tensor(graph, NULL, known->data_type);
    if (!*out_tensor) return tengine_error_code();
    (*out_tensor)->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(*out_tensor, NULL, 0));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(*out_tensor));
    *(*out_tensor)->u8 = 0;
    return TENGINE_OK;
}

// Puts a QuantizeLinear with the scale at input `index` and the zero point after it between the
// node and its result. `value` is an input of the result's type.
static int append_quantize(struct graph* graph, struct node* node, int index, int value)
{
    struct tensor* result = get_ir_node_output(node, 0);
    struct tensor* scale = get_ir_node_input(node, index);
    struct tensor* zero_point = get_ir_node_input(node, index + 1);
    if (!result || !scale)
        return fail_node(node, TENGINE_EGRAPH, "the result or its scale, input %d, is missing",
                         index);
    if (!zero_point) TENGINE_RETURN_IF_ERROR(append_zero_point(graph, node, value, &zero_point));
    struct tensor* real = create_ir_tensor(graph, NULL, TENGINE_DT_UNKNOWN);
    struct node* made = create_op_node(graph, NULL, "QuantizeLinear", node->name);
    if (!real || !made) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, real));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 0, real));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 1, scale));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(made, 2, zero_point));
    return set_ir_node_output_tensor(made, 0, result);
}

static int replace_inputs(struct node* node, struct tensor* const inputs[], int number)
{
    for (int i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, i, inputs[i]));
    keep_ir_node_inputs(node, number);
    return TENGINE_OK;
}

// Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point; attributes of both operators have the
// same names.
static int lower_unary(struct graph* graph, struct node* node, const char* op)
{
    struct tensor* x = NULL;
    TENGINE_RETURN_IF_ERROR(append_dequantize(graph, node, 0, &x));
    TENGINE_RETURN_IF_ERROR(append_quantize(graph, node, 3, 0));
    TENGINE_RETURN_IF_ERROR(replace_inputs(node, &x, 1));
    return change_node_method(node, op);
}

static int lower_sigmoid(struct graph* graph, struct node* node)
{
    return lower_unary(graph, node, "Sigmoid");
}

static int lower_leaky_relu(struct graph* graph, struct node* node)
{
    return lower_unary(graph, node, "LeakyRelu");
}

// The axes are an attribute of the integer operator and an input of the float one.
static int lower_reduce_mean(struct graph* graph, struct node* node)
{
    const struct reduce_param* param = node->op.param_mem;
    struct tensor* axes = NULL;
    if (param->axes.num > 0) {
        axes = create_int_constant(graph, param->axes.values, param->axes.num);
        if (!axes) return tengine_error_code();
    }
    TENGINE_RETURN_IF_ERROR(lower_unary(graph, node, "ReduceMean"));
    return axes ? set_ir_node_input_tensor(node, 1, axes) : TENGINE_OK;
}

// Inputs: y_scale, y_zero_point, then tensor, scale and zero point of each part.
static int lower_concat(struct graph* graph, struct node* node)
{
    const int number = (node->input_num - 2) / 3;
    if (number < 1 || node->input_num != 2 + 3 * number)
        return fail_node(node, TENGINE_EGRAPH, "%d inputs, expected 2 and 3 for each part",
                         node->input_num);
    TENGINE_RETURN_IF_ERROR(append_quantize(graph, node, 0, 2));
    // Part i is after input i, so that no unread input is overwritten.
    for (int i = 0; i < number; ++i) {
        struct tensor* part = NULL;
        TENGINE_RETURN_IF_ERROR(append_dequantize(graph, node, 2 + 3 * i, &part));
        TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, i, part));
    }
    keep_ir_node_inputs(node, number);
    return change_node_method(node, "Concat");
}

// Inputs: condition, then tensor, scale and zero point of x and of y, then scale and zero point of
// z.
static int lower_where(struct graph* graph, struct node* node)
{
    struct tensor* inputs[] = {get_ir_node_input(node, 0), NULL, NULL};
    TENGINE_RETURN_IF_ERROR(append_dequantize(graph, node, 1, &inputs[1]));
    TENGINE_RETURN_IF_ERROR(append_dequantize(graph, node, 4, &inputs[2]));
    TENGINE_RETURN_IF_ERROR(append_quantize(graph, node, 7, 1));
    TENGINE_RETURN_IF_ERROR(replace_inputs(node, inputs, 3));
    return change_node_method(node, "Where");
}

// Inputs: a, its scale and zero point, b, its scale and zero point, scale and zero point of the
// result.
int lower_binary_to_floats(struct graph* graph, struct node* node, const char* op)
{
    struct tensor* inputs[2] = {NULL};
    TENGINE_RETURN_IF_ERROR(append_dequantize(graph, node, 0, &inputs[0]));
    TENGINE_RETURN_IF_ERROR(append_dequantize(graph, node, 3, &inputs[1]));
    TENGINE_RETURN_IF_ERROR(append_quantize(graph, node, 6, 0));
    TENGINE_RETURN_IF_ERROR(replace_inputs(node, inputs, 2));
    return change_node_method(node, op);
}

static const op_field_t leaky_relu_fields[] = {
    OP_FIELD(struct alpha_param, FLOAT, alpha, .number = 0.01),
};
static const op_field_t reduce_fields[] = {
    OP_FIELD(struct reduce_param, INTS, axes, .required = 0),
    OP_FIELD(struct reduce_param, INT, keepdims, .number = 1, .maximum = 1),
};
static const op_field_t concat_fields[] = {
    OP_FIELD(struct concat_param, INT, axis, .required = 1),
};

#define LOWERED(least, most, lower_function, ...)                                     \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1, \
    .max_output = 1, .traits = OP_LEGACY, .lower = lower_function, __VA_ARGS__

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(QLinearConcat, LOWERED(5, -1, lower_concat, OP_FIELDS(concat_fields),
                                         .param_size = sizeof(struct concat_param))),
    MICROSOFT_ROW(QLinearLeakyRelu, LOWERED(4, 5, lower_leaky_relu, OP_FIELDS(leaky_relu_fields),
                                            .param_size = sizeof(struct alpha_param))),
    MICROSOFT_ROW(QLinearReduceMean, LOWERED(4, 5, lower_reduce_mean, OP_FIELDS(reduce_fields),
                                             .param_size = sizeof(struct reduce_param))),
    MICROSOFT_ROW(QLinearSigmoid, LOWERED(4, 5, lower_sigmoid, .param_size = 0)),
    MICROSOFT_ROW(QLinearWhere, LOWERED(9, 9, lower_where, .param_size = 0)),
};

OPERATOR_TABLE(qlinear_float_ops, rows);

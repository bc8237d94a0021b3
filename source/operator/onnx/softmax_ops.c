// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax along one axis.
#include "operator/infer.h"
#include "operator/onnx/legacy.h"
#include "operator/onnx/softmax_param.h"
#include "operator/param.h"
#include "operator/row.h"
#include "tengine/device.h"

static int infer_softmax(struct node* node)
{
    const struct softmax_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    return set_node_output_like(node, 0, input, -1);
}

// Puts a Flatten before the node and a Reshape to the old shape after it. Simplification removes
// both if the input has two dimensions.
static int surround_with_flatten(struct graph* graph, struct node* node, int axis)
{
    struct tensor* input = get_ir_node_input(node, 0);
    struct tensor* output = get_ir_node_output(node, 0);
    struct node* shape = append_lowered_node(graph, node, "Shape", &input, 1);
    struct node* flatten = append_lowered_node(graph, node, "Flatten", &input, 1);
    struct tensor* flat = create_ir_tensor(graph, NULL, input->data_type);
    if (!shape || !flatten || !flat) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_node_int(flatten, "axis", axis));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, 0, get_ir_node_output(flatten, 0)));
    TENGINE_RETURN_IF_ERROR(set_ir_node_output_tensor(node, 0, flat));
    struct node* reshape = create_op_node(graph, NULL, "Reshape", node->name);
    if (!reshape) return tengine_error_code();
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(reshape, 0, flat));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(reshape, 1, get_ir_node_output(shape, 0)));
    TENGINE_RETURN_IF_ERROR(set_node_int(reshape, "allowzero", 1));
    return set_ir_node_output_tensor(reshape, 0, output);
}

// Before opset 13 the input counted as a matrix: dimensions before `axis` by those from it on. At
// the last axis the results are equal.
static int lower_softmax(struct graph* graph, struct node* node)
{
    const int axis = ((const struct softmax_param*)node->op.param_mem)->axis;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    if (!input || !output) {
        return fail_node(node, TENGINE_EGRAPH, "the input or the output is not connected");
    }
    const bool is_last = axis == -1 || (input->shape_set && axis == input->dim_num - 1);
    if (!is_last) TENGINE_RETURN_IF_ERROR(surround_with_flatten(graph, node, axis));
    TENGINE_RETURN_IF_ERROR(change_node_method(node, get_ir_node_op(node)));
    return set_node_int(node, "axis", -1);
}

static const op_field_t softmax_fields[] = {
    OP_FIELD(struct softmax_param, INT, axis, .number = -1),
};
static const op_field_t legacy_fields[] = {
    OP_FIELD(struct softmax_param, INT, axis, .number = 1),
};

#define SOFTMAX(...)                                                  \
    .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, \
    .param_size = sizeof(struct softmax_param), __VA_ARGS__
#define NEW SOFTMAX(.version = 13, OP_FIELDS(softmax_fields), .infer_shape = infer_softmax)
#define LEGACY                                                                        \
    SOFTMAX(.version = 1, .until = 12, OP_FIELDS(legacy_fields), .traits = OP_LEGACY, \
            .lower = lower_softmax)

static const ir_method_t* const rows[] = {
    OP_ROW(Hardmax, LEGACY), OP_ROW(Hardmax, NEW),    OP_ROW(LogSoftmax, LEGACY),
    OP_ROW(LogSoftmax, NEW), OP_ROW(Softmax, LEGACY), OP_ROW(Softmax, NEW),
};

OPERATOR_TABLE(softmax_ops, rows);

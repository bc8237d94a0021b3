// SPDX-License-Identifier: Apache-2.0
// Tengine's Softmax and LogSoftmax, along one axis as ONNX's are today.
#include "operator/row.h"
#include "operator/tengine/operand.h"

struct tm_softmax_param
{
    int axis;
};

static const op_field_t softmax_fields[] = {
    TM_FIELD(struct tm_softmax_param, INT, axis, WORD, 0, .number = 1),
};

static const op_field_t log_softmax_fields[] = {
    TM_FIELD(struct tm_softmax_param, INT, axis, WORD, 0, .number = 0),
};

static int lower_to(struct graph* graph, struct node* node, const char* op)
{
    const struct tm_softmax_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, op, 1, input);
    emit_attr_int(&emit, "axis", axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_softmax(struct graph* graph, struct node* node)
{
    return lower_to(graph, node, "Softmax");
}

static int lower_log_softmax(struct graph* graph, struct node* node)
{
    return lower_to(graph, node, "LogSoftmax");
}

static int raise_to(struct graph* graph, struct node* node, const char* op)
{
    struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, get_ir_node_int(node, "axis", -1), input->dim_num, &axis));
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, op, 1, input);
    emit_attr_int(&emit, "axis", axis);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_softmax(struct graph* graph, struct node* node)
{
    return raise_to(graph, node, "tengine.Softmax");
}

static int raise_log_softmax(struct graph* graph, struct node* node)
{
    return raise_to(graph, node, "tengine.LogSoftmax");
}

#define SOFTMAX_ROW(op_fields, lower_function, onnx_name, raise_function)                        \
    .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, OP_FIELDS(op_fields),      \
    .param_size = sizeof(struct tm_softmax_param), .traits = OP_LEGACY, .lower = lower_function, \
    RAISED(onnx_name, raise_function)

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Softmax, 72, 28, 4,
                SOFTMAX_ROW(softmax_fields, lower_softmax, "Softmax", raise_softmax)),
    TENGINE_ROW(
        LogSoftmax, 90, 99, 4,
        SOFTMAX_ROW(log_softmax_fields, lower_log_softmax, "LogSoftmax", raise_log_softmax)),
};

OPERATOR_TABLE(tengine_softmax_ops, rows);

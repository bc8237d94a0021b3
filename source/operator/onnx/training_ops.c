// SPDX-License-Identifier: Apache-2.0
// Steps of training: Adagrad, Adam and Momentum of ai.onnx.preview.training. Parameters are in
// training_param.h. Inputs are the rate R, the number T of steps so far and, grouped by kind, the
// optimised tensors, their gradients and their states; outputs are new tensors, then new states.
#include "operator/infer.h"
#include "operator/onnx/other_domains.h"
#include "operator/onnx/training_param.h"
#include "operator/type_set.h"

enum
{
    FIRST_TENSOR = 2  // index of an input
};

static int require_scalar(const struct node* node, int index, const char* name)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (tensor->elem_num == 1) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s has %lld elements, expected 1", name,
                     (long long)tensor->elem_num);
}

static bool has_shape_of(const struct tensor* a, const struct tensor* b)
{
    bool same = a->dim_num == b->dim_num && a->data_type == b->data_type;
    for (int i = 0; same && i < a->dim_num; ++i)
        same = a->dims[i] == b->dims[i];
    return same;
}

// Infers a step with `kinds` kinds of tensors: X, G and the states.
static int infer_step(struct node* node, int kinds)
{
    const int number = (node->input_num - FIRST_TENSOR) / kinds;
    if (number * kinds != node->input_num - FIRST_TENSOR || node->output_num > number * (kinds - 1))
        return fail_node(node, TENGINE_EINVAL,
                         "%d inputs and %d outputs, expected 2 + %d n and %d n", node->input_num,
                         node->output_num, kinds, kinds - 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(FP32) | TYPE_BIT(FP64)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(INT64)));
    TENGINE_RETURN_IF_ERROR(require_scalar(node, 0, "the learning rate"));
    TENGINE_RETURN_IF_ERROR(require_scalar(node, 1, "the number of steps"));
    for (int i = 0; i < number * kinds; ++i) {
        const int first = FIRST_TENSOR + i % number;
        const struct tensor* like = get_ir_node_input(node, first);
        const struct tensor* tensor = get_ir_node_input(node, FIRST_TENSOR + i);
        if (!like || !tensor)
            return fail_node(node, TENGINE_EINVAL, "input %d is missing",
                             like ? FIRST_TENSOR + i : first);
        TENGINE_RETURN_IF_ERROR(
            require_type(node, FIRST_TENSOR + i, TYPE_BIT(FP32) | TYPE_BIT(FP64)));
        if (!has_shape_of(tensor, like))
            return fail_node(node, TENGINE_EINVAL,
                             "type and shape of input %d differ from those of input %d",
                             FIRST_TENSOR + i, first);
        const int output = i < number ? i : i - number;
        if (i < number || i >= 2 * number)
            TENGINE_RETURN_IF_ERROR(set_node_output_like(node, output, like, -1));
    }
    return TENGINE_OK;
}

static int infer_one_state(struct node* node)
{
    return infer_step(node, 3);
}

static int infer_two_states(struct node* node)
{
    return infer_step(node, 4);
}

static const op_field_t adagrad_fields[] = {
    OP_FIELD(struct training_param, FLOAT, decay_factor, .number = 0),
    OP_FIELD(struct training_param, FLOAT, epsilon, .number = 0),
    OP_FIELD(struct training_param, FLOAT, norm_coefficient, .number = 0),
};

static const op_field_t adam_fields[] = {
    OP_FIELD(struct training_param, FLOAT, alpha, .number = 0.9f),
    OP_FIELD(struct training_param, FLOAT, beta, .number = 0.999f),
    OP_FIELD(struct training_param, FLOAT, epsilon, .number = 0),
    OP_FIELD(struct training_param, FLOAT, norm_coefficient, .number = 0),
    OP_FIELD(struct training_param, FLOAT, norm_coefficient_post, .number = 0),
};

static const op_field_t momentum_fields[] = {
    OP_FIELD(struct training_param, FLOAT, alpha, .required = 1),
    OP_FIELD(struct training_param, FLOAT, beta, .required = 1),
    OP_FIELD(struct training_param, STRING, mode, .required = 1, .choices = "standard|nesterov"),
    OP_FIELD(struct training_param, FLOAT, norm_coefficient, .required = 1),
};

#define STEP_ROW(least_inputs, field_table, infer)                                         \
    .version = 1, .until = 1, .min_input = least_inputs, .max_input = -1, .min_output = 1, \
    .max_output = -1, OP_FIELDS(field_table), .param_size = sizeof(struct training_param), \
    .infer_shape = infer, .types = "2"

static const ir_method_t* const rows[] = {
    TRAINING_ROW(Adagrad, STEP_ROW(5, adagrad_fields, infer_one_state)),
    TRAINING_ROW(Adam, STEP_ROW(6, adam_fields, infer_two_states)),
    TRAINING_ROW(Momentum, STEP_ROW(5, momentum_fields, infer_one_state)),
};

OPERATOR_TABLE(training_ops, rows);

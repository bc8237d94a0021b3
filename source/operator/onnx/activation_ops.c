// SPDX-License-Identifier: Apache-2.0
// Activation functions with parameters. Those without are in unary_ops.c.
#include <float.h>

#include "operator/infer.h"
#include "operator/onnx/activation_param.h"
#include "operator/onnx/legacy.h"
#include "operator/operator.h"
#include "operator/row.h"

#define ACTIVATION(first_opset, type, fields)                                                 \
    .version = first_opset, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, \
    .param_size = sizeof(struct type), OP_FIELDS(fields)

static const op_field_t leaky_relu_fields[] = {
    OP_FIELD(struct alpha_param, FLOAT, alpha, .number = 0.01),
};
// Fields of Elu, Celu, Swish, ThresholdedRelu.
static const op_field_t alpha_fields[] = {
    OP_FIELD(struct alpha_param, FLOAT, alpha, .number = 1),
};
static const op_field_t selu_fields[] = {
    OP_FIELD(struct selu_param, FLOAT, alpha, .number = 1.67326319217681884765625),
    OP_FIELD(struct selu_param, FLOAT, gamma, .number = 1.05070102214813232421875),
};
static const op_field_t hard_sigmoid_fields[] = {
    OP_FIELD(struct hard_sigmoid_param, FLOAT, alpha, .number = 0.2),
    OP_FIELD(struct hard_sigmoid_param, FLOAT, beta, .number = 0.5),
};
static const op_field_t shrink_fields[] = {
    OP_FIELD(struct shrink_param, FLOAT, bias, .number = 0),
    OP_FIELD(struct shrink_param, FLOAT, lambd, .number = 0.5),
};
static const op_field_t gelu_fields[] = {
    OP_FIELD(struct gelu_param, STRING, approximate, .text = "none", .choices = "none|tanh"),
};
static const op_field_t clip_fields[] = {
    OP_FIELD(struct clip_param, FLOAT, min, .number = -FLT_MAX, .until = 10,
             .moved_as = OP_MOVED_LIKE_INPUT, .moved_input = 1),
    OP_FIELD(struct clip_param, FLOAT, max, .number = FLT_MAX, .until = 10,
             .moved_as = OP_MOVED_LIKE_INPUT, .moved_input = 2),
};

static int infer_clip(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 2));
    for (int i = 1; i <= 2; ++i) {
        const struct tensor* bound = get_ir_node_input(node, i);
        if (bound && bound->elem_num != 1) {
            return fail_node(node, TENGINE_EINVAL, "%s has %lld elements, expected a scalar",
                             i == 1 ? "min" : "max", (long long)bound->elem_num);
        }
    }
    return set_node_output_like(node, 0, input, -1);
}

static int infer_prelu(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num = input->dim_num;
    bool fits = true;
    for (int i = 0; i < dim_num; ++i)
        dims[i] = input->dims[i];
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 1));
    TENGINE_RETURN_IF_ERROR(broadcast_with(node, dims, &dim_num, get_ir_node_input(node, 1)));
    fits = dim_num == input->dim_num;
    for (int i = 0; fits && i < dim_num; ++i)
        fits = dims[i] == input->dims[i];
    if (!fits) return fail_node(node, TENGINE_EINVAL, "slope does not broadcast to the input");
    return set_node_output_like(node, 0, input, -1);
}

// Before opset 7 a slope of more than one element belonged to the channels, dimension 1: gives it
// their shape.
static int lower_prelu(struct graph* graph, struct node* node)
{
    const struct tensor* slope = get_ir_node_input(node, 1);
    const bool shared = slope && slope->shape_set && slope->elem_num == 1;
    if (!shared) TENGINE_RETURN_IF_ERROR(align_second_input(graph, node, 1));
    return change_node_method(node, "PRelu");
}

static const ir_method_t* const rows[] = {
    OP_ROW(Celu, ACTIVATION(12, alpha_param, alpha_fields)),
    OP_ROW(Elu, ACTIVATION(6, alpha_param, alpha_fields)),
    OP_ROW(Gelu, ACTIVATION(20, gelu_param, gelu_fields)),
    OP_ROW(HardSigmoid, ACTIVATION(6, hard_sigmoid_param, hard_sigmoid_fields)),
    OP_ROW(LeakyRelu, ACTIVATION(6, alpha_param, leaky_relu_fields)),
    OP_ROW(Selu, ACTIVATION(6, selu_param, selu_fields)),
    OP_ROW(Shrink, ACTIVATION(9, shrink_param, shrink_fields)),
    OP_ROW(Swish, ACTIVATION(24, alpha_param, alpha_fields)),
    OP_ROW(ThresholdedRelu, ACTIVATION(10, alpha_param, alpha_fields)),
    OP_ROW(Clip, .version = 6, .min_input = 1, .max_input = 3, .min_output = 1, .max_output = 1,
           .param_size = sizeof(struct clip_param), OP_FIELDS(clip_fields),
           .infer_shape = infer_clip),
    OP_ROW(PRelu, .version = 6, .until = 6, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, .traits = OP_LEGACY, .lower = lower_prelu),
    OP_ROW(PRelu, .version = 7, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           .infer_shape = infer_prelu),
};

OPERATOR_TABLE(activation_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's activations and normalisations over the last axis.
#include "operator/tengine/operand.h"
#include "operator/tflite/lower.h"

struct tfl_leaky_relu_param
{
    float alpha;
};

struct tfl_gelu_param
{
    int approximate;
};

struct tfl_softmax_param
{
    float beta;
};

static const op_field_t leaky_relu_fields[] = {
    TFL_FIELD(struct tfl_leaky_relu_param, FLOAT, alpha, WORD, 0),
};

static const op_field_t gelu_fields[] = {
    TFL_BOOL(struct tfl_gelu_param, approximate, 0),
};

static const op_field_t softmax_fields[] = {
    TFL_FIELD(struct tfl_softmax_param, FLOAT, beta, WORD, 0),
};

static const op_field_t l2_norm_fields[] = {
    TFL_ACTIVATION(struct tfl_activation_param, 0),
};

TFL_LOWER_AS(lower_relu, "Relu")
TFL_LOWER_AS(lower_tanh, "Tanh")
TFL_LOWER_AS(lower_logistic, "Sigmoid")
TFL_LOWER_AS(lower_elu, "Elu")
TFL_LOWER_AS(lower_hard_swish, "HardSwish")
TFL_LOWER_AS(lower_leaky_relu, "LeakyRelu")
TFL_LOWER_AS(lower_prelu, "PRelu")
TFL_LOWER_AS(lower_log_softmax, "LogSoftmax")

static int lower_clip(struct graph* graph, struct node* node, float minimum, float maximum)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_clip(&emit, get_operand(&emit, 0), minimum, maximum));
}

static int lower_relu6(struct graph* graph, struct node* node)
{
    return lower_clip(graph, node, 0, 6);
}

static int lower_relu_n1_to_1(struct graph* graph, struct node* node)
{
    return lower_clip(graph, node, -1, 1);
}

static int lower_relu_0_to_1(struct graph* graph, struct node* node)
{
    return lower_clip(graph, node, 0, 1);
}

static int lower_gelu(struct graph* graph, struct node* node)
{
    const struct tfl_gelu_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Gelu", 1, get_operand(&emit, 0));
    emit_attr_text(&emit, "approximate", param->approximate ? "tanh" : "none");
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_softmax(struct graph* graph, struct node* node)
{
    const struct tfl_softmax_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    if (param->beta != 1)
        input = emit_op(&emit, "Mul", 2, input, emit_number(&emit, param->beta, input));
    begin_op(&emit, "Softmax", 1, input);
    emit_attr_int(&emit, "axis", -1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// The smallest length that a vector is divided by.
#define LEAST_LENGTH 1e-6f

static int lower_l2_norm(struct graph* graph, struct node* node)
{
    const struct tfl_activation_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    struct tensor* length =
        emit_op(&emit, "ReduceL2", 2, input, emit_ints(&emit, (const int64_t[]){-1}, 1));
    length = emit_op(&emit, "Max", 2, length, emit_number(&emit, LEAST_LENGTH, input));
    struct tensor* result = emit_op(&emit, "Div", 2, input, length);
    return finish_emitting(&emit, 1, emit_activation(&emit, param->activation, result));
}

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(RELU, 19, TFL_COUNTS(1, 1, 1), .lower = lower_relu),
    SHAPELESS_ROW(RELU_N1_TO_1, 20, TFL_COUNTS(1, 1, 1), .lower = lower_relu_n1_to_1),
    SHAPELESS_ROW(RELU6, 21, TFL_COUNTS(1, 1, 1), .lower = lower_relu6),
    SHAPELESS_ROW(RELU_0_TO_1, 152, TFL_COUNTS(1, 1, 1), .lower = lower_relu_0_to_1),
    SHAPELESS_ROW(TANH, 28, TFL_COUNTS(1, 1, 1), .lower = lower_tanh),
    SHAPELESS_ROW(LOGISTIC, 14, TFL_COUNTS(1, 1, 1), .lower = lower_logistic),
    SHAPELESS_ROW(ELU, 111, TFL_COUNTS(1, 1, 1), .lower = lower_elu),
    SHAPELESS_ROW(HARD_SWISH, 117, TFL_COUNTS(1, 1, 1), .lower = lower_hard_swish),
    SHAPELESS_ROW(LEAKY_RELU, 98, TFL_COUNTS(1, 1, 1), OP_FIELDS(leaky_relu_fields),
                  .param_size = sizeof(struct tfl_leaky_relu_param), .lower = lower_leaky_relu),
    SHAPELESS_ROW(PRELU, 54, TFL_COUNTS(2, 2, 1), .lower = lower_prelu),
    SHAPELESS_ROW(GELU, 150, TFL_COUNTS(1, 1, 1), OP_FIELDS(gelu_fields),
                  .param_size = sizeof(struct tfl_gelu_param), .lower = lower_gelu),
    SHAPELESS_ROW(SOFTMAX, 25, TFL_COUNTS(1, 1, 1), OP_FIELDS(softmax_fields),
                  .param_size = sizeof(struct tfl_softmax_param), .lower = lower_softmax),
    SHAPELESS_ROW(LOG_SOFTMAX, 50, TFL_COUNTS(1, 1, 1), .lower = lower_log_softmax),
    SHAPELESS_ROW(L2_NORMALIZATION, 11, TFL_COUNTS(1, 1, 1), OP_FIELDS(l2_norm_fields),
                  .param_size = sizeof(struct tfl_activation_param), .lower = lower_l2_norm),
};

OPERATOR_TABLE(tflite_activation_ops, rows);

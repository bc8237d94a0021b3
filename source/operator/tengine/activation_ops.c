// SPDX-License-Identifier: Apache-2.0
// Tengine's activations.
#include <string.h>

#include "operator/tengine/emit.h"
#include "operator/tengine/raise.h"

struct tm_relu_param
{
    float negative_slope;
};

struct tm_selu_param
{
    float alpha;
    float lambda;
};

static const op_field_t relu_fields[] = {
    TM_FIELD(struct tm_relu_param, FLOAT, negative_slope, WORD, 0, .number = 0),
};

static const op_field_t selu_fields[] = {
    TM_FIELD(struct tm_selu_param, FLOAT, alpha, WORD, 0, .number = 1.67326319f),
    TM_FIELD(struct tm_selu_param, FLOAT, lambda, WORD, 4, .number = 1.05070102f),
};

static int lower_relu(struct graph* graph, struct node* node)
{
    const struct tm_relu_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    if (param->negative_slope == 0)
        return finish_emitting(&emit, 1, emit_op(&emit, "Relu", 1, input));
    begin_op(&emit, "LeakyRelu", 1, input);
    emit_attr_float(&emit, "alpha", param->negative_slope);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_relu(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.ReLU", 1, get_ir_node_input(node, 0));
    emit_attr_float(&emit, "negative_slope",
                    strcmp(get_ir_node_op(node), "LeakyRelu") == 0
                        ? get_ir_node_float(node, "alpha", 0.01f)
                        : 0);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_relu6(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Clip", 3, get_ir_node_input(node, 0),
                                   emit_float(&emit, 0), emit_float(&emit, 6)));
}

// Clip to 0..6; other bounds are Tengine's Clip.
static int raise_relu6(struct graph* graph, struct node* node)
{
    float minimum, maximum;
    if (!read_raised_float(node, 1, &minimum) || !read_raised_float(node, 2, &maximum) ||
        minimum != 0 || maximum != 6)
        return refuse_raising(node, "its bounds are not 0 and 6");
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "tengine.ReLU6", 1, get_ir_node_input(node, 0)));
}

static int lower_selu(struct graph* graph, struct node* node)
{
    const struct tm_selu_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Selu", 1, get_ir_node_input(node, 0));
    emit_attr_float(&emit, "alpha", param->alpha);
    emit_attr_float(&emit, "gamma", param->lambda);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_selu(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Selu", 1, get_ir_node_input(node, 0));
    emit_attr_float(&emit, "alpha", get_ir_node_float(node, "alpha", 1.67326319f));
    emit_attr_float(&emit, "lambda", get_ir_node_float(node, "gamma", 1.05070102f));
    return finish_emitting(&emit, 1, end_op(&emit));
}

#define ONE_TO_ONE .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t rows[] = {
    {TENGINE_RECORD(56, 20, 4), .name = "ReLU", ONE_TO_ONE, OP_FIELDS(relu_fields),
     .param_size = sizeof(struct tm_relu_param), .lower = lower_relu,
     .raised_from = "Relu|LeakyRelu", .raise = raise_relu},
    {TENGINE_RECORD(57, 21, 0), .name = "ReLU6", ONE_TO_ONE, .lower = lower_relu6,
     .raised_from = "Clip", .raise = raise_relu6},
    {TENGINE_RECORD(68, 72, 8), .name = "Selu", ONE_TO_ONE, OP_FIELDS(selu_fields),
     .param_size = sizeof(struct tm_selu_param), .lower = lower_selu, .raised_from = "Selu",
     .raise = raise_selu},
};

OPERATOR_TABLE(tengine_activation_ops, rows);

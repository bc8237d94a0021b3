// SPDX-License-Identifier: Apache-2.0
// Tengine's activations.
#include <float.h>
#include <math.h>
#include <string.h>

#include "operator/row.h"
#include "operator/tengine/emit.h"
#include "operator/tengine/function.h"
#include "operator/tengine/operand.h"
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

// Hardsigmoid, Hardswish.
struct tm_hard_param
{
    float alpha;
    float beta;
};

struct tm_elu_param
{
    float alpha;
};

struct tm_clip_param
{
    float max;
    float min;
};

struct tm_threshold_param
{
    float threshold;
};

static const op_field_t relu_fields[] = {
    TM_FIELD(struct tm_relu_param, FLOAT, negative_slope, WORD, 0, .number = 0),
};

static const op_field_t selu_fields[] = {
    TM_FIELD(struct tm_selu_param, FLOAT, alpha, WORD, 0, .number = 1.67326319f),
    TM_FIELD(struct tm_selu_param, FLOAT, lambda, WORD, 4, .number = 1.05070102f),
};

static const op_field_t hard_sigmoid_fields[] = {
    TM_FIELD(struct tm_hard_param, FLOAT, alpha, WORD, 0, .number = 0),
    TM_FIELD(struct tm_hard_param, FLOAT, beta, WORD, 4, .number = 0),
};

static const op_field_t hard_swish_fields[] = {
    TM_FIELD(struct tm_hard_param, FLOAT, alpha, WORD, 0, .number = 1),
    TM_FIELD(struct tm_hard_param, FLOAT, beta, WORD, 4, .number = 0),
};

static const op_field_t elu_fields[] = {
    TM_FIELD(struct tm_elu_param, FLOAT, alpha, WORD, 0, .number = 1),
};

static const op_field_t clip_fields[] = {
    TM_FIELD(struct tm_clip_param, FLOAT, max, WORD, 0, .number = FLT_MAX),
    TM_FIELD(struct tm_clip_param, FLOAT, min, WORD, 4, .number = -FLT_MAX),
};

static const op_field_t threshold_fields[] = {
    TM_FIELD(struct tm_threshold_param, FLOAT, threshold, WORD, 0, .number = 0),
};

// ---- the same operator in ONNX ----

static int lower_logistic(struct graph* graph, struct node* node)
{
    return rewrite_as(graph, node, "Sigmoid");
}

static int lower_absval(struct graph* graph, struct node* node)
{
    return rewrite_as(graph, node, "Abs");
}

static int lower_gelu(struct graph* graph, struct node* node)
{
    return rewrite_as(graph, node, "Gelu");
}

static int raise_gelu(struct graph* graph, struct node* node)
{
    const char* approximate = get_ir_node_text(node, "approximate", "none");
    if (strcmp(approximate, "none") != 0)
        return refuse_raising(node, "it is approximated by %s, Tengine's Gelu uses erf",
                              approximate);
    return rewrite_as(graph, node, "tengine.Gelu");
}

// ---- one or two parameters under other names ----

// Turns the node into `op` of input 0 with two attributes; the second may be absent (NULL).
static int rewrite_with(struct graph* graph, struct node* node, const char* op, const char* first,
                        float first_value, const char* second, float second_value)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, op, 1, get_ir_node_input(node, 0));
    emit_attr_float(&emit, first, first_value);
    if (second) emit_attr_float(&emit, second, second_value);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_relu(struct graph* graph, struct node* node)
{
    const struct tm_relu_param* param = node->op.param_mem;
    if (param->negative_slope == 0) return rewrite_as(graph, node, "Relu");
    return rewrite_with(graph, node, "LeakyRelu", "alpha", param->negative_slope, NULL, 0);
}

static int raise_relu(struct graph* graph, struct node* node)
{
    if (!has_tengine_type(node)) return OP_NOT_RAISED;
    const bool leaky = strcmp(get_ir_node_op(node), "LeakyRelu") == 0;
    return rewrite_with(graph, node, "tengine.ReLU", "negative_slope",
                        leaky ? get_ir_node_float(node, "alpha", 0.01f) : 0, NULL, 0);
}

static int lower_selu(struct graph* graph, struct node* node)
{
    const struct tm_selu_param* param = node->op.param_mem;
    return rewrite_with(graph, node, "Selu", "alpha", param->alpha, "gamma", param->lambda);
}

static int raise_selu(struct graph* graph, struct node* node)
{
    return rewrite_with(graph, node, "tengine.Selu", "alpha",
                        get_ir_node_float(node, "alpha", 1.67326319f), "lambda",
                        get_ir_node_float(node, "gamma", 1.05070102f));
}

// ---- bounds ----

static int lower_to_clip(struct graph* graph, struct node* node, float minimum, float maximum)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_clip(&emit, get_ir_node_input(node, 0), minimum, maximum));
}

static int lower_relu1(struct graph* graph, struct node* node)
{
    return lower_to_clip(graph, node, -1, 1);
}

static int lower_relu6(struct graph* graph, struct node* node)
{
    return lower_to_clip(graph, node, 0, 6);
}

static int lower_clip(struct graph* graph, struct node* node)
{
    const struct tm_clip_param* param = node->op.param_mem;
    return lower_to_clip(graph, node, param->min, param->max);
}

static bool read_bound(const struct node* node, int index, float unbounded, float* out_bound)
{
    *out_bound = unbounded;
    return !get_ir_node_input(node, index) || read_raised_float(node, index, out_bound);
}

static int raise_clip(struct graph* graph, struct node* node)
{
    float minimum, maximum;
    if (!read_bound(node, 1, -INFINITY, &minimum) || !read_bound(node, 2, INFINITY, &maximum))
        return refuse_raising(node, "a bound is not a constant float, as Tengine's Clip needs it");
    const bool relu1 = minimum == -1 && maximum == 1;
    if (!relu1 && !(minimum == 0 && maximum == 6))
        return rewrite_with(graph, node, "tengine.Clip", "max", maximum, "min", minimum);
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(
        &emit, 1,
        emit_op(&emit, relu1 ? "tengine.ReLU1" : "tengine.ReLU6", 1, get_ir_node_input(node, 0)));
}

// Lowers to 1 where the input is above the threshold, else 0.
static int lower_threshold(struct graph* graph, struct node* node)
{
    const struct tm_threshold_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* above =
        emit_op(&emit, "Greater", 2, input, emit_number(&emit, param->threshold, input));
    return finish_emitting(&emit, 1, emit_cast(&emit, above, input->data_type));
}

// ---- PReLU ----

// Returns the dimension of an input that has one slope for each channel.
static int find_channel_axis(const struct tensor* input)
{
    return input->dim_num > 1 ? 1 : 0;
}

static int lower_prelu(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* slope = get_ir_node_input(node, 1);
    const int axis = find_channel_axis(input);
    const int channels = input->dim_num > 0 ? input->dims[axis] : 1;
    if (slope->elem_num != 1 && slope->elem_num != channels)
        return fail_node(node, TENGINE_EINVAL,
                         "%lld slopes for %d channels, expected one, or one for each",
                         (long long)slope->elem_num, channels);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i == axis ? slope->elem_num : 1;
    emitter_t emit = start_emitting(graph, node);
    // Quantised models have slopes of fp16, which are cast to the input's type.
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "PRelu", 2, get_ir_node_input(node, 0),
                                   emit_operand(&emit, 1, "slope", dims, input->dim_num)));
}

// Whether the slope, aligned with the input's last dimensions, differs along channels only.
static bool is_slope_per_channel(const struct tensor* input, const struct tensor* slope)
{
    const int shift = input->dim_num - slope->dim_num;
    for (int i = 0; i < slope->dim_num; ++i)
        if (slope->dims[i] != 1 && i + shift != find_channel_axis(input)) return false;
    return true;
}

static int raise_prelu(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* slope = get_ir_node_input(node, 1);
    char text[RAISED_SHAPE_SIZE];
    if (!is_slope_per_channel(input, slope))
        return refuse_raising(node, "its slopes of shape %s are not one for each channel",
                              print_raised_shape(slope, text));
    if (input->dim_num < 2 || input->dim_num > 4)
        return refuse_raising(node, "its input has %d dimensions, Tengine's PReLU takes 2 to 4",
                              input->dim_num);
    return rewrite_as(graph, node, "tengine.PReLU");
}

#define PLAIN(num) \
    .min_input = num, .max_input = num, .min_output = 1, .max_output = 1, .traits = OP_LEGACY
#define WITH(type, fields) PLAIN(1), OP_FIELDS(fields), .param_size = sizeof(struct type)

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Absval, 1, 68, 0, PLAIN(1), .lower = lower_absval),
    TENGINE_ROW(Clip, 11, 87, 8, WITH(tm_clip_param, clip_fields), .lower = lower_clip,
                RAISED("Clip", raise_clip)),
    TENGINE_ROW(Elu, 23, 73, 4, WITH(tm_elu_param, elu_fields), RENAMED("Elu")),
    TENGINE_ROW(HardSigmoid, 31, 64, 8, WITH(tm_hard_param, hard_sigmoid_fields),
                RENAMED("HardSigmoid")),
    // Hardswish is x * clip(x + 3, 0, 6) / 6, whatever its parameters are.
    TENGINE_ROW(Hardswish, 32, 70, 8, WITH(tm_hard_param, hard_swish_fields), RENAMED("HardSwish")),
    TENGINE_ROW(Logistic, 37, 33, 0, PLAIN(1), .lower = lower_logistic),
    TENGINE_ROW(PReLU, 50, 17, 0, PLAIN(2), .lower = lower_prelu, RAISED("PRelu", raise_prelu)),
    TENGINE_ROW(ReLU, 56, 20, 4, WITH(tm_relu_param, relu_fields), .lower = lower_relu,
                RAISED("Relu|LeakyRelu", raise_relu)),
    TENGINE_ROW(ReLU6, 57, 21, 0, PLAIN(1), .lower = lower_relu6),
    TENGINE_ROW(Selu, 68, 72, 8, WITH(tm_selu_param, selu_fields), .lower = lower_selu,
                RAISED("Selu", raise_selu)),
    TENGINE_ROW(Sigmoid, 70, 37, 0, PLAIN(1), RENAMED("Sigmoid")),
    TENGINE_ROW(Tanh, 81, 36, 0, PLAIN(1), RENAMED("Tanh")),
    TENGINE_ROW(Threshold, 82, 63, 4, WITH(tm_threshold_param, threshold_fields),
                .lower = lower_threshold),
    TENGINE_ROW(Mish, 89, 97, 0, PLAIN(1), RENAMED("Mish")),
    TENGINE_ROW(ReLU1, 91, 100, 0, PLAIN(1), .lower = lower_relu1),
    TENGINE_ROW(Softplus, 98, 102, 0, PLAIN(1), RENAMED("Softplus")),
    TENGINE_ROW(Gelu, 102, 106, 0, PLAIN(1), .lower = lower_gelu, RAISED("Gelu", raise_gelu)),
};

OPERATOR_TABLE(tengine_activation_ops, rows);

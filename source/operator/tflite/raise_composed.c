// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX's that become others of ONNX's: TensorFlow Lite has none for them.
#include <math.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/tengine/emit.h"
#include "operator/tflite/raise.h"

// ---- normalisations ----

static struct tensor* emit_mean(emitter_t* emit, struct tensor* input, const int64_t axes[],
                                int number)
{
    begin_op(emit, "ReduceMean", 2, input, emit_ints(emit, axes, number));
    emit_attr_int(emit, "keepdims", 1);
    return end_op(emit);
}

// (x - mean) / sqrt(variance + epsilon) along the axes; `centred` false: x / sqrt(mean square).
// `out_parts`: the mean, if the values are centred, and the deviation.
static struct tensor* emit_normalised(emitter_t* emit, struct tensor* input, const int64_t axes[],
                                      int number, bool centred, struct tensor* out_parts[2])
{
    const float epsilon = get_ir_node_float(emit->origin, "epsilon", 1e-5f);
    struct tensor* part = input;
    out_parts[0] = centred ? emit_mean(emit, input, axes, number) : NULL;
    if (centred) part = emit_op(emit, "Sub", 2, input, out_parts[0]);
    struct tensor* square = emit_mean(emit, emit_op(emit, "Mul", 2, part, part), axes, number);
    out_parts[1] =
        emit_op(emit, "Sqrt", 1, emit_op(emit, "Add", 2, square, emit_float(emit, epsilon)));
    return emit_op(emit, "Div", 2, part, out_parts[1]);
}

// Multiplies by `scale` and adds `bias`, either of which may be absent.
static struct tensor* emit_scaled(emitter_t* emit, struct tensor* value, struct tensor* scale,
                                  struct tensor* bias)
{
    if (scale) value = emit_op(emit, "Mul", 2, value, scale);
    return bias ? emit_op(emit, "Add", 2, value, bias) : value;
}

static int compose_layer_norm(struct graph* graph, struct node* node)
{
    const bool centred = strcmp(get_ir_node_op(node), "LayerNormalization") == 0;
    struct tensor* input = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM], axis = get_ir_node_int(node, "axis", -1);
    int number = 0;
    if (axis < 0) axis += input->dim_num;
    for (; axis < input->dim_num; ++axis)
        axes[number++] = axis;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* parts[2];
    struct tensor* results[3] = {emit_normalised(&emit, input, axes, number, centred, parts)};
    results[0] =
        emit_scaled(&emit, results[0], get_ir_node_input(node, 1), get_ir_node_input(node, 2));
    if (is_raised_output_read(node, 1)) results[1] = parts[0];
    if (is_raised_output_read(node, 2)) results[2] = emit_op(&emit, "Reciprocal", 1, parts[1]);
    return finish_emitting_list(&emit, results, node->output_num);
}

// A list of values of the channels, for tensors with these on axis 1.
static struct tensor* emit_channels(emitter_t* emit, struct tensor* list, int rank)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank - 1; ++i)
        dims[i] = i == 0 ? list->elem_num : 1;
    return emit_reshape(emit, list, dims, rank - 1);
}

static int compose_instance_norm(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    int64_t axes[MAX_SHAPE_DIM_NUM];
    for (int i = 2; i < rank; ++i)
        axes[i - 2] = i;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* scale = emit_channels(&emit, get_ir_node_input(node, 1), rank);
    struct tensor* bias = emit_channels(&emit, get_ir_node_input(node, 2), rank);
    struct tensor* parts[2];
    struct tensor* result = emit_normalised(&emit, input, axes, rank - 2, true, parts);
    return finish_emitting(&emit, 1, emit_scaled(&emit, result, scale, bias));
}

// A product and a sum, whose factors are computed from the constants once.
static int compose_batch_norm(struct graph* graph, struct node* node)
{
    struct tensor *scale = get_ir_node_input(node, 1), *bias = get_ir_node_input(node, 2);
    struct tensor *mean = get_ir_node_input(node, 3), *variance = get_ir_node_input(node, 4);
    const int rank = get_ir_node_input(node, 0)->dim_num, number = (int)scale->elem_num;
    struct tensor* const lists[] = {scale, bias, mean, variance};
    for (int i = 0; i < 4; ++i)
        if (lists[i]->tensor_type != TENSOR_TYPE_CONST || lists[i]->data_type != TENGINE_DT_FP32)
            return refuse_raising(node, "its input %d is not a constant of fp32", i + 1);
    if (node->output_num > 1 && get_ir_node_output(node, 1))
        return refuse_raising(node, "it trains");
    const float epsilon = get_ir_node_float(node, "epsilon", 1e-5f);
    emitter_t emit = start_emitting(graph, node);
    struct tensor *factors = emit_zeroes(&emit, number), *terms = emit_zeroes(&emit, number);
    for (int i = 0; emit.status == TENGINE_OK && i < number; ++i) {
        factors->f32[i] = scale->f32[i] / sqrtf(variance->f32[i] + epsilon);
        terms->f32[i] = bias->f32[i] - mean->f32[i] * factors->f32[i];
    }
    int dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank - 1; ++i)
        dims[i] = i == 0 ? number : 1;
    const int status = emit.status < 0 || set_ir_tensor_shape(factors, dims, rank - 1) < 0 ||
                               set_ir_tensor_shape(terms, dims, rank - 1) < 0
                           ? tengine_error_code()
                           : TENGINE_OK;
    if (status < 0) return status;
    return finish_emitting(&emit, 1,
                           emit_scaled(&emit, get_ir_node_input(node, 0), factors, terms));
}

// ---- functions of elements ----

static int compose_hard_sigmoid(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* line = emit_op(&emit, "Mul", 2, get_ir_node_input(node, 0),
                                  emit_float(&emit, get_ir_node_float(node, "alpha", 0.2f)));
    line = emit_op(&emit, "Add", 2, line, emit_float(&emit, get_ir_node_float(node, "beta", 0.5f)));
    return finish_emitting(
        &emit, 1, emit_op(&emit, "Clip", 3, line, emit_float(&emit, 0), emit_float(&emit, 1)));
}

static int compose_swish(struct graph* graph, struct node* node)
{
    const float alpha = get_ir_node_float(node, "alpha", 1);
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_ir_node_input(node, 0), *inner = input;
    if (alpha != 1) inner = emit_op(&emit, "Mul", 2, input, emit_float(&emit, alpha));
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Mul", 2, input, emit_op(&emit, "Sigmoid", 1, inner)));
}

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
static struct tensor* emit_softplus(emitter_t* emit, struct tensor* input)
{
    struct tensor* away = emit_op(emit, "Neg", 1, emit_op(emit, "Abs", 1, input));
    struct tensor* sum =
        emit_op(emit, "Add", 2, emit_op(emit, "Exp", 1, away), emit_float(emit, 1));
    return emit_op(emit, "Add", 2, emit_op(emit, "Relu", 1, input), emit_op(emit, "Log", 1, sum));
}

static int compose_softplus(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_softplus(&emit, get_ir_node_input(node, 0)));
}

static int compose_mish(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_ir_node_input(node, 0);
    struct tensor* gate = emit_op(&emit, "Tanh", 1, emit_softplus(&emit, input));
    return finish_emitting(&emit, 1, emit_op(&emit, "Mul", 2, input, gate));
}

// ---- reductions ----

// The function of the elements, the sum along the axes, and the function of the sum.
static int compose_reduction(struct graph* graph, struct node* node, const char* inner,
                             const char* outer)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_ir_node_input(node, 0), *axes = get_ir_node_input(node, 1);
    struct tensor* value =
        inner ? emit_op(&emit, inner, 1, input) : emit_op(&emit, "Mul", 2, input, input);
    begin_op(&emit, "ReduceSum", axes ? 2 : 1, value, axes);
    emit_attr_int(&emit, "keepdims", get_ir_node_int(node, "keepdims", 1));
    emit_attr_int(&emit, "noop_with_empty_axes", get_ir_node_int(node, "noop_with_empty_axes", 0));
    struct tensor* sum = end_op(&emit);
    return finish_emitting(&emit, 1, outer ? emit_op(&emit, outer, 1, sum) : sum);
}

static int compose_l1(struct graph* graph, struct node* node)
{
    return compose_reduction(graph, node, "Abs", NULL);
}

static int compose_l2(struct graph* graph, struct node* node)
{
    return compose_reduction(graph, node, NULL, "Sqrt");
}

static int compose_sum_square(struct graph* graph, struct node* node)
{
    return compose_reduction(graph, node, NULL, NULL);
}

static int compose_log_sum(struct graph* graph, struct node* node)
{
    return compose_reduction(graph, node, "Identity", "Log");
}

static const tfl_raising_t rows[] = {
    {"BatchNormalization", compose_batch_norm},
    {"HardSigmoid", compose_hard_sigmoid},
    {"InstanceNormalization", compose_instance_norm},
    {"LayerNormalization", compose_layer_norm},
    {"Mish", compose_mish},
    {"RMSNormalization", compose_layer_norm},
    {"ReduceL1", compose_l1},
    {"ReduceL2", compose_l2},
    {"ReduceLogSum", compose_log_sum},
    {"ReduceSumSquare", compose_sum_square},
    {"Softplus", compose_softplus},
    {"Swish", compose_swish},
};

TFL_RAISINGS(tfl_composed_raisings, rows);

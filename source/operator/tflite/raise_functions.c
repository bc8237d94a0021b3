// SPDX-License-Identifier: Apache-2.0
// Functions of single elements that TensorFlow Lite does not have, of those of ONNX that it has: a
// row that makes ONNX's operators leaves them to the rows of these.
#include <math.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx_type.h"
#include "operator/tengine/move.h"
#include "operator/tflite/raise.h"

typedef struct tensor* (*function_t)(emitter_t* emit, struct tensor* input);

static struct tensor* pair(emitter_t* emit, const char* op, struct tensor* first,
                           struct tensor* second)
{
    return emit_op(emit, op, 2, first, second);
}

static struct tensor* with(emitter_t* emit, const char* op, struct tensor* first, double number)
{
    return pair(emit, op, first, emit_float(emit, (float)number));
}

static struct tensor* of(emitter_t* emit, const char* op, struct tensor* input)
{
    return emit_op(emit, op, 1, input);
}

static int compose(struct graph* graph, struct node* node, function_t function)
{
    struct tensor* input = get_ir_node_input(node, 0);
    if (input->data_type != TENGINE_DT_FP32)
        return refuse_raising(node, "its input is %s, expected fp32",
                              get_data_type_name(input->data_type));
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, function(&emit, input));
}

#define COMPOSED(row, function)                            \
    static int row(struct graph* graph, struct node* node) \
    {                                                      \
        return compose(graph, node, function);             \
    }

// ---- angles ----

// The angle of a point, of the shape of the input.
static struct tensor* angle(emitter_t* emit, struct tensor* y, struct tensor* x)
{
    const struct tensor* input = get_ir_node_input(emit->origin, 0);
    begin_op(emit, "tflite.ATAN2", 2, y, x);
    return end_raised(emit, TENGINE_DT_FP32, input->dims, input->dim_num);
}

// sqrt((1 - x) (1 + x)), which is exact next to 1.
static struct tensor* other_leg(emitter_t* emit, struct tensor* x)
{
    struct tensor* below = pair(emit, "Sub", emit_float(emit, 1), x);
    return of(emit, "Sqrt", pair(emit, "Mul", below, with(emit, "Add", x, 1)));
}

static struct tensor* take_asin(emitter_t* emit, struct tensor* x)
{
    return angle(emit, x, other_leg(emit, x));
}

static struct tensor* take_acos(emitter_t* emit, struct tensor* x)
{
    return angle(emit, other_leg(emit, x), x);
}

static struct tensor* take_atan(emitter_t* emit, struct tensor* x)
{
    int64_t dims[MAX_SHAPE_DIM_NUM];
    struct tensor* shape = emit_ints(emit, dims, read_dims(x, dims));
    return angle(emit, x, pair(emit, "Expand", emit_float(emit, 1), shape));
}

static struct tensor* take_tan(emitter_t* emit, struct tensor* x)
{
    return pair(emit, "Div", of(emit, "Sin", x), of(emit, "Cos", x));
}

// ---- hyperbolic functions ----

// (e^x + sign e^-x) / 2
static struct tensor* half_sum(emitter_t* emit, struct tensor* x, const char* op)
{
    struct tensor* sum = pair(emit, op, of(emit, "Exp", x), of(emit, "Exp", of(emit, "Neg", x)));
    return with(emit, "Mul", sum, 0.5);
}

static struct tensor* take_cosh(emitter_t* emit, struct tensor* x)
{
    return half_sum(emit, x, "Add");
}

static struct tensor* take_sinh(emitter_t* emit, struct tensor* x)
{
    return half_sum(emit, x, "Sub");
}

// sign(x) log(|x| + sqrt(x^2 + 1)), which loses no digits below 0.
static struct tensor* take_asinh(emitter_t* emit, struct tensor* x)
{
    struct tensor* size = of(emit, "Abs", x);
    struct tensor* root = of(emit, "Sqrt", with(emit, "Add", pair(emit, "Mul", x, x), 1));
    struct tensor* value = of(emit, "Log", pair(emit, "Add", size, root));
    return pair(emit, "Mul", value, of(emit, "Sign", x));
}

static struct tensor* take_acosh(emitter_t* emit, struct tensor* x)
{
    struct tensor* root = of(emit, "Sqrt", with(emit, "Sub", pair(emit, "Mul", x, x), 1));
    return of(emit, "Log", pair(emit, "Add", x, root));
}

static struct tensor* take_atanh(emitter_t* emit, struct tensor* x)
{
    struct tensor* above = with(emit, "Add", x, 1);
    struct tensor* below = pair(emit, "Sub", emit_float(emit, 1), x);
    return with(emit, "Mul", of(emit, "Log", pair(emit, "Div", above, below)), 0.5);
}

// ---- activations ----

// Relu(x) times one factor, and e^-Relu(-x) - 1 times another.
static struct tensor* exponential(emitter_t* emit, struct tensor* x, double above, double below,
                                  double width)
{
    struct tensor* low = with(emit, "Min", x, 0);
    if (width != 1) low = with(emit, "Div", low, width);
    low = with(emit, "Mul", with(emit, "Sub", of(emit, "Exp", low), 1), below);
    struct tensor* high = of(emit, "Relu", x);
    if (above != 1) high = with(emit, "Mul", high, above);
    return pair(emit, "Add", high, low);
}

static struct tensor* take_elu(emitter_t* emit, struct tensor* x)
{
    return exponential(emit, x, 1, (double)get_ir_node_float(emit->origin, "alpha", 1), 1);
}

static struct tensor* take_celu(emitter_t* emit, struct tensor* x)
{
    const double alpha = (double)get_ir_node_float(emit->origin, "alpha", 1);
    return exponential(emit, x, 1, alpha, alpha);
}

static struct tensor* take_selu(emitter_t* emit, struct tensor* x)
{
    const double alpha =
        (double)get_ir_node_float(emit->origin, "alpha", 1.67326319217681884765625f);
    const double gamma =
        (double)get_ir_node_float(emit->origin, "gamma", 1.05070102214813232421875f);
    return exponential(emit, x, gamma, gamma * alpha, 1);
}

static struct tensor* take_softsign(emitter_t* emit, struct tensor* x)
{
    return pair(emit, "Div", x, with(emit, "Add", of(emit, "Abs", x), 1));
}

static struct tensor* take_thresholded(emitter_t* emit, struct tensor* x)
{
    const double alpha = (double)get_ir_node_float(emit->origin, "alpha", 1);
    struct tensor* is_above = with(emit, "Greater", x, alpha);
    return emit_op(emit, "Where", 3, is_above, x, emit_float(emit, 0));
}

static struct tensor* take_shrink(emitter_t* emit, struct tensor* x)
{
    const double lambd = (double)get_ir_node_float(emit->origin, "lambd", 0.5f);
    const double bias = (double)get_ir_node_float(emit->origin, "bias", 0);
    struct tensor* low = emit_op(emit, "Where", 3, with(emit, "Less", x, -lambd),
                                 with(emit, "Add", x, bias), emit_float(emit, 0));
    return emit_op(emit, "Where", 3, with(emit, "Greater", x, lambd), with(emit, "Sub", x, bias),
                   low);
}

static struct tensor* take_is_nan(emitter_t* emit, struct tensor* x)
{
    return of(emit, "Not", pair(emit, "Equal", x, x));
}

static struct tensor* take_is_inf(emitter_t* emit, struct tensor* x)
{
    const bool above = get_ir_node_int(emit->origin, "detect_positive", 1) != 0;
    const bool below = get_ir_node_int(emit->origin, "detect_negative", 1) != 0;
    if (above && below) x = of(emit, "Abs", x);
    if (!above && !below) return of(emit, "Not", with(emit, "Less", of(emit, "Abs", x), INFINITY));
    return with(emit, "Equal", x, above ? (double)INFINITY : -(double)INFINITY);
}

COMPOSED(compose_acos, take_acos)
COMPOSED(compose_acosh, take_acosh)
COMPOSED(compose_asin, take_asin)
COMPOSED(compose_asinh, take_asinh)
COMPOSED(compose_atan, take_atan)
COMPOSED(compose_atanh, take_atanh)
COMPOSED(compose_celu, take_celu)
COMPOSED(compose_cosh, take_cosh)
COMPOSED(compose_is_nan, take_is_nan)
COMPOSED(compose_selu, take_selu)
COMPOSED(compose_shrink, take_shrink)
COMPOSED(compose_sinh, take_sinh)
COMPOSED(compose_softsign, take_softsign)
COMPOSED(compose_tan, take_tan)
COMPOSED(compose_thresholded, take_thresholded)

static int compose_is_inf(struct graph* graph, struct node* node)
{
    if (!get_ir_node_int(node, "detect_positive", 1) &&
        !get_ir_node_int(node, "detect_negative", 1))
        return refuse_raising(node, "it finds no infinity at all");
    return compose(graph, node, take_is_inf);
}

// ELU has an alpha of 1.
static int compose_elu(struct graph* graph, struct node* node)
{
    if (get_ir_node_float(node, "alpha", 1) == 1) return OP_NOT_RAISED;
    return compose(graph, node, take_elu);
}

// ---- types and bits ----

static int compose_cast_like(struct graph* graph, struct node* node)
{
    const struct tensor* like = get_ir_node_input(node, 1);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Cast", 1, get_ir_node_input(node, 0));
    emit_attr_int(&emit, "to", get_onnx_type(like->data_type));
    emit_attr_int(&emit, "saturate", get_ir_node_int(node, "saturate", 1));
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Only int32 and bytes without a scale have an operator for bits.
static int compose_bits(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const bool is_not = strcmp(get_ir_node_op(node), "BitwiseNot") == 0;
    if (input->data_type != TENGINE_DT_INT32)
        return refuse_raising(node, "its input is %s, expected int32",
                              get_data_type_name(input->data_type));
    const int64_t ones = -1;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.BITWISE_XOR", 2, input,
             is_not ? emit_int32s(&emit, &ones, 1) : get_ir_node_input(node, 1));
    return finish_raised(&emit);
}

static int compose_mean(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Sum", 0);
    for (int i = 0; i < node->input_num; ++i)
        emit_input(&emit, get_ir_node_input(node, i));
    return finish_emitting(&emit, 1, with(&emit, "Div", end_op(&emit), node->input_num));
}

static const tfl_raising_t rows[] = {
    {"Acos", compose_acos},
    {"Acosh", compose_acosh},
    {"Asin", compose_asin},
    {"Asinh", compose_asinh},
    {"Atan", compose_atan},
    {"Atanh", compose_atanh},
    {"BitwiseNot", compose_bits},
    {"BitwiseXor", compose_bits},
    {"CastLike", compose_cast_like},
    {"Celu", compose_celu},
    {"Cosh", compose_cosh},
    {"Elu", compose_elu},
    {"IsInf", compose_is_inf},
    {"IsNaN", compose_is_nan},
    {"Mean", compose_mean},
    {"Selu", compose_selu},
    {"Shrink", compose_shrink},
    {"Sinh", compose_sinh},
    {"Softsign", compose_softsign},
    {"Tan", compose_tan},
    {"ThresholdedRelu", compose_thresholded},
};

TFL_RAISINGS(tfl_function_raisings, rows);

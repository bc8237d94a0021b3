// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's functions of one element, and conversions between types.
#include <math.h>

#include "operator/tengine/function.h"
#include "operator/tengine/operand.h"
#include "operator/tflite/lower.h"

// Numbers of types in files. The tensors have them, too.
struct tfl_cast_param
{
    int in_data_type;
    int out_data_type;
};

struct tfl_fake_quant_param
{
    float min;
    float max;
    int num_bits;
    int narrow_range;
};

struct tfl_bucketize_param
{
    struct op_floats boundaries;
};

static const op_field_t cast_fields[] = {
    TFL_FIELD(struct tfl_cast_param, INT, in_data_type, BYTE, 0),
    TFL_FIELD(struct tfl_cast_param, INT, out_data_type, BYTE, 1),
};

static const op_field_t fake_quant_fields[] = {
    TFL_FIELD(struct tfl_fake_quant_param, FLOAT, min, WORD, 0),
    TFL_FIELD(struct tfl_fake_quant_param, FLOAT, max, WORD, 1),
    TM_FIELD(struct tfl_fake_quant_param, INT, num_bits, WORD, 2, .number = 8, .minimum = 2,
             .maximum = 16),
    TFL_BOOL(struct tfl_fake_quant_param, narrow_range, 3),
};

static const op_field_t bucketize_fields[] = {
    TFL_FIELD(struct tfl_bucketize_param, FLOATS, boundaries, OFFSET, 0),
};

TFL_LOWER_AS(lower_abs, "Abs")
TFL_LOWER_AS(lower_ceil, "Ceil")
TFL_LOWER_AS(lower_cos, "Cos")
// Sparse constants are dense already.
TFL_LOWER_AS(lower_densify, "Identity")
TFL_LOWER_AS(lower_exp, "Exp")
TFL_LOWER_AS(lower_floor, "Floor")
TFL_LOWER_AS(lower_log, "Log")
TFL_LOWER_AS(lower_not, "Not")
TFL_LOWER_AS(lower_neg, "Neg")
TFL_LOWER_AS(lower_round, "Round")
TFL_LOWER_AS(lower_sign, "Sign")
TFL_LOWER_AS(lower_sin, "Sin")
TFL_LOWER_AS(lower_sqrt, "Sqrt")

static int lower_function(struct graph* graph, struct node* node, const char* function)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_tm_function(&emit, function, get_operand(&emit, 0)));
}

static int lower_rsqrt(struct graph* graph, struct node* node)
{
    return lower_function(graph, node, "Rsqrt");
}

static int lower_square(struct graph* graph, struct node* node)
{
    return lower_function(graph, node, "Square");
}

static int lower_cast(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1,
                           emit_cast(&emit, get_operand(&emit, 0), get_declared_type(&emit, 0)));
}

// The value of a quantised tensor is real here already: QUANTIZE and DEQUANTIZE of one do nothing,
// and only fp16 is converted.
static int lower_linear(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    struct tensor* result = input->data_type == TENGINE_DT_FP32
                                ? emit_op(&emit, "Identity", 1, input)
                                : emit_cast(&emit, input, TENGINE_DT_FP32);
    return finish_emitting(&emit, 1, result);
}

// QuantizeLinear has no int32.
static int lower_quantize_int32(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    const struct tensor* output = get_ir_node_output(node, 0);
    struct tensor* steps =
        emit_op(&emit, "Div", 2, get_operand(&emit, 0), emit_float(&emit, output->scale));
    struct tensor* zero_point = emit_float(&emit, (float)output->zero_point);
    struct tensor* place = emit_op(&emit, "Add", 2, emit_op(&emit, "Round", 1, steps), zero_point);
    return finish_emitting(&emit, 1, emit_cast(&emit, place, TENGINE_DT_INT32));
}

static int lower_quantize(struct graph* graph, struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    if (output && output->data_type == TENGINE_DT_INT32 && output->quant_param_num == 1)
        return lower_quantize_int32(graph, node);
    return lower_linear(graph, node);
}

static int lower_zeros_like(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    struct tensor* shape = emit_op(&emit, "Shape", 1, input);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Expand", 2, emit_number(&emit, 0, input), shape));
}

// The range is moved so that 0 is one of its steps.
static int lower_fake_quant(struct graph* graph, struct node* node)
{
    const struct tfl_fake_quant_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    if (!(param->min <= 0 && param->max >= 0 && param->min < param->max))
        return fail_emitting(&emit, TENGINE_ERANGE, "its range is %g to %g, expected one with 0",
                             (double)param->min, (double)param->max);
    const float first = param->narrow_range ? 1 : 0;
    const float steps = (float)((1 << param->num_bits) - 1) - first;
    const float step = (param->max - param->min) / steps;
    const float zero = roundf(-param->min / step);
    const float low = -zero * step, high = (steps - zero) * step;
    struct tensor* size = emit_float(&emit, step);
    struct tensor* base = emit_float(&emit, low);
    struct tensor* clipped = emit_clip(&emit, get_operand(&emit, 0), low, high);
    struct tensor* place = emit_op(&emit, "Div", 2, emit_op(&emit, "Sub", 2, clipped, base), size);
    place = emit_op(&emit, "Floor", 1, emit_op(&emit, "Add", 2, place, emit_float(&emit, 0.5f)));
    struct tensor* result = emit_op(&emit, "Add", 2, emit_op(&emit, "Mul", 2, place, size), base);
    return finish_emitting(&emit, 1, result);
}

// The number of boundaries that are not above the element.
static int lower_bucketize(struct graph* graph, struct node* node)
{
    const struct tfl_bucketize_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* last = emit_ints(&emit, (const int64_t[]){-1}, 1);
    struct tensor* input = emit_cast(&emit, get_operand(&emit, 0), TENGINE_DT_FP32);
    struct tensor* bounds = emit_floats(&emit, param->boundaries.values, param->boundaries.num);
    struct tensor* is_above =
        emit_op(&emit, "GreaterOrEqual", 2, emit_op(&emit, "Unsqueeze", 2, input, last), bounds);
    begin_op(&emit, "ReduceSum", 2, emit_cast(&emit, is_above, TENGINE_DT_INT32), last);
    emit_attr_int(&emit, "keepdims", 0);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(ABS, 101, TFL_COUNTS(1, 1, 1), .lower = lower_abs),
    SHAPELESS_ROW(BUCKETIZE, 147, TFL_COUNTS(1, 1, 1), OP_FIELDS(bucketize_fields),
                  .param_size = sizeof(struct tfl_bucketize_param), .lower = lower_bucketize),
    SHAPELESS_ROW(CAST, 53, TFL_COUNTS(1, 1, 1), TFL_PARAMS(cast), .lower = lower_cast),
    SHAPELESS_ROW(CEIL, 104, TFL_COUNTS(1, 1, 1), .lower = lower_ceil),
    SHAPELESS_ROW(COS, 108, TFL_COUNTS(1, 1, 1), .lower = lower_cos),
    SHAPELESS_ROW(DENSIFY, 124, TFL_COUNTS(1, 1, 1), .lower = lower_densify),
    SHAPELESS_ROW(DEQUANTIZE, 6, TFL_COUNTS(1, 1, 1), .lower = lower_linear),
    SHAPELESS_ROW(EXP, 47, TFL_COUNTS(1, 1, 1), .lower = lower_exp),
    SHAPELESS_ROW(FAKE_QUANT, 80, TFL_COUNTS(1, 1, 1), OP_FIELDS(fake_quant_fields),
                  .param_size = sizeof(struct tfl_fake_quant_param), .lower = lower_fake_quant),
    SHAPELESS_ROW(FLOOR, 8, TFL_COUNTS(1, 1, 1), .lower = lower_floor),
    SHAPELESS_ROW(LOG, 73, TFL_COUNTS(1, 1, 1), .lower = lower_log),
    SHAPELESS_ROW(LOGICAL_NOT, 87, TFL_COUNTS(1, 1, 1), .lower = lower_not),
    SHAPELESS_ROW(NEG, 59, TFL_COUNTS(1, 1, 1), .lower = lower_neg),
    SHAPELESS_ROW(QUANTIZE, 114, TFL_COUNTS(1, 1, 1), .lower = lower_quantize),
    SHAPELESS_ROW(ROUND, 116, TFL_COUNTS(1, 1, 1), .lower = lower_round),
    SHAPELESS_ROW(RSQRT, 76, TFL_COUNTS(1, 1, 1), .lower = lower_rsqrt),
    SHAPELESS_ROW(SIGN, 158, TFL_COUNTS(1, 1, 1), .lower = lower_sign),
    SHAPELESS_ROW(SIN, 66, TFL_COUNTS(1, 1, 1), .lower = lower_sin),
    SHAPELESS_ROW(SQRT, 75, TFL_COUNTS(1, 1, 1), .lower = lower_sqrt),
    SHAPELESS_ROW(SQUARE, 92, TFL_COUNTS(1, 1, 1), .lower = lower_square),
    SHAPELESS_ROW(ZEROS_LIKE, 93, TFL_COUNTS(1, 1, 1), .lower = lower_zeros_like),
};

OPERATOR_TABLE(tflite_unary_ops, rows);

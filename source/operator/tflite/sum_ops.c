// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's ADD and SUB. Sums of bytes have the arithmetic of LiteRT's default kernels,
// XNNPACK's vadd: both operands are multiplied by integers of 21 bits with one shift, and the sum
// is rounded once. For tflite-micro, they have its arithmetic: both operands are scaled to twice
// the larger of their scales, then the sum to that of the result.
#include <math.h>

#include "operator/tflite/lower.h"

struct tfl_sum_param
{
    int activation;
    int pot_scale_int16;  // whether scales of int16 are powers of two: LiteRT's
};

static const op_field_t sum_fields[] = {
    TFL_ACTIVATION(struct tfl_sum_param, 0),
    TM_FIELD(struct tfl_sum_param, INT, pot_scale_int16, BYTE, 1, .number = 1, .maximum = 1),
};

// The operands a and b, of which b may be subtracted.
typedef struct byte_sum
{
    const struct tensor* a;
    const struct tensor* b;
    const struct tensor* y;
    int shift;
    int factor_a;
    int factor_b;  // negative: b is subtracted
    bool is_micro;
} byte_sum_t;

// The ratios of the scales that XNNPACK takes.
static bool is_ratio(float ratio)
{
    return ratio >= 0x1p-10f && ratio < 0x1p8f;
}

// Whether the integers of the node are summed.
static bool resolve_byte_sum(const struct node* node, byte_sum_t* out_sum)
{
    const struct tensor* a = get_ir_node_input(node, 0);
    const struct tensor* b = get_ir_node_input(node, 1);
    const struct tensor* y = get_ir_node_output(node, 0);
    const struct tfl_sum_param* param = node->op.param_mem;
    if (!is_quantized_byte(a) || !is_quantized_byte(b) || !is_quantized_byte(y) ||
        a->data_type != y->data_type || b->data_type != y->data_type ||
        param->activation > TFL_ACTIVATION_RELU6)
        return false;
    const float ratio_a = a->scale / y->scale, ratio_b = b->scale / y->scale;
    if (!is_ratio(ratio_a) || !is_ratio(ratio_b)) return false;
    int exponent;
    frexpf(fmaxf(ratio_a, ratio_b), &exponent);
    *out_sum = (byte_sum_t){.a = a, .b = b, .y = y, .shift = 21 - exponent};
    out_sum->factor_a = (int)lrintf(ldexpf(ratio_a, out_sum->shift));
    out_sum->factor_b = (int)lrintf(ldexpf(ratio_b, out_sum->shift));
    out_sum->is_micro = get_rounding(node) == IR_ROUNDING_TWICE;
    return true;
}

static bool takes_integers(const struct node* node)
{
    byte_sum_t sum;
    return resolve_byte_sum(node, &sum);
}

// The values of the result that the activation leaves.
static void find_limits(const struct node* node, const struct tensor* y, int limits[2])
{
    const struct tfl_sum_param* param = node->op.param_mem;
    const int least = y->data_type == TENGINE_DT_INT8 ? INT8_MIN : 0;
    limits[0] = least;
    limits[1] = least + 255;
    if (param->activation == TFL_ACTIVATION_NONE) return;
    const float low = param->activation == TFL_ACTIVATION_RELU_N1_TO_1 ? -1 : 0;
    const float high = param->activation == TFL_ACTIVATION_RELU    ? INFINITY
                       : param->activation == TFL_ACTIVATION_RELU6 ? 6
                                                                   : 1;
    const float first = roundf(low / y->scale) + (float)y->zero_point;
    const float last = roundf(high / y->scale) + (float)y->zero_point;
    if (first > (float)limits[0]) limits[0] = (int)fminf(first, (float)limits[1]);
    if (last < (float)limits[1]) limits[1] = (int)fmaxf(last, (float)limits[0]);
}

static int clamp(int64_t value, const int limits[2])
{
    return value < limits[0] ? limits[0] : value > limits[1] ? limits[1] : (int)value;
}

static int read_byte(const struct tensor* tensor, int byte)
{
    return tensor->data_type == TENGINE_DT_INT8 ? (int8_t)byte : byte;
}

static bool is_one_constant(const struct tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_CONST && tensor->elem_num == 1 &&
           tensor->dim_num <= 1;
}

// The result's distance from its zero point; the operands are such distances, too. Ties are rounded
// up.
static int64_t add_distances(const byte_sum_t* sum, int a, int b)
{
    if (!sum->is_micro) {
        const int64_t value = (int64_t)sum->factor_a * a + (int64_t)sum->factor_b * b;
        // The shift rounds towards minus infinity.
        return (value + ((int64_t)1 << (sum->shift - 1))) >> sum->shift;
    }
    const int32_t unit = 1 << 20;
    const double scale_a = (double)sum->a->scale, scale_b = (double)sum->b->scale;
    const double both = 2 * fmax(scale_a, scale_b);
    const int64_t left = scale_tfl_twice(a * unit, scale_a / both);
    const int64_t right = scale_tfl_twice((sum->factor_b < 0 ? -b : b) * unit, scale_b / both);
    return scale_tfl_twice((int32_t)(left + right), both / (unit * (double)sum->y->scale));
}

// With one constant the sum is a function of a byte.
static int lower_as_table(emitter_t* emit, const byte_sum_t* sum, int variable)
{
    const struct tensor* constant = variable == 0 ? sum->b : sum->a;
    const int fixed = read_byte(constant, constant->u8[0]) - constant->zero_point;
    const struct tensor* from = variable == 0 ? sum->a : sum->b;
    int limits[2];
    find_limits(emit->origin, sum->y, limits);
    uint8_t table[256];
    for (int i = 0; i < 256; ++i) {
        const int value = read_byte(from, i) - from->zero_point;
        const int64_t result =
            variable == 0 ? add_distances(sum, value, fixed) : add_distances(sum, fixed, value);
        table[i] = (uint8_t)clamp(result + sum->y->zero_point, limits);
    }
    struct tensor* input = get_operand(emit, variable);
    return finish_emitting(emit, 1, emit_table(emit, input, table, sum->y->data_type));
}

// -1 - b, whose distance from -1 - zero point is that of b, negated.
static struct tensor* emit_complement(emitter_t* emit, struct tensor* input)
{
    uint8_t table[256];
    for (int i = 0; i < 256; ++i)
        table[i] = (uint8_t)~i;
    return emit_table(emit, input, table, input->data_type);
}

static struct tensor* emit_limits(emitter_t* emit, struct tensor* input, const struct tensor* y)
{
    int limits[2];
    find_limits(emit->origin, y, limits);
    const int least = y->data_type == TENGINE_DT_INT8 ? INT8_MIN : 0;
    if (limits[0] == least && limits[1] == least + 255) return input;
    uint8_t table[256];
    for (int i = 0; i < 256; ++i)
        table[i] = (uint8_t)clamp(read_byte(y, i), limits);
    return emit_table(emit, input, table, y->data_type);
}

// QLinearAdd with the multipliers for scales, which it multiplies exactly. It rounds ties to even,
// which with factors of 21 bits are rare. That of a run for tflite-micro takes the scales.
static int lower_as_sum(emitter_t* emit, const byte_sum_t* sum)
{
    struct tensor* b = get_operand(emit, 1);
    int zero_b = sum->b->zero_point;
    if (sum->factor_b < 0) {
        b = emit_complement(emit, b);
        zero_b = sum->b->data_type == TENGINE_DT_INT8 ? -1 - zero_b : 255 - zero_b;
    }
    const float scales[] = {sum->is_micro ? sum->a->scale : (float)sum->factor_a,
                            sum->is_micro ? sum->b->scale : fabsf((float)sum->factor_b),
                            sum->is_micro ? sum->y->scale : ldexpf(1, sum->shift)};
    struct tensor* result =
        emit_op(emit, "com.microsoft.QLinearAdd", 8, get_operand(emit, 0),
                emit_float(emit, scales[0]), emit_zero_point(emit, sum->a->zero_point, sum->a), b,
                emit_float(emit, scales[1]), emit_zero_point(emit, zero_b, sum->b),
                emit_float(emit, scales[2]), emit_zero_point(emit, sum->y->zero_point, sum->y));
    return finish_emitting(emit, 1, emit_limits(emit, result, sum->y));
}

static int lower(struct graph* graph, struct node* node, const char* op, int sign)
{
    const struct tfl_sum_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    byte_sum_t sum;
    if (!resolve_byte_sum(node, &sum)) {
        struct tensor* result = emit_op(&emit, op, 2, get_operand(&emit, 0), get_operand(&emit, 1));
        return finish_emitting(&emit, 1, emit_activation(&emit, param->activation, result));
    }
    sum.factor_b *= sign;
    if (is_one_constant(sum.b)) return lower_as_table(&emit, &sum, 0);
    if (is_one_constant(sum.a)) return lower_as_table(&emit, &sum, 1);
    return lower_as_sum(&emit, &sum);
}

static int lower_add(struct graph* graph, struct node* node)
{
    return lower(graph, node, "Add", 1);
}

static int lower_sub(struct graph* graph, struct node* node)
{
    return lower(graph, node, "Sub", -1);
}

#define SUM_OF_TWO TFL_COUNTS(2, 2, 1), TFL_PARAMS(sum), .takes_integers = takes_integers

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(ADD, 0, SUM_OF_TWO, .lower = lower_add),
    SHAPELESS_ROW(SUB, 41, SUM_OF_TWO, .lower = lower_sub),
};

OPERATOR_TABLE(tflite_sum_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's LEAKY_RELU and HARD_SWISH, which for bytes are tables of their integers:
// XNNPACK's vlrelu, whose factors have 8 bits after the point, and the built-in kernels for what
// XNNPACK does not take.
#include <math.h>

#include "operator/tflite/lower.h"

struct tfl_leaky_relu_param
{
    float alpha;
};

static const op_field_t leaky_relu_fields[] = {
    TFL_FIELD(struct tfl_leaky_relu_param, FLOAT, alpha, WORD, 0),
};

static bool takes_bytes(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    return is_quantized_byte(input) && is_quantized_byte(output) &&
           input->data_type == output->data_type;
}

// The result's distance from its zero point for an operand's.
typedef int64_t (*distance_function_t)(const struct node* node, int distance);

static int lower_as_table(struct graph* graph, struct node* node, distance_function_t function)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    const bool is_signed = input->data_type == TENGINE_DT_INT8;
    const int least = is_signed ? INT8_MIN : 0;
    uint8_t table[256];
    for (int i = 0; i < 256; ++i) {
        const int value = (is_signed ? (int8_t)i : i) - input->zero_point;
        const int64_t result = function(node, value) + output->zero_point;
        table[i] = (uint8_t)(result < least ? least : result > least + 255 ? least + 255 : result);
    }
    return finish_emitting(&emit, 1, emit_table(&emit, input, table, output->data_type));
}

// ---- LEAKY_RELU ----

// The factors that XNNPACK takes.
static bool is_short_factor(float factor)
{
    return factor >= -(0x1p7f - 0x1p-8f) && factor <= 0x1p7f && fabsf(factor) >= 0x1p-8f;
}

static int64_t leak(const struct node* node, int distance)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    const float alpha = ((const struct tfl_leaky_relu_param*)node->op.param_mem)->alpha;
    const float ratio = input->scale / output->scale;
    const float leak = ratio * alpha;
    const bool is_short = is_short_factor(ratio) && is_short_factor(leak);
    // The shift rounds towards minus infinity.
    if (is_short && get_rounding(node) != IR_ROUNDING_TWICE)
        return (distance * (int64_t)lrintf(256 * (distance < 0 ? leak : ratio)) + 128) >> 8;
    const double factor = (double)input->scale / (double)output->scale;
    if (distance >= 0) return scale_tfl_twice(distance, factor);
    const int64_t size = scale_tfl_twice(distance, factor * fabs((double)alpha));
    return alpha < 0 ? -size : size;
}

static bool leaks_bytes(const struct node* node)
{
    const float alpha = ((const struct tfl_leaky_relu_param*)node->op.param_mem)->alpha;
    return takes_bytes(node) && isnormal(alpha);
}

static int lower_leaky_relu(struct graph* graph, struct node* node)
{
    if (leaks_bytes(node)) return lower_as_table(graph, node, leak);
    return rewrite_as(graph, node, "LeakyRelu");
}

// ---- HARD_SWISH: gemmlowp's numbers of 16 bits ----

static int saturate_16(int64_t value)
{
    return value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : (int)value;
}

// The high half of twice the product, halves up.
static int multiply_rounded(int64_t a, int64_t b)
{
    const int64_t product = a * b;
    return saturate_16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

// Halves away from 0.
static int divide_by_power(int value, int exponent)
{
    if (exponent > 30) return 0;
    const int half = exponent > 0 ? 1 << (exponent - 1) : 0;
    return value < 0 ? -((-value + half) >> exponent) : (value + half) >> exponent;
}

// factor * 2^(exponent - 15), where the factor has 15 bits.
typedef struct factor_16
{
    int factor;
    int exponent;
} factor_16_t;

static factor_16_t make_factor_16(float ratio)
{
    factor_16_t made;
    const double fraction = frexp((double)ratio, &made.exponent);
    int64_t factor = llround(fraction * 0x1p31);
    if (factor == INT64_C(1) << 31) {
        factor /= 2;
        ++made.exponent;
    }
    if (made.exponent < -31) return (factor_16_t){0, 0};
    made.factor = saturate_16((factor + (1 << 15)) >> 16);
    return made;
}

// (min(max(x, -3), 3) + 3) / 6 of a distance in units of 1/128 step, as a number of 15 bits.
static int find_gate(int fine, factor_16_t to_gate)
{
    int64_t gate = fine;
    if (to_gate.exponent > 0) gate = saturate_16(gate * ((int64_t)1 << (to_gate.exponent - 1)));
    gate = multiply_rounded((int)gate, to_gate.factor);
    if (to_gate.exponent > 0) gate = saturate_16(gate * 2);
    if (to_gate.exponent < 0) gate = divide_by_power((int)gate, -to_gate.exponent);
    return (int)(gate + (1 << 15)) >> 1;
}

static factor_16_t find_output_factor(const struct node* node)
{
    return make_factor_16(0x1p-7f * get_ir_node_input(node, 0)->scale /
                          get_ir_node_output(node, 0)->scale);
}

static int64_t swish(const struct node* node, int distance)
{
    const factor_16_t to_output = find_output_factor(node);
    const factor_16_t to_gate =
        make_factor_16(0x1p-7f * get_ir_node_input(node, 0)->scale / (3.0f / 32768));
    const int fine = saturate_16((int64_t)distance * 128);
    const int scaled = multiply_rounded(fine, to_output.factor);
    const int gated = saturate_16((int64_t)find_gate(fine, to_gate) * scaled / (1 << 15));
    return divide_by_power(gated, -to_output.exponent);
}

// The kernel takes results whose steps are not smaller than these.
static bool swishes_bytes(const struct node* node)
{
    return takes_bytes(node) && get_ir_node_input(node, 0)->scale < 128 &&
           find_output_factor(node).exponent <= 0;
}

static int lower_hard_swish(struct graph* graph, struct node* node)
{
    if (swishes_bytes(node)) return lower_as_table(graph, node, swish);
    return rewrite_as(graph, node, "HardSwish");
}

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(LEAKY_RELU, 98, TFL_COUNTS(1, 1, 1), OP_FIELDS(leaky_relu_fields),
                  .param_size = sizeof(struct tfl_leaky_relu_param), .lower = lower_leaky_relu,
                  .takes_integers = leaks_bytes),
    SHAPELESS_ROW(HARD_SWISH, 117, TFL_COUNTS(1, 1, 1), .lower = lower_hard_swish,
                  .takes_integers = swishes_bytes),
};

OPERATOR_TABLE(tflite_byte_function_ops, rows);

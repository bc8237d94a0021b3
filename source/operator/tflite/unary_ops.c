// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's functions of one element, and conversions between types.
#include <math.h>

#include "operator/tengine/function.h"
#include "operator/tflite/lower.h"

TFL_LOWER_AS(lower_abs, "Abs")
TFL_LOWER_AS(lower_ceil, "Ceil")
TFL_LOWER_AS(lower_cos, "Cos")
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

// QUANTIZE of a byte: LiteRT multiplies by the ratio of the scales in 8 bits, if it is in this
// range.
static bool requantizes(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    if (!is_quantized_byte(input) || !is_quantized_byte(output)) return false;
    const float ratio = input->scale / output->scale;
    return ratio >= 1.0f / 256 && ratio <= 128;
}

static int lower_requantize(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    const bool is_signed = input->data_type == TENGINE_DT_INT8;
    const int least = output->data_type == TENGINE_DT_INT8 ? INT8_MIN : 0;
    const int factor = (int)lrintf(256 * (input->scale / output->scale));
    uint8_t table[256];
    for (int i = 0; i < 256; ++i) {
        const int value = is_signed ? (int8_t)i : i;
        // The shift rounds towards minus infinity.
        int result = (((value - input->zero_point) * factor + 128) >> 8) + output->zero_point;
        if (result < least) result = least;
        if (result > least + 255) result = least + 255;
        table[i] = (uint8_t)result;
    }
    return finish_emitting(&emit, 1, emit_table(&emit, input, table, output->data_type));
}

static int lower_quantize(struct graph* graph, struct node* node)
{
    return requantizes(node) ? lower_requantize(graph, node) : lower_linear(graph, node);
}

static int lower_zeros_like(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    struct tensor* shape = emit_op(&emit, "Shape", 1, input);
    return finish_emitting(&emit, 1,
                           emit_op(&emit, "Expand", 2, emit_number(&emit, 0, input), shape));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(ABS, 101, TFL_COUNTS(1, 1, 1), .lower = lower_abs),
    TFLITE_ROW(CAST, 53, TFL_COUNTS(1, 1, 1), .lower = lower_cast),
    TFLITE_ROW(CEIL, 104, TFL_COUNTS(1, 1, 1), .lower = lower_ceil),
    TFLITE_ROW(COS, 108, TFL_COUNTS(1, 1, 1), .lower = lower_cos),
    TFLITE_ROW(DEQUANTIZE, 6, TFL_COUNTS(1, 1, 1), .lower = lower_linear),
    TFLITE_ROW(EXP, 47, TFL_COUNTS(1, 1, 1), .lower = lower_exp),
    TFLITE_ROW(FLOOR, 8, TFL_COUNTS(1, 1, 1), .lower = lower_floor),
    TFLITE_ROW(LOG, 73, TFL_COUNTS(1, 1, 1), .lower = lower_log),
    TFLITE_ROW(LOGICAL_NOT, 87, TFL_COUNTS(1, 1, 1), .lower = lower_not),
    TFLITE_ROW(NEG, 59, TFL_COUNTS(1, 1, 1), .lower = lower_neg),
    TFLITE_ROW(QUANTIZE, 114, TFL_COUNTS(1, 1, 1), .lower = lower_quantize,
               .takes_integers = requantizes),
    TFLITE_ROW(ROUND, 116, TFL_COUNTS(1, 1, 1), .lower = lower_round),
    TFLITE_ROW(RSQRT, 76, TFL_COUNTS(1, 1, 1), .lower = lower_rsqrt),
    TFLITE_ROW(SIGN, 158, TFL_COUNTS(1, 1, 1), .lower = lower_sign),
    TFLITE_ROW(SIN, 66, TFL_COUNTS(1, 1, 1), .lower = lower_sin),
    TFLITE_ROW(SQRT, 75, TFL_COUNTS(1, 1, 1), .lower = lower_sqrt),
    TFLITE_ROW(SQUARE, 92, TFL_COUNTS(1, 1, 1), .lower = lower_square),
    TFLITE_ROW(ZEROS_LIKE, 93, TFL_COUNTS(1, 1, 1), .lower = lower_zeros_like),
};

OPERATOR_TABLE(tflite_unary_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's Fourier transform and the parts of complex numbers. ONNX's transform has a last
// axis of real and imaginary part where TensorFlow Lite has a complex type.
#include "operator/onnx_type.h"
#include "operator/tflite/lower.h"

// Appends the bits of `input` as elements of a type, whose size decides about a last axis.
static struct tensor* emit_bits(emitter_t* emit, struct tensor* input, int data_type)
{
    begin_op(emit, "tengine.BitCast", 1, input);
    emit_attr_int(emit, "to", get_onnx_type(data_type));
    return end_op(emit);
}

static struct tensor* emit_transform(emitter_t* emit, struct tensor* input, int64_t length,
                                     int64_t axis, bool is_real)
{
    begin_op(emit, "DFT", 3, input, emit_int(emit, length), emit_int(emit, axis));
    emit_attr_int(emit, "onesided", is_real);
    return end_op(emit);
}

// The last two axes are cut or padded to the two lengths.
static int lower_rfft_2d(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int rank = input->dim_num;
    int64_t lengths[2] = {0};
    const int number = read_tfl_ints(&emit, 1, "pair of lengths", lengths, 2);
    if (emit.status < 0) return emit.status;
    if (rank < 2 || number != 2)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has rank %d and it has %d lengths, expected at least 2 and "
                             "2",
                             rank, number);
    const int64_t last = -1;
    struct tensor* signal = emit_op(&emit, "Unsqueeze", 2, input, emit_ints(&emit, &last, 1));
    struct tensor* rows = emit_transform(&emit, signal, lengths[1], rank - 1, true);
    struct tensor* spectrum = emit_transform(&emit, rows, lengths[0], rank - 2, false);
    return finish_emitting(&emit, 1, emit_bits(&emit, spectrum, TENGINE_DT_COMPLEX64));
}

// The pairs of real and imaginary part, along a last axis.
static struct tensor* emit_parts(emitter_t* emit)
{
    struct tensor* input = get_operand(emit, 0);
    if (input->data_type == TENGINE_DT_COMPLEX64) return emit_bits(emit, input, TENGINE_DT_FP32);
    if (input->data_type == TENGINE_DT_COMPLEX128) return emit_bits(emit, input, TENGINE_DT_FP64);
    fail_emitting(emit, TENGINE_EDTYPE, "its input is %s, expected complex numbers",
                  get_data_type_name(input->data_type));
    return NULL;
}

static int lower_part(struct graph* graph, struct node* node, int place)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* parts = emit_parts(&emit);
    begin_op(&emit, "Gather", 2, parts, emit_int(&emit, place));
    emit_attr_int(&emit, "axis", -1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_real(struct graph* graph, struct node* node)
{
    return lower_part(graph, node, 0);
}

static int lower_imag(struct graph* graph, struct node* node)
{
    return lower_part(graph, node, 1);
}

static int lower_complex_abs(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* parts = emit_parts(&emit);
    begin_op(&emit, "ReduceL2", 2, parts, emit_ints(&emit, (const int64_t[]){-1}, 1));
    emit_attr_int(&emit, "keepdims", 0);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_bitcast(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* bits = emit_bits(&emit, get_operand(&emit, 0), get_declared_type(&emit, 0));
    return finish_emitting(&emit, 1, bits);
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(RFFT2D, 131, TFL_COUNTS(2, 2, 1), .lower = lower_rfft_2d),
    TFLITE_ROW(IMAG, 133, TFL_COUNTS(1, 1, 1), .lower = lower_imag),
    TFLITE_ROW(REAL, 134, TFL_COUNTS(1, 1, 1), .lower = lower_real),
    TFLITE_ROW(COMPLEX_ABS, 135, TFL_COUNTS(1, 1, 1), .lower = lower_complex_abs),
    TFLITE_ROW(BITCAST, 159, TFL_COUNTS(1, 1, 1), .lower = lower_bitcast),
};

OPERATOR_TABLE(tflite_signal_ops, rows);

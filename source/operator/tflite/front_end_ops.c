// SPDX-License-Identifier: Apache-2.0
// tflite-micro's front end for audio: the custom operators without states. Those whose integers no
// operator of ONNX computes keep their names in the domain tengine
// (operator/onnx/fixed_signal_ops.c).
#include <limits.h>

#include "operator/onnx/fixed_signal_param.h"
#include "operator/tengine/move.h"
#include "operator/tflite/front_end.h"
#include "operator/tflite/lower.h"

int check_tfl_options(const struct node* node)
{
    const ir_method_t* method = node->op.method;
    for (int i = 0; i < method->field_num; ++i) {
        const op_field_t* field = &method->fields[i];
        const int value = *(const int*)((const char*)node->op.param_mem + field->offset);
        if (field->number < 0 && value < 0)
            return fail_node(node, TENGINE_EFORMAT, "it has no option '%s'", field->name);
    }
    return TENGINE_OK;
}

// The same inputs and options, in the domain tengine.
static int lower_as_fixed(struct graph* graph, struct node* node, const char* op)
{
    TENGINE_RETURN_IF_ERROR(check_tfl_options(node));
    return rewrite_as(graph, node, op);
}

static int lower_filter_bank(struct graph* graph, struct node* node)
{
    return lower_as_fixed(graph, node, "tengine.SignalFilterBank");
}

static int lower_square_root(struct graph* graph, struct node* node)
{
    return lower_as_fixed(graph, node, "tengine.SignalFilterBankSquareRoot");
}

static int lower_pcan(struct graph* graph, struct node* node)
{
    return lower_as_fixed(graph, node, "tengine.SignalPCAN");
}

static int lower_log(struct graph* graph, struct node* node)
{
    return lower_as_fixed(graph, node, "tengine.SignalFilterBankLog");
}

static int lower_auto_scale(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* results[2] = {NULL};
    begin_op(&emit, "tengine.SignalFftAutoScale", 1, get_operand(&emit, 0));
    end_op_with(&emit, results, 2);
    return finish_emitting(&emit, 2, results[0], results[1]);
}

static const op_field_t filter_bank_fields[] = {
    FRONT_FIELD(filter_bank_param, num_channels, 1, 1 << 15),
};
static const op_field_t pcan_fields[] = {FRONT_FIELD(gain_control_param, snr_shift, 0, 63)};
static const op_field_t log_fields[] = {
    FRONT_FIELD(filter_bank_log_param, input_correction_bits, 0, 31),
    FRONT_FIELD(filter_bank_log_param, output_scale, 1, INT_MAX),
};

// ---- SignalWindow ----

struct tfl_window_param
{
    int shift;
};

static const op_field_t window_fields[] = {FRONT_FIELD(tfl_window_param, shift, 0, 31)};

// Products of int16, whose lower bits are left out. A shift of integers is ONNX's for unsigned ones
// alone: 2^31 is added before it and taken away after it.
static int lower_window(struct graph* graph, struct node* node)
{
    const struct tfl_window_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_tfl_options(node));
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *weights = get_operand(&emit, 1);
    const int last = input->dim_num > 0 ? input->dims[input->dim_num - 1] : 0;
    if (input->data_type != TENGINE_DT_INT16 || weights->data_type != TENGINE_DT_INT16 ||
        weights->dim_num != 1 || weights->dims[0] != last)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has %d elements along the last axis and its weights have "
                             "%lld, expected as many, of int16",
                             last, (long long)weights->elem_num);
    const int64_t offset = INT64_C(1) << 31;
    struct tensor* product = emit_op(&emit, "Mul", 2, emit_cast(&emit, input, TENGINE_DT_INT64),
                                     emit_cast(&emit, weights, TENGINE_DT_INT64));
    product = emit_op(&emit, "Add", 2, product, emit_int(&emit, offset));
    begin_op(&emit, "BitShift", 2, emit_cast(&emit, product, TENGINE_DT_UINT64),
             emit_cast(&emit, emit_int(&emit, param->shift), TENGINE_DT_UINT64));
    emit_attr_text(&emit, "direction", "RIGHT");
    struct tensor* shifted = emit_cast(&emit, end_op(&emit), TENGINE_DT_INT64);
    shifted = emit_op(&emit, "Sub", 2, shifted, emit_int(&emit, offset >> param->shift));
    shifted =
        emit_op(&emit, "Clip", 3, shifted, emit_int(&emit, INT16_MIN), emit_int(&emit, INT16_MAX));
    return finish_emitting(&emit, 1, emit_cast(&emit, shifted, TENGINE_DT_INT16));
}

// ---- SignalRfft, SignalIrfft ----

// The length is that of fixed_dft_param.
struct tfl_transform_param
{
    int T;  // the type, as files number it
    int fft_length;
};

static const op_field_t transform_fields[] = {
    OP_FIELD(struct tfl_transform_param, INT, T, .number = 0),
    FRONT_FIELD(tfl_transform_param, fft_length, 2, FIXED_DFT_MOST_POINTS),
};

// A frequency is two elements in files, and two along an axis of their own for ONNX.
static int lower_float_transform(emitter_t* emit, bool inverse)
{
    const struct tfl_transform_param* param = emit->origin->op.param_mem;
    struct tensor* input = get_operand(emit, 0);
    const int rank = input->dim_num;
    const int64_t length = param->fft_length;
    int64_t dims[MAX_SHAPE_DIM_NUM + 1];
    read_dims(input, dims);
    const int64_t given = rank > 0 ? dims[rank - 1] : 0;
    if (rank < 1 || rank >= MAX_SHAPE_DIM_NUM || length % 2 != 0 ||
        (inverse ? given != length + 2 : given > length))
        return fail_emitting(emit, TENGINE_EINVAL,
                             "fft_length %lld and %lld elements along the last axis do not fit: "
                             "expected an even number, and %s %lld",
                             (long long)length, (long long)given, inverse ? "exactly" : "at most",
                             (long long)(inverse ? length + 2 : length));
    dims[rank - 1] = inverse ? given / 2 : given;
    dims[rank] = inverse ? 2 : 1;
    struct tensor* pairs = emit_reshape(emit, input, dims, rank + 1);
    begin_op(emit, "DFT", 3, pairs, emit_int(emit, length), emit_int(emit, rank - 1));
    emit_attr_int(emit, "inverse", inverse);
    emit_attr_int(emit, "onesided", 1);
    struct tensor* result = end_op(emit);
    dims[rank - 1] = inverse ? length : length + 2;
    return finish_emitting(emit, 1, emit_reshape(emit, result, dims, rank));
}

static int lower_transform(struct graph* graph, struct node* node, bool inverse)
{
    const struct tfl_transform_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_tfl_options(node));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    if (input->data_type == TENGINE_DT_FP32) return lower_float_transform(&emit, inverse);
    begin_op(&emit, inverse ? "tengine.SignalIrfft" : "tengine.SignalRfft", 1, input);
    emit_attr_int(&emit, "fft_length", param->fft_length);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int lower_rfft(struct graph* graph, struct node* node)
{
    return lower_transform(graph, node, false);
}

static int lower_irfft(struct graph* graph, struct node* node)
{
    return lower_transform(graph, node, true);
}

// ---- SignalEnergy ----

struct tfl_energy_param
{
    int end_index;
    int start_index;
};

static const op_field_t energy_fields[] = {
    FRONT_FIELD(tfl_energy_param, end_index, 0, FIXED_DFT_MOST_POINTS),
    FRONT_FIELD(tfl_energy_param, start_index, 0, FIXED_DFT_MOST_POINTS),
};

// The sums of squares of the pairs from start_index up to end_index; 0 for all others, where
// tflite-micro leaves what is in memory.
static int lower_energy(struct graph* graph, struct node* node)
{
    const struct tfl_energy_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_tfl_options(node));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int64_t number = input->dim_num == 1 ? input->dims[0] / 2 : 0;
    const int64_t begin = param->start_index, end = param->end_index;
    if (input->data_type != TENGINE_DT_INT16 || begin >= end || end > number)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its range is %lld to %lld and its input has %lld pairs of numbers, "
                             "expected a range inside of a list of int16",
                             (long long)begin, (long long)end, (long long)number);
    const int64_t pairs[] = {end - begin, 2}, around[] = {begin, number - end}, axis = 1;
    const struct axis_cut cut = {0, 2 * begin, 2 * end, 1};
    struct tensor* values = emit_reshape(&emit, emit_cuts(&emit, input, &cut, 1), pairs, 2);
    values = emit_cast(&emit, values, TENGINE_DT_INT64);
    begin_op(&emit, "ReduceSum", 2, emit_op(&emit, "Mul", 2, values, values),
             emit_ints(&emit, &axis, 1));
    emit_attr_int(&emit, "keepdims", 0);
    struct tensor* sums = emit_op(&emit, "Pad", 2, end_op(&emit), emit_ints(&emit, around, 2));
    return finish_emitting(&emit, 1, emit_cast(&emit, sums, TENGINE_DT_UINT32));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(SignalEnergy, TFL_CUSTOM, TFL_COUNTS(1, 1, 1),
               FRONT_PARAMS(energy_fields, tfl_energy_param), .lower = lower_energy),
    TFLITE_ROW(SignalFftAutoScale, TFL_CUSTOM, TFL_COUNTS(1, 1, 2), .lower = lower_auto_scale),
    TFLITE_ROW(SignalFilterBank, TFL_CUSTOM, TFL_COUNTS(6, 6, 1),
               FRONT_PARAMS(filter_bank_fields, filter_bank_param), .lower = lower_filter_bank),
    TFLITE_ROW(SignalFilterBankLog, TFL_CUSTOM, TFL_COUNTS(1, 1, 1),
               FRONT_PARAMS(log_fields, filter_bank_log_param), .lower = lower_log),
    TFLITE_ROW(SignalFilterBankSquareRoot, TFL_CUSTOM, TFL_COUNTS(2, 2, 1),
               .lower = lower_square_root),
    TFLITE_ROW(SignalIrfft, TFL_CUSTOM, TFL_COUNTS(1, 1, 1),
               FRONT_PARAMS(transform_fields, tfl_transform_param), .lower = lower_irfft),
    TFLITE_ROW(SignalPCAN, TFL_CUSTOM, TFL_COUNTS(3, 3, 1),
               FRONT_PARAMS(pcan_fields, gain_control_param), .lower = lower_pcan),
    TFLITE_ROW(SignalRfft, TFL_CUSTOM, TFL_COUNTS(1, 1, 1),
               FRONT_PARAMS(transform_fields, tfl_transform_param), .lower = lower_rfft),
    TFLITE_ROW(SignalWindow, TFL_CUSTOM, TFL_COUNTS(2, 2, 1),
               FRONT_PARAMS(window_fields, tfl_window_param), .lower = lower_window),
};

OPERATOR_TABLE(tflite_front_end_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// The integers of tflite-micro's front end for audio, domain tengine: Fourier transforms of int16
// and int32, filter banks, and functions of the energies of their channels. They have the names and
// the attributes of its custom operators (operator/tflite/front_end_ops.c), whose results theirs
// are, bit for bit. Kernels: device/cpu/reference/signal/fixed_signal.cc, fixed_dft.cc.
#include <limits.h>

#include "operator/infer.h"
#include "operator/onnx/fixed_signal_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

static int require_rank(const struct node* node, int index, int rank)
{
    const int given = get_ir_node_input(node, index)->dim_num;
    if (given == rank) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d has rank %d, expected %d", index, given, rank);
}

static int require_list(const struct node* node, int index, uint32_t types)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, index, types));
    return require_rank(node, index, 1);
}

// ---- SignalRfft, SignalIrfft ----

// Samples are along the last axis, followed by zeros up to the length; a frequency is two elements,
// its real and its imaginary part.
static int infer_transform(struct node* node, bool inverse)
{
    const struct fixed_dft_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(INT16) | TYPE_BIT(INT32)));
    const int rank = input->dim_num;
    const int last = rank > 0 ? input->dims[rank - 1] : 0;
    const int length = param->fft_length, numbers = length + 2;
    if (length % 2 != 0)
        return fail_node(node, TENGINE_ERANGE, "fft_length is %d, expected an even number", length);
    if (rank < 1 || (inverse ? last != numbers : last > length))
        return fail_node(node, TENGINE_EINVAL,
                         "the input has rank %d and %d elements along its last axis, expected %s "
                         "%d for fft_length %d",
                         rank, last, inverse ? "exactly" : "at most", inverse ? numbers : length,
                         length);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        dims[i] = input->dims[i];
    dims[rank - 1] = inverse ? length : numbers;
    return set_node_output(node, 0, input->data_type, dims, rank);
}

static int infer_rfft(struct node* node)
{
    return infer_transform(node, false);
}

static int infer_irfft(struct node* node)
{
    return infer_transform(node, true);
}

static const op_field_t dft_fields[] = {
    OP_FIELD(struct fixed_dft_param, INT, fft_length, .required = 1, .minimum = 2,
             .maximum = FIXED_DFT_MOST_POINTS),
};

// ---- SignalFftAutoScale: samples times the power of 2 up to which they are int16, and its log
// ----

static int infer_auto_scale(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_list(node, 0, TYPE_BIT(INT16)));
    TENGINE_RETURN_IF_ERROR(set_node_output_like(node, 0, get_ir_node_input(node, 0), -1));
    return set_node_output(node, 1, TENGINE_DT_INT32, NULL, 0);
}

// ---- SignalFilterBank ----

// Inputs: energies, weights, unweights; and for each channel and one before them the first energy,
// the first weight and the number of both. A channel is the sum of its energies times weights and
// of those of the channel before it times unweights.
static int infer_filter_bank(struct node* node)
{
    const struct filter_bank_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(require_list(node, 0, TYPE_BIT(UINT32)));
    for (int i = 1; i < 6; ++i)
        TENGINE_RETURN_IF_ERROR(require_list(node, i, TYPE_BIT(INT16)));
    for (int i = 3; i < 6; ++i) {
        const int number = get_ir_node_input(node, i)->dims[0];
        if (number != param->num_channels + 1)
            return fail_node(node, TENGINE_EINVAL,
                             "input %d has %d elements, expected num_channels + 1, %d", i, number,
                             param->num_channels + 1);
    }
    const int64_t channels = param->num_channels;
    return set_node_output(node, 0, TENGINE_DT_UINT64, &channels, 1);
}

static const op_field_t filter_bank_fields[] = {
    OP_FIELD(struct filter_bank_param, INT, num_channels, .required = 1, .minimum = 1,
             .maximum = 1 << 15),
};

// ---- SignalFilterBankSquareRoot: rounded, and shifted to the right by the scalar input 1 ----

static int infer_square_root(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_list(node, 0, TYPE_BIT(UINT64)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(INT32)));
    TENGINE_RETURN_IF_ERROR(require_rank(node, 1, 0));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), TENGINE_DT_UINT32);
}

// ---- SignalPCAN: per-channel amplitude normalisation; inputs: signal, noise, table of gains ----

static int infer_pcan(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_list(node, 0, TYPE_BIT(UINT32)));
    TENGINE_RETURN_IF_ERROR(require_list(node, 1, TYPE_BIT(UINT32)));
    TENGINE_RETURN_IF_ERROR(require_list(node, 2, TYPE_BIT(INT16)));
    const struct tensor* signal = get_ir_node_input(node, 0);
    const int noise = get_ir_node_input(node, 1)->dims[0];
    const int gains = get_ir_node_input(node, 2)->dims[0];
    if (noise != signal->dims[0] || gains < GAIN_TABLE_SIZE)
        return fail_node(node, TENGINE_EINVAL,
                         "the signal has %d channels, the noise %d and the table %d gains, "
                         "expected as many channels and at least %d gains",
                         signal->dims[0], noise, gains, GAIN_TABLE_SIZE);
    return set_node_output_like(node, 0, signal, -1);
}

static const op_field_t pcan_fields[] = {
    OP_FIELD(struct gain_control_param, INT, snr_shift, .required = 1, .maximum = 63),
};

// ---- SignalFilterBankLog: natural logarithm times output_scale, at most 32767 ----

static int infer_log(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_list(node, 0, TYPE_BIT(UINT32)));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), TENGINE_DT_INT16);
}

static const op_field_t log_fields[] = {
    OP_FIELD(struct filter_bank_log_param, INT, output_scale, .required = 1, .minimum = 1,
             .maximum = INT_MAX),
    OP_FIELD(struct filter_bank_log_param, INT, input_correction_bits, .required = 1,
             .maximum = 31),
};

#define FIXED_COUNTS(inputs, outputs)                                                          \
    .version = 1, .until = 1, .min_input = inputs, .max_input = inputs, .min_output = outputs, \
    .max_output = outputs
#define FIXED_PARAMS(table, type) OP_FIELDS(table), .param_size = sizeof(struct type)

static const ir_method_t* const rows[] = {
    OWN_ROW(SignalFftAutoScale, FIXED_COUNTS(1, 2), .infer_shape = infer_auto_scale,
            .types = "0 int32"),
    OWN_ROW(SignalFilterBank, FIXED_COUNTS(6, 1), .infer_shape = infer_filter_bank,
            .types = "uint64", FIXED_PARAMS(filter_bank_fields, filter_bank_param)),
    OWN_ROW(SignalFilterBankLog, FIXED_COUNTS(1, 1), .infer_shape = infer_log, .types = "int16",
            FIXED_PARAMS(log_fields, filter_bank_log_param)),
    OWN_ROW(SignalFilterBankSquareRoot, FIXED_COUNTS(2, 1), .infer_shape = infer_square_root,
            .types = "uint32"),
    OWN_ROW(SignalIrfft, FIXED_COUNTS(1, 1), .infer_shape = infer_irfft,
            FIXED_PARAMS(dft_fields, fixed_dft_param)),
    OWN_ROW(SignalPCAN, FIXED_COUNTS(3, 1), .infer_shape = infer_pcan,
            FIXED_PARAMS(pcan_fields, gain_control_param)),
    OWN_ROW(SignalRfft, FIXED_COUNTS(1, 1), .infer_shape = infer_rfft,
            FIXED_PARAMS(dft_fields, fixed_dft_param)),
};

OPERATOR_TABLE(fixed_signal_ops, rows);

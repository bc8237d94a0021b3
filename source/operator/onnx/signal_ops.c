// SPDX-License-Identifier: Apache-2.0
// Signal processing: DFT, STFT, the windows Hann, Hamming and Blackman, MelWeightMatrix.
// Parameters are in signal_param.h.
#include <limits.h>

#include "operator/infer.h"
#include "operator/onnx/signal_param.h"
#include "operator/onnx_type.h"
#include "operator/row.h"
#include "operator/type_set.h"

// Reads an integer input of one element, `otherwise` if the input is absent. Returns 0,
// OP_SHAPE_LATER or an error, also for a value below `minimum` or beyond an int.
static int read_size_input(const struct node* node, int index, const char* name, int64_t minimum,
                           int64_t otherwise, int64_t* out_value)
{
    *out_value = otherwise;
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor) return TENGINE_OK;
    if (tensor->elem_num != 1)
        return fail_node(node, TENGINE_EINVAL, "%s has %lld elements, expected a scalar", name,
                         (long long)tensor->elem_num);
    int num;
    const int status = read_int_input(node, index, out_value, 1, &num);
    if (status != TENGINE_OK) return status;
    if (*out_value < minimum || *out_value > INT_MAX)
        return fail_node(node, TENGINE_ERANGE, "%s is %lld, expected %lld to %d", name,
                         (long long)*out_value, (long long)minimum, INT_MAX);
    return TENGINE_OK;
}

// Checks the last dimension of a signal: 1 for real and 2 for complex samples. `needed`: one of
// these, for onesided; 0: either.
static int check_samples(const struct node* node, const struct tensor* signal, int needed)
{
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    const int components = signal->dims[signal->dim_num - 1];
    if (components != 1 && components != 2)
        return fail_node(node, TENGINE_EINVAL,
                         "the last dimension of the input is %d, expected 1 (real) or 2 (complex)",
                         components);
    if (needed == 0 || components == needed) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "onesided needs a %s input, this one is %s",
                     needed == 1 ? "real" : "complex, for the inverse",
                     components == 1 ? "real" : "complex");
}

static int64_t count_bins(int64_t length, int onesided)
{
    return onesided ? length / 2 + 1 : length;
}

// ---- DFT ----

static int read_dft_axis(const struct node* node, int* out_axis)
{
    enum
    {
        AXIS_INPUT = 2,
        DEFAULT_AXIS = -2
    };
    const int rank = get_ir_node_input(node, 0)->dim_num;
    int64_t axis;
    const int status =
        read_size_input(node, AXIS_INPUT, "axis", -MAX_SHAPE_DIM_NUM, DEFAULT_AXIS, &axis);
    if (status != TENGINE_OK) return status;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, axis, rank, out_axis));
    if (*out_axis < rank - 1) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE,
                     "axis %lld is the last dimension, which holds real and imaginary part",
                     (long long)axis);
}

int read_dft_size(const struct node* node, struct dft_size* out_size)
{
    const struct dft_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num < 2)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected at least 2",
                         input->dim_num);
    // One side of a spectrum belongs to a real signal, which the inverse returns.
    const bool to_real = param->onesided && param->inverse;
    const int needed = to_real ? 2 : 1;
    TENGINE_RETURN_IF_ERROR(check_samples(node, input, param->onesided ? needed : 0));
    int status = read_dft_axis(node, &out_size->axis);
    if (status != TENGINE_OK) return status;
    const int64_t dimension = input->dims[out_size->axis];
    const int64_t all = to_real ? 2 * (dimension - 1) : dimension;
    status = read_size_input(node, 1, "dft_length", 1, all, &out_size->length);
    if (status != TENGINE_OK) return status;
    if (out_size->length < 1)
        return fail_node(node, TENGINE_EINVAL, "axis %d of %lld leaves no element to transform",
                         out_size->axis, (long long)dimension);
    out_size->bins = count_bins(out_size->length, param->onesided && !param->inverse);
    out_size->components = to_real ? 1 : 2;
    return TENGINE_OK;
}

static int infer_dft(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    struct dft_size size;
    const int status = read_dft_size(node, &size);
    if (status != TENGINE_OK) return status;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i == size.axis ? size.bins : input->dims[i];
    dims[input->dim_num - 1] = size.components;
    return set_node_output(node, 0, input->data_type, dims, input->dim_num);
}

static const op_field_t dft_fields[] = {
    OP_FIELD(struct dft_param, INT, axis, .number = 1, .until = 19, .moved_as = OP_MOVED_INT64,
             .moved_input = 2),
    OP_FIELD(struct dft_param, INT, inverse, .maximum = 1),
    OP_FIELD(struct dft_param, INT, onesided, .maximum = 1),
};

// ---- STFT ----

enum
{
    STFT_STEP = 1,
    STFT_WINDOW = 2,
    STFT_LENGTH = 3
};

// Reads the length of the window; -1: there is none.
static int read_window_length(const struct node* node, int64_t* out_length)
{
    const struct tensor* window = get_ir_node_input(node, STFT_WINDOW);
    *out_length = -1;
    if (!window) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(
        require_type(node, STFT_WINDOW, UINT32_C(1) << get_ir_node_input(node, 0)->data_type));
    if (window->dim_num != 1)
        return fail_node(node, TENGINE_EINVAL, "the window has %d dimensions, expected 1",
                         window->dim_num);
    *out_length = window->dims[0];
    return TENGINE_OK;
}

static int read_frame_length(const struct node* node, int64_t* out_length)
{
    int64_t window;
    TENGINE_RETURN_IF_ERROR(read_window_length(node, &window));
    const int status = read_size_input(node, STFT_LENGTH, "frame_length", 1, window, out_length);
    if (status != TENGINE_OK) return status;
    if (*out_length < 0)
        return fail_node(node, TENGINE_EINVAL, "a window or frame_length is required");
    if (*out_length == 0) return fail_node(node, TENGINE_EINVAL, "the window is empty");
    if (window >= 0 && window != *out_length)
        return fail_node(node, TENGINE_EINVAL, "the window has %lld samples, frame_length is %lld",
                         (long long)window, (long long)*out_length);
    return TENGINE_OK;
}

int read_stft_size(const struct node* node, struct stft_size* out_size)
{
    const struct stft_param* param = node->op.param_mem;
    const struct tensor* signal = get_ir_node_input(node, 0);
    if (signal->dim_num != 2 && signal->dim_num != 3)
        return fail_node(node, TENGINE_EINVAL,
                         "the signal has %d dimensions, expected [batch, length] or [batch, "
                         "length, 1 or 2]",
                         signal->dim_num);
    out_size->components = 1;
    if (signal->dim_num == 2)
        TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    else
        TENGINE_RETURN_IF_ERROR(check_samples(node, signal, param->onesided ? 1 : 0));
    if (signal->dim_num == 3) out_size->components = signal->dims[2];
    int status = read_size_input(node, STFT_STEP, "frame_step", 1, 0, &out_size->step);
    if (status != TENGINE_OK) return status;
    status = read_frame_length(node, &out_size->length);
    if (status != TENGINE_OK) return status;
    if (out_size->length > signal->dims[1])
        return fail_node(node, TENGINE_ERANGE, "a frame has %lld samples, the signal only %d",
                         (long long)out_size->length, signal->dims[1]);
    out_size->bins = count_bins(out_size->length, param->onesided);
    out_size->frames = (signal->dims[1] - out_size->length) / out_size->step + 1;
    return TENGINE_OK;
}

static int infer_stft(struct node* node)
{
    const struct tensor* signal = get_ir_node_input(node, 0);
    struct stft_size size;
    const int status = read_stft_size(node, &size);
    if (status != TENGINE_OK) return status;
    const int64_t dims[] = {signal->dims[0], size.frames, size.bins, 2};
    return set_node_output(node, 0, signal->data_type, dims, 4);
}

static const op_field_t stft_fields[] = {
    OP_FIELD(struct stft_param, INT, onesided, .number = 1, .maximum = 1),
};

// ---- HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix ----

static int find_output_type(const struct node* node, int onnx_type, int* out_type)
{
    *out_type = get_data_type_of_onnx(onnx_type);
    if (*out_type >= 0 && (TYPES_NUMBER >> *out_type & 1u)) return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE,
                     "output_datatype is %d, which is not a supported type of numbers", onnx_type);
}

static int infer_window_function(struct node* node)
{
    const struct window_function_param* param = node->op.param_mem;
    int type;
    int64_t size;
    TENGINE_RETURN_IF_ERROR(find_output_type(node, param->output_datatype, &type));
    const int status = read_size_input(node, 0, "size", 0, 0, &size);
    if (status != TENGINE_OK) return status;
    return set_node_output(node, 0, type, &size, 1);
}

static int infer_mel_weight_matrix(struct node* node)
{
    const struct mel_weight_matrix_param* param = node->op.param_mem;
    int type;
    TENGINE_RETURN_IF_ERROR(find_output_type(node, param->output_datatype, &type));
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        const uint32_t types = i < 3 ? TYPE_BIT(INT32) | TYPE_BIT(INT64) : TYPES_FLOAT;
        TENGINE_RETURN_IF_ERROR(require_type(node, i, types));
        if (input->elem_num != 1)
            return fail_node(node, TENGINE_EINVAL, "input %d has %lld elements, expected a scalar",
                             i, (long long)input->elem_num);
    }
    int64_t mel_bins;
    int64_t dft_length;
    int status = read_size_input(node, 0, "num_mel_bins", 0, 0, &mel_bins);
    if (status != TENGINE_OK) return status;
    status = read_size_input(node, 1, "dft_length", 1, 0, &dft_length);
    if (status != TENGINE_OK) return status;
    const int64_t dims[] = {count_bins(dft_length, 1), mel_bins};
    return set_node_output(node, 0, type, dims, 2);
}

enum
{
    ONNX_FLOAT = 1
};

static const op_field_t window_function_fields[] = {
    OP_FIELD(struct window_function_param, INT, output_datatype, .number = ONNX_FLOAT),
    OP_FIELD(struct window_function_param, INT, periodic, .number = 1, .maximum = 1),
};
static const op_field_t mel_weight_matrix_fields[] = {
    OP_FIELD(struct mel_weight_matrix_param, INT, output_datatype, .number = ONNX_FLOAT),
};

#define WINDOW_FUNCTION_ROW                                                                \
    .version = 17, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,       \
    OP_FIELDS(window_function_fields), .param_size = sizeof(struct window_function_param), \
    .infer_shape = infer_window_function, .types = "@output_datatype"

static const ir_method_t* const rows[] = {
    OP_ROW(DFT, .version = 17, .min_input = 1, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(dft_fields), .param_size = sizeof(struct dft_param), .infer_shape = infer_dft),
    OP_ROW(STFT, .version = 17, .min_input = 2, .max_input = 4, .min_output = 1, .max_output = 1,
           OP_FIELDS(stft_fields), .param_size = sizeof(struct stft_param),
           .infer_shape = infer_stft),
    OP_ROW(HannWindow, WINDOW_FUNCTION_ROW),
    OP_ROW(HammingWindow, WINDOW_FUNCTION_ROW),
    OP_ROW(BlackmanWindow, WINDOW_FUNCTION_ROW),
    OP_ROW(MelWeightMatrix, .version = 17, .min_input = 5, .max_input = 5, .min_output = 1,
           .max_output = 1, OP_FIELDS(mel_weight_matrix_fields),
           .param_size = sizeof(struct mel_weight_matrix_param),
           .infer_shape = infer_mel_weight_matrix, .types = "@output_datatype"),
};

OPERATOR_TABLE(signal_ops, rows);

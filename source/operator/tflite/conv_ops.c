// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's convolutions. Filters are constants with the channels last, which become those
// of ONNX once, when constants are folded.
#include "operator/infer.h"
#include "operator/tflite/lower.h"

struct tfl_conv_param
{
    int padding;
    int stride_w;
    int stride_h;
    int activation;
    int dilation_w;
    int dilation_h;
    int depth_multiplier;
    int quantized_bias_type;
};

struct tfl_transpose_conv_param
{
    int padding;
    int stride_w;
    int stride_h;
    int activation;
    int quantized_bias_type;
};

struct tfl_transpose_bias_param
{
    int padding;  // TFL_RAW_SAME, TFL_RAW_VALID
    int stride_w;
    int stride_h;
};

struct tfl_conv_3d_param
{
    int padding;
    int stride_d;
    int stride_w;
    int stride_h;
    int activation;
    int dilation_d;
    int dilation_w;
    int dilation_h;
};

static const op_field_t conv_fields[] = {
    TFL_PADDING(struct tfl_conv_param, 0),
    TFL_POSITIVE(struct tfl_conv_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_conv_param, stride_h, 2, 0),
    TFL_ACTIVATION(struct tfl_conv_param, 3),
    TFL_POSITIVE(struct tfl_conv_param, dilation_w, 4, 1),
    TFL_POSITIVE(struct tfl_conv_param, dilation_h, 5, 1),
    TFL_FIELD(struct tfl_conv_param, INT, quantized_bias_type, BYTE, 6),
};

// The number of results of a channel is that of the shapes; old files have a wrong one.
static const op_field_t depthwise_fields[] = {
    TFL_PADDING(struct tfl_conv_param, 0),
    TFL_POSITIVE(struct tfl_conv_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_conv_param, stride_h, 2, 0),
    TFL_FIELD(struct tfl_conv_param, INT, depth_multiplier, WORD, 3),
    TFL_ACTIVATION(struct tfl_conv_param, 4),
    TFL_POSITIVE(struct tfl_conv_param, dilation_w, 5, 1),
    TFL_POSITIVE(struct tfl_conv_param, dilation_h, 6, 1),
};

static const op_field_t transpose_conv_fields[] = {
    TFL_PADDING(struct tfl_transpose_conv_param, 0),
    TFL_POSITIVE(struct tfl_transpose_conv_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_transpose_conv_param, stride_h, 2, 0),
    TFL_ACTIVATION(struct tfl_transpose_conv_param, 3),
    TFL_FIELD(struct tfl_transpose_conv_param, INT, quantized_bias_type, BYTE, 4),
};

static const op_field_t transpose_bias_fields[] = {
    TFL_RAW_PADDING(struct tfl_transpose_bias_param),
    TFL_POSITIVE(struct tfl_transpose_bias_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_transpose_bias_param, stride_h, 2, 0),
};

static const op_field_t conv_3d_fields[] = {
    TFL_PADDING(struct tfl_conv_3d_param, 0),
    TFL_POSITIVE(struct tfl_conv_3d_param, stride_d, 1, 0),
    TFL_POSITIVE(struct tfl_conv_3d_param, stride_w, 2, 0),
    TFL_POSITIVE(struct tfl_conv_3d_param, stride_h, 3, 0),
    TFL_ACTIVATION(struct tfl_conv_3d_param, 4),
    TFL_POSITIVE(struct tfl_conv_3d_param, dilation_d, 5, 1),
    TFL_POSITIVE(struct tfl_conv_3d_param, dilation_w, 6, 1),
    TFL_POSITIVE(struct tfl_conv_3d_param, dilation_h, 7, 1),
};

static void require_ranks(emitter_t* emit, const struct tensor* input, const struct tensor* filter,
                          int rank)
{
    if (input->dim_num == rank && filter->dim_num == rank) return;
    fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d and its filter rank %d, expected %d",
                  input->dim_num, filter->dim_num, rank);
}

// Appends Conv of a filter in ONNX's order, and returns its result in NHWC.
static struct tensor* emit_conv(emitter_t* emit, const tfl_window_t* window, struct tensor* input,
                                struct tensor* filter, struct tensor* bias, int64_t groups,
                                int activation)
{
    struct tensor* planes = emit_channels_first(emit, input);
    begin_op(emit, "Conv", bias ? 3 : 2, planes, filter, bias);
    emit_window(emit, window, input);
    emit_attr_int(emit, "group", groups);
    struct tensor* result = end_op(emit);
    return emit_channels_last(emit, emit_activation(emit, activation, result));
}

static tfl_window_t make_window(const struct tfl_conv_param* param, const struct tensor* filter)
{
    return (tfl_window_t){.axis_num = 2,
                          .padding = param->padding,
                          .kernel = {filter->dims[1], filter->dims[2]},
                          .stride = {param->stride_h, param->stride_w},
                          .dilation = {param->dilation_h, param->dilation_w}};
}

static int lower_conv(struct graph* graph, struct node* node)
{
    const struct tfl_conv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *filter = get_operand(&emit, 1);
    require_ranks(&emit, input, filter, 4);
    if (emit.status < 0) return emit.status;
    const int channels = input->dims[3], taken = filter->dims[3];
    if (taken < 1 || channels % taken != 0)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has %d channels, its filter takes %d", channels, taken);
    const tfl_window_t window = make_window(param, filter);
    struct tensor* turned = emit_channels_first(&emit, filter);
    return finish_emitting(&emit, 1,
                           emit_conv(&emit, &window, input, turned, get_operand(&emit, 2),
                                     channels / taken, param->activation));
}

static int lower_depthwise_conv(struct graph* graph, struct node* node)
{
    const struct tfl_conv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *filter = get_operand(&emit, 1);
    require_ranks(&emit, input, filter, 4);
    if (emit.status < 0) return emit.status;
    const int channels = input->dims[3], results = filter->dims[3];
    if (filter->dims[0] != 1 || channels < 1 || results % channels != 0)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has %d channels, its filter the shape [%d, %d, %d, %d]; "
                             "expected 1 and a multiple of the channels",
                             channels, filter->dims[0], filter->dims[1], filter->dims[2], results);
    const tfl_window_t window = make_window(param, filter);
    struct tensor* turned = emit_moved_axis(&emit, filter, 3, 0);
    return finish_emitting(&emit, 1,
                           emit_conv(&emit, &window, input, turned, get_operand(&emit, 2), channels,
                                     param->activation));
}

static tfl_window_t make_window_3d(const struct tfl_conv_3d_param* param,
                                   const struct tensor* filter)
{
    return (tfl_window_t){.axis_num = 3,
                          .padding = param->padding,
                          .kernel = {filter->dims[0], filter->dims[1], filter->dims[2]},
                          .stride = {param->stride_d, param->stride_h, param->stride_w},
                          .dilation = {param->dilation_d, param->dilation_h, param->dilation_w}};
}

static int lower_conv_3d(struct graph* graph, struct node* node)
{
    const struct tfl_conv_3d_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *filter = get_operand(&emit, 1);
    require_ranks(&emit, input, filter, 5);
    if (emit.status < 0) return emit.status;
    const int channels = input->dims[4], taken = filter->dims[3];
    if (taken < 1 || channels % taken != 0)
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its input has %d channels, its filter takes %d", channels, taken);
    const tfl_window_t window = make_window_3d(param, filter);
    struct tensor* turned =
        emit_transpose(&emit, filter, (const int64_t[]){4, 3, 0, 1, 2}, filter->dim_num);
    return finish_emitting(&emit, 1,
                           emit_conv(&emit, &window, input, turned, get_operand(&emit, 2),
                                     channels / taken, param->activation));
}

// ---- transposed convolutions ----

// Sets the padding that ConvTranspose cuts off, and the elements that it adds where the output is
// larger than the windows cover.
static void emit_cut(emitter_t* emit, const tfl_window_t* window, const struct tensor* input,
                     const int64_t output[])
{
    const int number = window->axis_num;
    int64_t pads[6], added[3];
    for (int i = 0; i < number; ++i) {
        const int64_t reach = (window->kernel[i] - 1) * window->dilation[i] + 1;
        const int64_t covered = ((int64_t)input->dims[1 + i] - 1) * window->stride[i] + reach;
        const int64_t surplus = covered - output[1 + i];
        added[i] = surplus < 0 ? -surplus : 0;
        pads[i] = surplus < 0 ? 0 : surplus / 2;
        pads[number + i] = surplus < 0 ? 0 : surplus - surplus / 2;
    }
    emit_attr_ints(emit, "strides", window->stride, number);
    emit_attr_ints(emit, "dilations", window->dilation, number);
    emit_attr_ints(emit, "pads", pads, 2 * number);
    emit_attr_ints(emit, "output_padding", added, number);
}

// The output of the converters of layers: SAME multiplies the input by the strides, VALID adds what
// the windows reach over.
static void find_usual_output(const tfl_window_t* window, const struct tensor* input, int results,
                              int64_t output[5])
{
    output[0] = input->dims[0];
    for (int i = 0; i < window->axis_num; ++i) {
        const int64_t reach = (window->kernel[i] - 1) * window->dilation[i] + 1;
        const int64_t over = reach - window->stride[i];
        const bool is_valid = window->padding == TFL_PADDING_VALID;
        output[1 + i] = input->dims[1 + i] * window->stride[i] + (is_valid && over > 0 ? over : 0);
    }
    output[1 + window->axis_num] = results;
}

// Reads the shape of the output, input 0; the usual one where it is computed.
static void read_output_shape(emitter_t* emit, const tfl_window_t* window,
                              const struct tensor* input, int results, int64_t output[5])
{
    int rank = 0;
    const int status = read_int_input(emit->origin, 0, output, 5, &rank);
    if (status < 0) emit->status = status;
    if (status == OP_SHAPE_LATER) {
        find_usual_output(window, input, results, output);
        return;
    }
    if (emit->status < 0 || (rank == input->dim_num && output[rank - 1] == results)) return;
    fail_emitting(emit, TENGINE_EINVAL,
                  "its output shape has %d dimensions and %lld channels, expected %d and the %d of "
                  "the filter",
                  rank, (long long)(rank > 0 ? output[rank - 1] : 0), input->dim_num, results);
}

// `filter` has ONNX's order.
static int finish_transposed(emitter_t* emit, const tfl_window_t* window, struct tensor* input,
                             struct tensor* filter, struct tensor* bias, const int64_t output[5],
                             int activation)
{
    struct tensor* planes = emit_channels_first(emit, input);
    begin_op(emit, "ConvTranspose", bias ? 3 : 2, planes, filter, bias);
    emit_cut(emit, window, input, output);
    struct tensor* result = emit_activation(emit, activation, end_op(emit));
    return finish_emitting(emit, 1, emit_channels_last(emit, result));
}

static struct tensor* find_late_bias(const emitter_t* emit)
{
    return emit->origin->input_num > 3 ? get_operand(emit, 3) : NULL;
}

static int lower_transpose_conv(struct graph* graph, struct node* node)
{
    const struct tfl_transpose_conv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *filter = get_operand(&emit, 1), *input = get_operand(&emit, 2);
    require_ranks(&emit, input, filter, 4);
    if (emit.status < 0) return emit.status;
    const tfl_window_t window = {.axis_num = 2,
                                 .padding = param->padding,
                                 .kernel = {filter->dims[1], filter->dims[2]},
                                 .stride = {param->stride_h, param->stride_w},
                                 .dilation = {1, 1}};
    int64_t output[5] = {0};
    read_output_shape(&emit, &window, input, filter->dims[0], output);
    return finish_transposed(&emit, &window, input, emit_moved_axis(&emit, filter, 3, 0),
                             find_late_bias(&emit), output, param->activation);
}

static int lower_conv_3d_transpose(struct graph* graph, struct node* node)
{
    const struct tfl_conv_3d_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *filter = get_operand(&emit, 1), *input = get_operand(&emit, 2);
    require_ranks(&emit, input, filter, 5);
    if (emit.status < 0) return emit.status;
    const tfl_window_t window = make_window_3d(param, filter);
    int64_t output[5] = {0};
    read_output_shape(&emit, &window, input, filter->dims[3], output);
    struct tensor* turned = emit_transpose(&emit, filter, (const int64_t[]){4, 3, 0, 1, 2}, 5);
    return finish_transposed(&emit, &window, input, turned, find_late_bias(&emit), output,
                             param->activation);
}

// MediaPipe's: the order of inputs is that of CONV_2D, and files have no shape of the output.
static int lower_conv_transpose_bias(struct graph* graph, struct node* node)
{
    const struct tfl_transpose_bias_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *filter = get_operand(&emit, 1);
    require_ranks(&emit, input, filter, 4);
    if (emit.status < 0) return emit.status;
    const tfl_window_t window = {
        .axis_num = 2,
        .padding = param->padding == TFL_RAW_SAME ? TFL_PADDING_SAME : TFL_PADDING_VALID,
        .kernel = {filter->dims[1], filter->dims[2]},
        .stride = {param->stride_h, param->stride_w},
        .dilation = {1, 1}};
    int64_t output[5] = {0};
    find_usual_output(&window, input, filter->dims[0], output);
    return finish_transposed(&emit, &window, input, emit_moved_axis(&emit, filter, 3, 0),
                             get_operand(&emit, 2), output, TFL_ACTIVATION_NONE);
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(CONV_2D, 3, TFL_COUNTS(2, 3, 1), OP_FIELDS(conv_fields),
               .param_size = sizeof(struct tfl_conv_param), .lower = lower_conv),
    TFLITE_ROW(DEPTHWISE_CONV_2D, 4, TFL_COUNTS(2, 3, 1), OP_FIELDS(depthwise_fields),
               .param_size = sizeof(struct tfl_conv_param), .lower = lower_depthwise_conv),
    TFLITE_ROW(CONV_3D, 132, TFL_COUNTS(2, 3, 1), OP_FIELDS(conv_3d_fields),
               .param_size = sizeof(struct tfl_conv_3d_param), .lower = lower_conv_3d),
    TFLITE_ROW(CONV_3D_TRANSPOSE, 141, TFL_COUNTS(3, 4, 1), OP_FIELDS(conv_3d_fields),
               .param_size = sizeof(struct tfl_conv_3d_param), .lower = lower_conv_3d_transpose),
    TFLITE_ROW(TRANSPOSE_CONV, 67, TFL_COUNTS(3, 4, 1), OP_FIELDS(transpose_conv_fields),
               .param_size = sizeof(struct tfl_transpose_conv_param),
               .lower = lower_transpose_conv),
    TFLITE_ROW(Convolution2DTransposeBias, TFL_CUSTOM, TFL_COUNTS(3, 3, 1),
               OP_FIELDS(transpose_bias_fields),
               .param_size = sizeof(struct tfl_transpose_bias_param),
               .lower = lower_conv_transpose_bias),
};

OPERATOR_TABLE(tflite_conv_ops, rows);

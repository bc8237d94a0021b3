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
};

struct tfl_transpose_conv_param
{
    int padding;
    int stride_w;
    int stride_h;
    int activation;
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
};

// Field 3 is the number of results of a channel, which the shapes give; old files have a wrong one.
static const op_field_t depthwise_fields[] = {
    TFL_PADDING(struct tfl_conv_param, 0),
    TFL_POSITIVE(struct tfl_conv_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_conv_param, stride_h, 2, 0),
    TFL_ACTIVATION(struct tfl_conv_param, 4),
    TFL_POSITIVE(struct tfl_conv_param, dilation_w, 5, 1),
    TFL_POSITIVE(struct tfl_conv_param, dilation_h, 6, 1),
};

static const op_field_t transpose_conv_fields[] = {
    TFL_PADDING(struct tfl_transpose_conv_param, 0),
    TFL_POSITIVE(struct tfl_transpose_conv_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_transpose_conv_param, stride_h, 2, 0),
    TFL_ACTIVATION(struct tfl_transpose_conv_param, 3),
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
    const tfl_window_t window = {
        .axis_num = 3,
        .padding = param->padding,
        .kernel = {filter->dims[0], filter->dims[1], filter->dims[2]},
        .stride = {param->stride_d, param->stride_h, param->stride_w},
        .dilation = {param->dilation_d, param->dilation_h, param->dilation_w}};
    struct tensor* turned =
        emit_transpose(&emit, filter, (const int64_t[]){4, 3, 0, 1, 2}, filter->dim_num);
    return finish_emitting(&emit, 1,
                           emit_conv(&emit, &window, input, turned, get_operand(&emit, 2),
                                     channels / taken, param->activation));
}

// ---- TRANSPOSE_CONV ----

// The padding that ConvTranspose cuts off, and the elements that it adds where the output is larger
// than the windows cover.
static void emit_cut(emitter_t* emit, const struct tfl_transpose_conv_param* param,
                     const struct tensor* input, const struct tensor* filter,
                     const int64_t output[4])
{
    const int64_t strides[] = {param->stride_h, param->stride_w};
    int64_t pads[4], added[2];
    for (int i = 0; i < 2; ++i) {
        const int64_t covered =
            ((int64_t)input->dims[1 + i] - 1) * strides[i] + filter->dims[1 + i];
        const int64_t surplus = covered - output[1 + i];
        added[i] = surplus < 0 ? -surplus : 0;
        pads[i] = surplus < 0 ? 0 : surplus / 2;
        pads[2 + i] = surplus < 0 ? 0 : surplus - surplus / 2;
    }
    emit_attr_ints(emit, "strides", strides, 2);
    emit_attr_ints(emit, "pads", pads, 4);
    emit_attr_ints(emit, "output_padding", added, 2);
}

static int lower_transpose_conv(struct graph* graph, struct node* node)
{
    const struct tfl_transpose_conv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *filter = get_operand(&emit, 1), *input = get_operand(&emit, 2);
    require_ranks(&emit, input, filter, 4);
    int64_t output[4] = {0};
    const int rank = read_tfl_ints(&emit, 0, "output shape", output, 4);
    if (emit.status < 0) return emit.status;
    if (rank != 4 || output[3] != filter->dims[0])
        return fail_emitting(&emit, TENGINE_EINVAL,
                             "its output shape has %d dimensions and %lld channels, expected 4 "
                             "and the %d of the filter",
                             rank, (long long)output[3], filter->dims[0]);
    struct tensor* bias = node->input_num > 3 ? get_operand(&emit, 3) : NULL;
    struct tensor* planes = emit_channels_first(&emit, input);
    struct tensor* turned = emit_moved_axis(&emit, filter, 3, 0);
    begin_op(&emit, "ConvTranspose", bias ? 3 : 2, planes, turned, bias);
    emit_cut(&emit, param, input, filter, output);
    struct tensor* result = emit_activation(&emit, param->activation, end_op(&emit));
    return finish_emitting(&emit, 1, emit_channels_last(&emit, result));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(CONV_2D, 3, TFL_COUNTS(2, 3, 1), OP_FIELDS(conv_fields),
               .param_size = sizeof(struct tfl_conv_param), .lower = lower_conv),
    TFLITE_ROW(DEPTHWISE_CONV_2D, 4, TFL_COUNTS(2, 3, 1), OP_FIELDS(depthwise_fields),
               .param_size = sizeof(struct tfl_conv_param), .lower = lower_depthwise_conv),
    TFLITE_ROW(CONV_3D, 132, TFL_COUNTS(2, 3, 1), OP_FIELDS(conv_3d_fields),
               .param_size = sizeof(struct tfl_conv_3d_param), .lower = lower_conv_3d),
    TFLITE_ROW(TRANSPOSE_CONV, 67, TFL_COUNTS(3, 4, 1), OP_FIELDS(transpose_conv_fields),
               .param_size = sizeof(struct tfl_transpose_conv_param),
               .lower = lower_transpose_conv),
};

OPERATOR_TABLE(tflite_conv_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Tengine's Convolution and Deconvolution: ONNX's with two spatial axes, explicit pads and an
// activation of their own.
#include <limits.h>

#include "operator/onnx/conv_param.h"
#include "operator/row.h"
#include "operator/tengine/operand.h"

struct tm_conv_param
{
    int kernel_h;
    int kernel_w;
    int stride_h;
    int stride_w;
    int pad_h0;
    int pad_h1;
    int pad_w0;
    int pad_w1;
    int dilation_h;
    int dilation_w;
    int input_channel;  // not read: it follows from the input's shape
    int output_channel;
    int group;
    int activation;
};

struct tm_deconv_param
{
    int num_output;
    int kernel_h;
    int kernel_w;
    int stride_h;
    int stride_w;
    int pad_h0;
    int pad_w0;
    int pad_h1;
    int pad_w1;
    int dilation_h;
    int dilation_w;
    int group;
    int activation;
    int output_pad_h0;
    int output_pad_w0;
};

static const op_field_t conv_fields[] = {
    TM_FIELD(struct tm_conv_param, INT, kernel_h, WORD, 0, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, kernel_w, WORD, 4, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, stride_h, WORD, 8, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, stride_w, WORD, 12, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, dilation_h, WORD, 16, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, dilation_w, WORD, 20, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, input_channel, WORD, 24, .number = 64),
    TM_FIELD(struct tm_conv_param, INT, output_channel, WORD, 28, .number = 64),
    TM_FIELD(struct tm_conv_param, INT, group, WORD, 32, .number = 1),
    TM_FIELD(struct tm_conv_param, INT, activation, WORD, 36, .number = -1),
    TM_FIELD(struct tm_conv_param, INT, pad_h0, WORD, 40, .number = 0),
    TM_FIELD(struct tm_conv_param, INT, pad_w0, WORD, 44, .number = 0),
    TM_FIELD(struct tm_conv_param, INT, pad_h1, WORD, 48, .number = 0),
    TM_FIELD(struct tm_conv_param, INT, pad_w1, WORD, 52, .number = 0),
};

static const op_field_t deconv_fields[] = {
    TM_FIELD(struct tm_deconv_param, INT, num_output, WORD, 0, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, kernel_h, WORD, 4, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, kernel_w, WORD, 8, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, stride_h, WORD, 12, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, stride_w, WORD, 16, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, pad_w0, WORD, 20, .number = 0),
    TM_FIELD(struct tm_deconv_param, INT, pad_h0, WORD, 24, .number = 0),
    TM_FIELD(struct tm_deconv_param, INT, pad_w1, WORD, 28, .number = 0),
    TM_FIELD(struct tm_deconv_param, INT, pad_h1, WORD, 32, .number = 0),
    TM_FIELD(struct tm_deconv_param, INT, dilation_h, WORD, 36, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, dilation_w, WORD, 40, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, group, WORD, 44, .number = 1),
    TM_FIELD(struct tm_deconv_param, INT, activation, WORD, 48, .number = -1),
    TM_FIELD(struct tm_deconv_param, INT, output_pad_h0, WORD, 52, .number = 0),
    TM_FIELD(struct tm_deconv_param, INT, output_pad_w0, WORD, 56, .number = 0),
};

// ---- one spatial axis ----

// Sizes are below 2^31, so int64 holds their products.
typedef struct spatial_axis
{
    const char* name;
    int64_t input;
    int64_t kernel;
    int64_t stride;
    int64_t dilation;
    int64_t pad_begin;  // the input's; negative: the number of elements that are skipped
    int64_t pad_end;
} spatial_axis_t;

enum
{
    SAME_LESS_BEFORE = -1,
    SAME_MORE_BEFORE = -2
};

// Files of one-dimensional convolutions have a 0 for each field of the missing second axis.
static int64_t one_for_none(int64_t size)
{
    return size == 0 ? 1 : size;
}

static int64_t kernel_extent(const spatial_axis_t* axis)
{
    return (axis->kernel - 1) * axis->dilation + 1;
}

static void require_positive(emitter_t* emit, const char* what, const char* axis, int64_t value)
{
    if (value < 1)
        fail_emitting(emit, TENGINE_EINVAL, "%s_%s is %lld, expected at least 1", what, axis,
                      (long long)value);
}

static void check_axis(emitter_t* emit, const spatial_axis_t* axis)
{
    require_positive(emit, "kernel", axis->name, axis->kernel);
    require_positive(emit, "stride", axis->name, axis->stride);
    require_positive(emit, "dilation", axis->name, axis->dilation);
    if (axis->input < 1)
        fail_emitting(emit, TENGINE_EINVAL, "its input has no elements along axis %s", axis->name);
}

// SAME computes the padding as if there were no dilation; elements that a dilated kernel reads
// beyond it are 0, too.
static void pad_same(spatial_axis_t* axis)
{
    const int64_t output = (axis->input - 1) / axis->stride + 1;
    const int64_t total = (output - 1) * axis->stride + axis->kernel - axis->input;
    const int64_t half = total / 2;
    axis->pad_begin = axis->pad_begin == SAME_LESS_BEFORE ? half : total - half;
    axis->pad_end =
        (output - 1) * axis->stride + kernel_extent(axis) - axis->input - axis->pad_begin;
    if (axis->pad_end < 0) axis->pad_end = 0;
}

// A kernel that is a little larger than the padded input still has one output: sizes are divided
// towards 0, and an output of 0 is taken for 1.
static void pad_explicitly(emitter_t* emit, spatial_axis_t* axis)
{
    const int64_t extent = kernel_extent(axis);
    const int64_t slack = axis->input + axis->pad_begin + axis->pad_end - extent;
    if (slack >= 0) return;
    if (slack / axis->stride + 1 < 0)
        fail_emitting(emit, TENGINE_EINVAL,
                      "axis %s: a kernel of extent %lld does not fit an input of %lld with padding "
                      "%lld + %lld",
                      axis->name, (long long)extent, (long long)axis->input,
                      (long long)axis->pad_begin, (long long)axis->pad_end);
    axis->pad_end = extent - axis->input - axis->pad_begin;
}

static void resolve_pads(emitter_t* emit, spatial_axis_t* axis)
{
    if (emit->status < 0) return;
    const bool same = axis->pad_begin == SAME_LESS_BEFORE || axis->pad_begin == SAME_MORE_BEFORE;
    if (same)
        pad_same(axis);
    else if (axis->pad_begin < 0 || axis->pad_end < 0)
        fail_emitting(emit, TENGINE_EINVAL,
                      "its pads of axis %s are %lld and %lld, expected 0 or more, -1 or -2",
                      axis->name, (long long)axis->pad_begin, (long long)axis->pad_end);
    else
        pad_explicitly(emit, axis);
}

// Removes the elements at the beginning that negative padding skips.
static struct tensor* emit_skip(emitter_t* emit, struct tensor* input, spatial_axis_t axes[2])
{
    if (emit->status < 0 || (axes[0].pad_begin >= 0 && axes[1].pad_begin >= 0)) return input;
    int64_t starts[2];
    for (int i = 0; i < 2; ++i) {
        starts[i] = axes[i].pad_begin < 0 ? -axes[i].pad_begin : 0;
        if (axes[i].pad_begin < 0) axes[i].pad_begin = 0;
    }
    static const int64_t ends[] = {INT_MAX, INT_MAX};
    static const int64_t spatial[] = {2, 3};
    return emit_op(emit, "Slice", 4, input, emit_ints(emit, starts, 2), emit_ints(emit, ends, 2),
                   emit_ints(emit, spatial, 2));
}

// ---- lowering ----

static void emit_window(emitter_t* emit, const spatial_axis_t axes[2], int group)
{
    const spatial_axis_t *h = &axes[0], *w = &axes[1];
    emit_attr_ints(emit, "kernel_shape", (const int64_t[]){h->kernel, w->kernel}, 2);
    emit_attr_ints(emit, "strides", (const int64_t[]){h->stride, w->stride}, 2);
    emit_attr_ints(emit, "dilations", (const int64_t[]){h->dilation, w->dilation}, 2);
    emit_attr_ints(emit, "pads",
                   (const int64_t[]){h->pad_begin, w->pad_begin, h->pad_end, w->pad_end}, 4);
    emit_attr_int(emit, "group", group);
}

static void check_group(emitter_t* emit, int group, int input_channels, int output_channels)
{
    if (group < 1 || input_channels % group != 0 || output_channels % group != 0)
        fail_emitting(emit, TENGINE_EINVAL,
                      "%d input and %d output channels do not divide into %d groups",
                      input_channels, output_channels, group);
    if (output_channels < 1)
        fail_emitting(emit, TENGINE_EINVAL, "it has %d output channels, expected at least 1",
                      output_channels);
}

// Reshapes N x C x L to N x C x L x 1.
static struct tensor* emit_plane(emitter_t* emit)
{
    struct tensor* input = get_ir_node_input(emit->origin, 0);
    require_rank(emit, 3, 4);
    if (emit->status < 0 || input->dim_num == 4) return input;
    const int64_t dims[] = {input->dims[0], input->dims[1], input->dims[2], 1};
    return emit_reshape(emit, input, dims, 4);
}

// Convolution's activation 1 clips to -1 .. 1.
static struct tensor* emit_conv_activation(emitter_t* emit, struct tensor* input, int activation)
{
    if (activation < 0) return input;
    if (activation == 1) return emit_clip(emit, input, -1, 1);
    if (activation == 6) return emit_clip(emit, input, 0, 6);
    return emit_op(emit, "Relu", 1, input);
}

static int lower_conv(struct graph* graph, struct node* node)
{
    const struct tm_conv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = emit_plane(&emit);
    if (emit.status < 0) return emit.status;
    const bool flat = param->kernel_w == 0;
    spatial_axis_t axes[2] = {
        {"h", input->dims[2], one_for_none(param->kernel_h), one_for_none(param->stride_h),
         param->dilation_h, param->pad_h0, param->pad_h1},
        {"w", input->dims[3], one_for_none(param->kernel_w), one_for_none(param->stride_w),
         param->dilation_w, flat ? 0 : param->pad_w0, flat ? 0 : param->pad_w1}};
    const int channels = input->dims[1];
    check_group(&emit, param->group, channels, param->output_channel);
    for (int i = 0; i < 2; ++i) {
        if (axes[i].kernel == 1) axes[i].dilation = 1;
        check_axis(&emit, &axes[i]);
        resolve_pads(&emit, &axes[i]);
    }
    if (emit.status < 0) return emit.status;
    const int64_t dims[] = {param->output_channel, channels / param->group, axes[0].kernel,
                            axes[1].kernel};
    struct tensor* weight = emit_operand(&emit, 1, "weight", dims, 4);
    struct tensor* bias = emit_operand_list(&emit, 2, "bias", param->output_channel);
    input = emit_skip(&emit, input, axes);
    begin_op(&emit, "Conv", bias ? 3 : 2, input, weight, bias);
    emit_window(&emit, axes, param->group);
    return finish_emitting(&emit, 1, emit_conv_activation(&emit, end_op(&emit), param->activation));
}

// Deconvolution's activations have other numbers than Convolution's: 1 clips to 0 .. 1, and both 2
// and 6 are ReLU6.
static struct tensor* emit_deconv_activation(emitter_t* emit, struct tensor* input, int activation)
{
    if (activation < 0) return input;
    if (activation == 1) return emit_clip(emit, input, 0, 1);
    if (activation == 2 || activation == 6) return emit_clip(emit, input, 0, 6);
    return emit_op(emit, "Relu", 1, input);
}

static void check_deconv_pads(emitter_t* emit, const struct tm_deconv_param* param)
{
    const int pads[] = {param->pad_h0, param->pad_w0,        param->pad_h1,
                        param->pad_w1, param->output_pad_h0, param->output_pad_w0};
    for (int i = 0; i < (int)(sizeof pads / sizeof pads[0]); ++i)
        if (pads[i] < 0)
            fail_emitting(emit, TENGINE_EINVAL, "one of its pads is %d, expected 0 or more",
                          pads[i]);
}

// The weight has one block for each group: input channels x output channels x kernel, in the memory
// order of ONNX's weight.
static int lower_deconv(struct graph* graph, struct node* node)
{
    const struct tm_deconv_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = emit_plane(&emit);
    if (emit.status < 0) return emit.status;
    const spatial_axis_t axes[2] = {{"h", input->dims[2], param->kernel_h, param->stride_h,
                                     param->dilation_h, param->pad_h0, param->pad_h1},
                                    {"w", input->dims[3], param->kernel_w, param->stride_w,
                                     param->dilation_w, param->pad_w0, param->pad_w1}};
    check_group(&emit, param->group, input->dims[1], param->num_output);
    check_axis(&emit, &axes[0]);
    check_axis(&emit, &axes[1]);
    check_deconv_pads(&emit, param);
    if (emit.status < 0) return emit.status;
    const int64_t dims[] = {input->dims[1], param->num_output / param->group, param->kernel_h,
                            param->kernel_w};
    struct tensor* weight = emit_operand(&emit, 1, "weight", dims, 4);
    struct tensor* bias = emit_operand_list(&emit, 2, "bias", param->num_output);
    begin_op(&emit, "ConvTranspose", bias ? 3 : 2, input, weight, bias);
    emit_window(&emit, axes, param->group);
    emit_attr_ints(&emit, "output_padding",
                   (const int64_t[]){param->output_pad_h0, param->output_pad_w0}, 2);
    return finish_emitting(&emit, 1,
                           emit_deconv_activation(&emit, end_op(&emit), param->activation));
}

// ---- raising ----

static bool may_be_raised(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num > 4) {
        refuse_raising(node, "Tengine's convolutions have 2 spatial axes, this one has %d",
                       input->dim_num - 2);
        return false;
    }
    return has_full_planes(node);
}

static void begin_raised(emitter_t* emit, const char* op)
{
    struct tensor* bias = get_ir_node_input(emit->origin, 2);
    struct tensor* input = raise_to_plane(emit, get_ir_node_input(emit->origin, 0));
    begin_op(emit, op, bias ? 3 : 2, input, get_ir_node_input(emit->origin, 1), bias);
    emit_attr_int(emit, "group", get_ir_node_int(emit->origin, "group", 1));
}

static void raise_window(emitter_t* emit, const struct window_axis axes[2])
{
    static const char* const names[2][5] = {
        {"kernel_h", "stride_h", "dilation_h", "pad_h0", "pad_h1"},
        {"kernel_w", "stride_w", "dilation_w", "pad_w0", "pad_w1"}};
    for (int i = 0; i < 2; ++i) {
        emit_attr_int(emit, names[i][0], axes[i].kernel);
        emit_attr_int(emit, names[i][1], axes[i].stride);
        emit_attr_int(emit, names[i][2], axes[i].dilation);
        emit_attr_int(emit, names[i][3], axes[i].pad_begin);
        emit_attr_int(emit, names[i][4], axes[i].pad_end);
    }
}

static int raise_conv(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (!may_be_raised(node)) return OP_NOT_RAISED;
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_window(node, 1, &window));
    if (window.axis_num == 1) window.axes[1] = one_element_axis;
    emitter_t emit = start_emitting(graph, node);
    begin_raised(&emit, "tengine.Convolution");
    emit_attr_int(&emit, "input_channel", input->dims[1]);
    emit_attr_int(&emit, "output_channel", get_ir_node_input(node, 1)->dims[0]);
    raise_window(&emit, window.axes);
    return finish_with_plane(&emit, end_op(&emit));
}

// Returns the output padding: SAME and output_shape may give sizes that pads alone cannot.
static int64_t find_output_padding(const struct window_axis* axis)
{
    const int64_t extent = (int64_t)(axis->kernel - 1) * axis->dilation + 1;
    return axis->output -
           ((int64_t)(axis->input - 1) * axis->stride + extent - axis->pad_begin - axis->pad_end);
}

static int raise_deconv(struct graph* graph, struct node* node)
{
    if (!may_be_raised(node)) return OP_NOT_RAISED;
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_transpose_window(node, &window));
    if (window.axis_num == 1) window.axes[1] = one_element_axis;
    emitter_t emit = start_emitting(graph, node);
    begin_raised(&emit, "tengine.Deconvolution");
    emit_attr_int(&emit, "num_output", get_ir_node_output(node, 0)->dims[1]);
    raise_window(&emit, window.axes);
    emit_attr_int(&emit, "output_pad_h0", find_output_padding(&window.axes[0]));
    emit_attr_int(&emit, "output_pad_w0", find_output_padding(&window.axes[1]));
    return finish_with_plane(&emit, end_op(&emit));
}

#define WEIGHTED \
    .min_input = 2, .max_input = 3, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Convolution, 15, 5, 56, WEIGHTED, OP_FIELDS(conv_fields),
                .param_size = sizeof(struct tm_conv_param), .lower = lower_conv,
                RAISED("Conv", raise_conv)),
    TENGINE_ROW(Deconvolution, 17, 6, 60, WEIGHTED, OP_FIELDS(deconv_fields),
                .param_size = sizeof(struct tm_deconv_param), .lower = lower_deconv,
                RAISED("ConvTranspose", raise_deconv)),
};

OPERATOR_TABLE(tengine_convolution_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Operators on pictures, which ONNX has with the channels first. TensorFlow Lite's have two
// paddings: SAME, as many results as strides begin in the picture, and VALID, none; others become a
// PAD.
#include <float.h>
#include <math.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/conv_param.h"
#include "operator/onnx/pool_param.h"
#include "operator/onnx/resize_param.h"
#include "operator/tengine/move.h"
#include "operator/tengine/raise.h"
#include "operator/tflite/lower.h"
#include "operator/tflite/raise.h"

static const int64_t channels_last[] = {0, 2, 3, 1};
static const int64_t channels_first[] = {0, 3, 1, 2};

// The dimensions of a tensor in the other layout.
typedef struct picture
{
    int dims[4];
} picture_t;

static picture_t turn_dims(const struct tensor* tensor)
{
    return (picture_t){{tensor->dims[0], tensor->dims[2], tensor->dims[3], tensor->dims[1]}};
}

// Ends the operator whose result is that of the node with the channels last.
static int finish_picture(emitter_t* emit)
{
    const struct tensor* output = get_ir_node_output(emit->origin, 0);
    const picture_t turned = turn_dims(output);
    struct tensor* result = end_raised(emit, output->data_type, turned.dims, 4);
    return finish_emitting(emit, 1, emit_transpose(emit, result, channels_first, 4));
}

static struct tensor* emit_picture(emitter_t* emit, struct tensor* input)
{
    return emit_transpose(emit, input, channels_last, 4);
}

// ---- padding ----

static int64_t count_covered(const struct window_axis* axis)
{
    return (int64_t)(axis->output - 1) * axis->stride +
           (int64_t)(axis->kernel - 1) * axis->dilation + 1;
}

static bool is_same(const struct window_axis* axis)
{
    const int64_t missing = count_covered(axis) - axis->input;
    const int64_t pad = missing > 0 ? missing : 0;
    return axis->output == (axis->input + axis->stride - 1) / axis->stride &&
           axis->pad_begin == pad / 2;
}

static bool is_valid(const struct window_axis* axis)
{
    return axis->pad_begin == 0 && count_covered(axis) <= axis->input;
}

static bool are_same(const struct window* window)
{
    return is_same(&window->axes[0]) && is_same(&window->axes[1]);
}

// Pads with `value`, so that VALID windows are those of the node.
static struct tensor* emit_padded(emitter_t* emit, const struct window* window, float value,
                                  struct tensor* input)
{
    if (emit->status < 0) return NULL;
    int64_t pads[8] = {0};
    int dims[4] = {input->dims[0], input->dims[1], input->dims[2], input->dims[3]};
    for (int i = 0; i < 2; ++i) {
        const struct window_axis* axis = &window->axes[i];
        const int64_t end = count_covered(axis) - axis->input - axis->pad_begin;
        pads[2 * i + 2] = axis->pad_begin;
        pads[2 * i + 3] = end > 0 ? end : 0;
        dims[1 + i] += (int)(pads[2 * i + 2] + pads[2 * i + 3]);
    }
    struct tensor* list = emit_int32s(emit, pads, 8);
    if (list && set_ir_tensor_shape(list, (const int[]){4, 2}, 2) < 0)
        emit->status = tengine_error_code();
    if (value == 0)
        begin_op(emit, "tflite.PAD", 2, input, list);
    else
        begin_op(emit, "tflite.PADV2", 3, input, list, emit_floats(emit, &value, 1));
    return end_raised(emit, input->data_type, dims, 4);
}

// The padding of the operator; *inout_picture is padded with `value` where neither fits.
static int choose_padding(emitter_t* emit, const struct window* window, float value,
                          struct tensor** inout_picture)
{
    if (is_valid(&window->axes[0]) && is_valid(&window->axes[1])) return TFL_PADDING_VALID;
    if (are_same(window)) return TFL_PADDING_SAME;
    *inout_picture = emit_padded(emit, window, value, *inout_picture);
    return TFL_PADDING_VALID;
}

static bool is_flat(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num == 4) return true;
    refuse_raising(node, "its input has %d dimensions, expected 4", input->dim_num);
    return false;
}

// ---- convolutions ----

// A convolution with one spatial axis as one with two.
static int widen_conv(struct graph* graph, struct node* node)
{
    static const char* const lists[] = {"strides", "dilations"};
    const struct tensor *input = get_ir_node_input(node, 0), *filter = get_ir_node_input(node, 1);
    const struct tensor* output = get_ir_node_output(node, 0);
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_window(node, 1, &window));
    const struct window_axis* axis = &window.axes[0];
    const int64_t plane[] = {input->dims[0], input->dims[1], 1, input->dims[2]};
    const int64_t wide[] = {filter->dims[0], filter->dims[1], 1, filter->dims[2]};
    const int64_t list[] = {output->dims[0], output->dims[1], output->dims[2]};
    emitter_t emit = start_emitting(graph, node);
    struct tensor* bias = get_ir_node_input(node, 2);
    struct tensor* picture = emit_reshape(&emit, get_ir_node_input(node, 0), plane, 4);
    struct tensor* weights = emit_reshape(&emit, get_ir_node_input(node, 1), wide, 4);
    begin_op(&emit, "Conv", bias ? 3 : 2, picture, weights, bias);
    emit_attr_int(&emit, "group", get_ir_node_int(node, "group", 1));
    emit_attr_ints(&emit, lists[0], (const int64_t[]){1, axis->stride}, 2);
    emit_attr_ints(&emit, lists[1], (const int64_t[]){1, axis->dilation}, 2);
    emit_attr_ints(&emit, "pads", (const int64_t[]){0, axis->pad_begin, 0, axis->pad_end}, 4);
    return finish_emitting(&emit, 1, emit_reshape(&emit, end_op(&emit), list, 3));
}

static int raise_conv(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num == 3) return widen_conv(graph, node);
    if (!is_flat(node)) return OP_NOT_RAISED;
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_window(node, 1, &window));
    const int64_t groups = get_ir_node_int(node, "group", 1);
    const bool is_depthwise = groups == input->dims[1] && groups > 1;
    struct tensor *filter = get_ir_node_input(node, 1), *bias = get_ir_node_input(node, 2);
    const int results = filter->dims[0];
    emitter_t emit = start_emitting(graph, node);
    struct tensor* picture = emit_picture(&emit, get_ir_node_input(node, 0));
    const int padding = choose_padding(&emit, &window, 0, &picture);
    struct tensor* turned = is_depthwise
                                ? emit_turned(&emit, filter, (const int64_t[]){1, 2, 3, 0}, 4)
                                : emit_turned(&emit, filter, channels_last, 4);
    if (!bias) bias = emit_zeroes(&emit, results);
    begin_op(&emit, is_depthwise ? "tflite.DEPTHWISE_CONV_2D" : "tflite.CONV_2D", 3, picture,
             turned, bias);
    emit_attr_int(&emit, "padding", padding);
    emit_attr_int(&emit, "stride_h", window.axes[0].stride);
    emit_attr_int(&emit, "stride_w", window.axes[1].stride);
    emit_attr_int(&emit, "dilation_h", window.axes[0].dilation);
    emit_attr_int(&emit, "dilation_w", window.axes[1].dilation);
    if (is_depthwise) emit_attr_int(&emit, "depth_multiplier", results / groups);
    return finish_picture(&emit);
}

// A crop of the full result replaces paddings that the operator does not have.
static struct tensor* emit_crop(emitter_t* emit, struct tensor* full, const struct window* window,
                                const struct tensor* output)
{
    const picture_t turned = turn_dims(output);
    const int64_t begins[] = {0, window->axes[0].pad_begin, window->axes[1].pad_begin, 0};
    const int64_t sizes[] = {turned.dims[0], turned.dims[1], turned.dims[2], turned.dims[3]};
    begin_op(emit, "tflite.SLICE", 3, full, emit_int32s(emit, begins, 4),
             emit_int32s(emit, sizes, 4));
    return end_raised(emit, output->data_type, turned.dims, 4);
}

static int64_t count_full(const struct window_axis* axis)
{
    return (int64_t)(axis->input - 1) * axis->stride + axis->kernel;
}

static int raise_conv_transpose(struct graph* graph, struct node* node)
{
    if (!is_flat(node)) return OP_NOT_RAISED;
    struct window window;
    TENGINE_RETURN_IF_ERROR(resolve_conv_transpose_window(node, &window));
    const struct tensor* output = get_ir_node_output(node, 0);
    const struct window_axis* axes = window.axes;
    if (get_ir_node_int(node, "group", 1) != 1 || axes[0].dilation != 1 || axes[1].dilation != 1)
        return refuse_raising(node, "TRANSPOSE_CONV has neither groups nor dilations");
    picture_t full = turn_dims(output);
    for (int i = 0; i < 2; ++i) {
        full.dims[1 + i] = (int)count_full(&axes[i]);
        if (axes[i].output + axes[i].pad_begin > full.dims[1 + i])
            return refuse_raising(node, "its result is larger than the windows cover");
    }
    emitter_t emit = start_emitting(graph, node);
    struct tensor* picture = emit_picture(&emit, get_ir_node_input(node, 0));
    struct tensor* filter =
        emit_turned(&emit, get_ir_node_input(node, 1), (const int64_t[]){1, 2, 3, 0}, 4);
    struct tensor* bias = get_ir_node_input(node, 2);
    const int64_t sizes[] = {full.dims[0], full.dims[1], full.dims[2], full.dims[3]};
    begin_op(&emit, "tflite.TRANSPOSE_CONV", bias ? 4 : 3, emit_int32s(&emit, sizes, 4), filter,
             picture, bias);
    emit_attr_int(&emit, "padding", TFL_PADDING_VALID);
    emit_attr_int(&emit, "stride_h", axes[0].stride);
    emit_attr_int(&emit, "stride_w", axes[1].stride);
    struct tensor* result = end_raised(&emit, output->data_type, full.dims, 4);
    if (full.dims[1] != output->dims[2] || full.dims[2] != output->dims[3])
        result = emit_crop(&emit, result, &window, output);
    return finish_emitting(&emit, 1, emit_transpose(&emit, result, channels_first, 4));
}

// ---- pools ----

static void emit_pool(emitter_t* emit, const char* op, const struct window* window, int padding,
                      struct tensor* picture)
{
    begin_op(emit, op, 1, picture);
    emit_attr_int(emit, "padding", padding);
    emit_attr_int(emit, "stride_h", window->axes[0].stride);
    emit_attr_int(emit, "stride_w", window->axes[1].stride);
    emit_attr_int(emit, "filter_h", window->axes[0].kernel);
    emit_attr_int(emit, "filter_w", window->axes[1].kernel);
}

static bool may_pool(struct node* node, struct window* window, int* out_status)
{
    if (!is_flat(node)) return false;
    *out_status = resolve_pool_window(node, window);
    if (*out_status < 0) return false;
    const bool is_plain = window->axes[0].dilation == 1 && window->axes[1].dilation == 1;
    if (is_plain && !is_raised_output_read(node, 1)) return true;
    refuse_raising(node, "the pools of TensorFlow Lite have neither dilations nor indices");
    return false;
}

static int raise_max_pool(struct graph* graph, struct node* node)
{
    struct window window;
    int status = OP_NOT_RAISED;
    if (!may_pool(node, &window, &status)) return status < 0 ? status : OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* picture = emit_picture(&emit, get_ir_node_input(node, 0));
    const int padding = choose_padding(&emit, &window, -FLT_MAX, &picture);
    emit_pool(&emit, "tflite.MAX_POOL_2D", &window, padding, picture);
    return finish_picture(&emit);
}

// Returns the share of the window of each result that counts, as factors that correct a mean over
// the whole window.
static struct tensor* emit_shares(emitter_t* emit, const struct window* window, bool counts_padding)
{
    const struct window_axis *h = &window->axes[0], *w = &window->axes[1];
    int dims[4] = {1, h->output, w->output, 1};
    struct tensor* shares = emit_zeroes(emit, h->output * w->output);
    if (!shares) return NULL;
    if (set_ir_tensor_shape(shares, dims, 4) < 0) emit->status = tengine_error_code();
    for (int y = 0; y < h->output; ++y)
        for (int x = 0; x < w->output; ++x) {
            int counted = 1;
            for (int i = 0; i < 2; ++i) {
                const struct window_axis* axis = i ? w : h;
                struct window_axis wide = *axis;
                int first, last;
                if (counts_padding) {
                    wide.input += wide.pad_begin + wide.pad_end;
                    wide.pad_begin = 0;
                }
                clip_window_taps(&wide, i ? x : y, &first, &last);
                counted *= last - first;
            }
            shares->f32[y * w->output + x] = (float)(h->kernel * w->kernel) / (float)counted;
        }
    return shares;
}

// Whether all windows have the same number of elements.
static bool is_even(const struct tensor* shares)
{
    for (int64_t i = 0; i < shares->elem_num; ++i)
        if (shares->f32[i] != 1) return false;
    return true;
}

// TensorFlow Lite's mean leaves padding out, and has only its own paddings.
static int raise_average_pool(struct graph* graph, struct node* node)
{
    struct window window;
    int status = OP_NOT_RAISED;
    if (!may_pool(node, &window, &status)) return status < 0 ? status : OP_NOT_RAISED;
    const bool counts_padding = get_ir_node_int(node, "count_include_pad", 0) != 0;
    const bool is_padded = !is_valid(&window.axes[0]) || !is_valid(&window.axes[1]);
    const struct tensor* output = get_ir_node_output(node, 0);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* picture = emit_picture(&emit, get_ir_node_input(node, 0));
    if (!is_padded || (!counts_padding && are_same(&window))) {
        emit_pool(&emit, "tflite.AVERAGE_POOL_2D", &window,
                  is_padded ? TFL_PADDING_SAME : TFL_PADDING_VALID, picture);
        return finish_picture(&emit);
    }
    struct tensor* padded = emit_padded(&emit, &window, 0, picture);
    emit_pool(&emit, "tflite.AVERAGE_POOL_2D", &window, TFL_PADDING_VALID, padded);
    struct tensor* shares = emit_shares(&emit, &window, counts_padding);
    if (!shares || is_even(shares)) return finish_picture(&emit);
    const picture_t turned = turn_dims(output);
    struct tensor* mean = end_raised(&emit, output->data_type, turned.dims, 4);
    begin_op(&emit, "tflite.MUL", 2, mean, shares);
    return finish_picture(&emit);
}

static int raise_global_pool(struct graph* graph, struct node* node)
{
    if (!is_flat(node)) return OP_NOT_RAISED;
    const bool is_mean = strcmp(get_ir_node_op(node), "GlobalAveragePool") == 0;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, is_mean ? "tflite.MEAN" : "tflite.REDUCE_MAX", 2,
             emit_picture(&emit, get_ir_node_input(node, 0)),
             emit_int32s(&emit, (const int64_t[]){1, 2}, 2));
    emit_attr_int(&emit, "keep_dims", 1);
    return finish_picture(&emit);
}

// ---- sizes ----

// The element that an option of RESIZE_NEAREST_NEIGHBOR reads.
static int64_t find_tfl_nearest(int64_t input, int64_t output, int64_t place, bool aligns,
                                bool half)
{
    const float scale = aligns && output > 1 ? (float)(input - 1) / (float)(output - 1)
                                             : (float)input / (float)output;
    const float at = ((float)place + (half ? 0.5f : 0)) * scale;
    const int64_t found = (int64_t)(aligns ? roundf(at) : floorf(at));
    return found < 0 ? 0 : found > input - 1 ? input - 1 : found;
}

// The element that the node reads; -1: by a rule that is not handled here.
static int64_t find_nearest(const struct node* node, const struct resize_axis* axis, int64_t input,
                            int64_t place)
{
    const char* mode = get_ir_node_text(node, "coordinate_transformation_mode", "half_pixel");
    const char* rounding = get_ir_node_text(node, "nearest_mode", "round_prefer_floor");
    const float scale = (float)axis->scale;
    float at = -1;
    if (strcmp(mode, "asymmetric") == 0)
        at = (float)place / scale;
    else if (strcmp(mode, "half_pixel") == 0)
        at = ((float)place + 0.5f) / scale - 0.5f;
    else if (strcmp(mode, "align_corners") == 0 && axis->size > 1)
        at = (float)place * (float)(input - 1) / (float)(axis->size - 1);
    else
        return -1;
    at = strcmp(rounding, "floor") == 0               ? floorf(at)
         : strcmp(rounding, "ceil") == 0              ? ceilf(at)
         : strcmp(rounding, "round_prefer_ceil") == 0 ? floorf(at + 0.5f)
                                                      : ceilf(at - 0.5f);
    return at < 0 ? 0 : at > (float)(input - 1) ? input - 1 : (int64_t)at;
}

static bool reads_the_same(const struct node* node, const struct resize_axis axes[], bool aligns,
                           bool half)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int a = 2; a < 4; ++a)
        for (int64_t i = 0; !axes[a].identity && i < axes[a].size; ++i)
            if (find_nearest(node, &axes[a], input->dims[a], i) !=
                find_tfl_nearest(input->dims[a], axes[a].size, i, aligns, half))
                return false;
    return true;
}

// The options as bits: 1 corners are aligned, 2 centres of pixels; -1: there are none.
static int find_resize_options(const struct node* node, const struct resize_axis axes[],
                               bool is_nearest)
{
    const char* mode = get_ir_node_text(node, "coordinate_transformation_mode", "half_pixel");
    for (int options = 0; is_nearest && options < 3; ++options)
        if (reads_the_same(node, axes, options & 1, options & 2)) return options;
    if (is_nearest || axes[2].length != (double)axes[2].size ||
        axes[3].length != (double)axes[3].size)
        return -1;
    if (strcmp(mode, "align_corners") == 0) return 1;
    if (strcmp(mode, "asymmetric") == 0) return 0;
    const bool has_pixels = axes[2].size > 1 && axes[3].size > 1;
    return strcmp(mode, "half_pixel") == 0 ||
                   (strcmp(mode, "pytorch_half_pixel") == 0 && has_pixels)
               ? 2
               : -1;
}

static int raise_resize(struct graph* graph, struct node* node)
{
    struct resize_axis axes[MAX_SHAPE_DIM_NUM];
    const char* mode = get_ir_node_text(node, "mode", "nearest");
    const bool is_nearest = strcmp(mode, "nearest") == 0;
    if (!is_flat(node)) return OP_NOT_RAISED;
    if (resolve_resize(node, axes) != TENGINE_OK || !axes[0].identity || !axes[1].identity ||
        (!is_nearest && strcmp(mode, "linear") != 0) || get_ir_node_int(node, "antialias", 0))
        return refuse_raising(node,
                              "it resizes other axes than the last two, by sizes of a run, or "
                              "neither nearest nor linear");
    const int options = find_resize_options(node, axes, is_nearest);
    if (options < 0)
        return refuse_raising(
            node, "mode %s with coordinates %s, rounding %s and scales %g, %g has no equivalent",
            mode, get_ir_node_text(node, "coordinate_transformation_mode", "half_pixel"),
            get_ir_node_text(node, "nearest_mode", "round_prefer_floor"), axes[2].scale,
            axes[3].scale);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, is_nearest ? "tflite.RESIZE_NEAREST_NEIGHBOR" : "tflite.RESIZE_BILINEAR", 2,
             emit_picture(&emit, get_ir_node_input(node, 0)),
             emit_int32s(&emit, (const int64_t[]){axes[2].size, axes[3].size}, 2));
    emit_attr_int(&emit, "align_corners", options & 1);
    emit_attr_int(&emit, "half_pixel_centers", options >> 1);
    return finish_picture(&emit);
}

static int raise_depth_to_space(struct graph* graph, struct node* node)
{
    const bool is_depth = strcmp(get_ir_node_op(node), "DepthToSpace") == 0;
    const struct tensor* input = get_ir_node_input(node, 0);
    const int64_t block = get_ir_node_int(node, "blocksize", 1);
    if (!is_flat(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    if (is_depth && strcmp(get_ir_node_text(node, "mode", "DCR"), "CRD") == 0) {
        const struct tensor* output = get_ir_node_output(node, 0);
        const int64_t parts[] = {output->dims[0], output->dims[1], block,
                                 block,           input->dims[2],  input->dims[3]};
        const int64_t dims[] = {output->dims[0], output->dims[1], output->dims[2], output->dims[3]};
        struct tensor* split = emit_reshape(&emit, get_ir_node_input(node, 0), parts, 6);
        struct tensor* turned =
            emit_transpose(&emit, split, (const int64_t[]){0, 1, 4, 2, 5, 3}, 6);
        return finish_emitting(&emit, 1, emit_reshape(&emit, turned, dims, 4));
    }
    begin_op(&emit, is_depth ? "tflite.DEPTH_TO_SPACE" : "tflite.SPACE_TO_DEPTH", 1,
             emit_picture(&emit, get_ir_node_input(node, 0)));
    emit_attr_int(&emit, "block_size", block);
    return finish_picture(&emit);
}

static int raise_lrn(struct graph* graph, struct node* node)
{
    const int64_t size = get_ir_node_int(node, "size", 1);
    if (!is_flat(node)) return OP_NOT_RAISED;
    if (size % 2 == 0)
        return refuse_raising(node, "its size is %lld, expected an odd one", (long long)size);
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tflite.LOCAL_RESPONSE_NORMALIZATION", 1,
             emit_picture(&emit, get_ir_node_input(node, 0)));
    emit_attr_int(&emit, "radius", size / 2);
    emit_attr_float(&emit, "bias", get_ir_node_float(node, "bias", 1));
    emit_attr_float(&emit, "alpha", get_ir_node_float(node, "alpha", 1e-4f) / (float)size);
    emit_attr_float(&emit, "beta", get_ir_node_float(node, "beta", 0.75f));
    return finish_picture(&emit);
}

static const tfl_raising_t rows[] = {
    {"AveragePool", raise_average_pool},
    {"Conv", raise_conv},
    {"ConvTranspose", raise_conv_transpose},
    {"DepthToSpace", raise_depth_to_space},
    {"GlobalAveragePool", raise_global_pool},
    {"GlobalMaxPool", raise_global_pool},
    {"LRN", raise_lrn},
    {"MaxPool", raise_max_pool},
    {"Resize", raise_resize},
    {"SpaceToDepth", raise_depth_to_space},
};

TFL_RAISINGS(tfl_picture_raisings, rows);

// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's pools, and what changes the size of pictures.
#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

struct tfl_pool_param
{
    int padding;
    int stride_w;
    int stride_h;
    int filter_w;
    int filter_h;
    int activation;
};

struct tfl_resize_param
{
    int align_corners;
    int half_pixel_centers;
};

struct tfl_block_param
{
    int block_size;
};

struct tfl_lrn_param
{
    int radius;
    float bias;
    float alpha;
    float beta;
};

static const op_field_t pool_fields[] = {
    TFL_PADDING(struct tfl_pool_param, 0),
    TFL_POSITIVE(struct tfl_pool_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_pool_param, stride_h, 2, 0),
    TFL_POSITIVE(struct tfl_pool_param, filter_w, 3, 0),
    TFL_POSITIVE(struct tfl_pool_param, filter_h, 4, 0),
    TFL_ACTIVATION(struct tfl_pool_param, 5),
};

// Those of operators that files name.
static const op_field_t raw_pool_fields[] = {
    TFL_RAW_PADDING(struct tfl_pool_param),
    TFL_POSITIVE(struct tfl_pool_param, stride_w, 1, 0),
    TFL_POSITIVE(struct tfl_pool_param, stride_h, 2, 0),
    TFL_POSITIVE(struct tfl_pool_param, filter_w, 3, 0),
    TFL_POSITIVE(struct tfl_pool_param, filter_h, 4, 0),
    TM_FIELD(struct tfl_pool_param, INT, activation, WORD, 5, .maximum = TFL_ACTIVATION_TANH),
};

// Fields 0 and 1 are the size in files of before it was an input.
static const op_field_t bilinear_fields[] = {
    TFL_BOOL(struct tfl_resize_param, align_corners, 2),
    TFL_BOOL(struct tfl_resize_param, half_pixel_centers, 3),
};

static const op_field_t nearest_fields[] = {
    TFL_BOOL(struct tfl_resize_param, align_corners, 0),
    TFL_BOOL(struct tfl_resize_param, half_pixel_centers, 1),
};

static const op_field_t block_fields[] = {
    TFL_POSITIVE(struct tfl_block_param, block_size, 0, 0),
};

static const op_field_t lrn_fields[] = {
    TM_FIELD(struct tfl_lrn_param, INT, radius, WORD, 0, .maximum = 1 << 20),
    TFL_FIELD(struct tfl_lrn_param, FLOAT, bias, WORD, 1),
    TFL_FIELD(struct tfl_lrn_param, FLOAT, alpha, WORD, 2),
    TFL_FIELD(struct tfl_lrn_param, FLOAT, beta, WORD, 3),
};

static void require_pictures(emitter_t* emit)
{
    const int rank = get_operand(emit, 0)->dim_num;
    if (rank != 4) fail_emitting(emit, TENGINE_EINVAL, "its input has rank %d, expected 4", rank);
}

// ---- pools ----

static tfl_window_t make_window(const struct tfl_pool_param* param)
{
    return (tfl_window_t){.axis_num = 2,
                          .padding = param->padding,
                          .kernel = {param->filter_h, param->filter_w},
                          .stride = {param->stride_h, param->stride_w},
                          .dilation = {1, 1}};
}

static struct tensor* emit_pool(emitter_t* emit, const char* op, struct tensor* planes)
{
    const tfl_window_t window = make_window(emit->origin->op.param_mem);
    begin_op(emit, op, 1, planes);
    emit_attr_ints(emit, "kernel_shape", window.kernel, 2);
    emit_window(emit, &window, get_operand(emit, 0));
    return end_op(emit);
}

static int finish_pool(emitter_t* emit, struct tensor* planes)
{
    const struct tfl_pool_param* param = emit->origin->op.param_mem;
    struct tensor* result = emit_activation(emit, param->activation, planes);
    return finish_emitting(emit, 1, emit_channels_last(emit, result));
}

static int lower_pool(struct graph* graph, struct node* node, const char* op)
{
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    if (emit.status < 0) return emit.status;
    return finish_pool(&emit,
                       emit_pool(&emit, op, emit_channels_first(&emit, get_operand(&emit, 0))));
}

static int lower_max_pool(struct graph* graph, struct node* node)
{
    return lower_pool(graph, node, "MaxPool");
}

static int lower_average_pool(struct graph* graph, struct node* node)
{
    return lower_pool(graph, node, "AveragePool");
}

// The root of the mean of squares.
static int lower_l2_pool(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    if (emit.status < 0) return emit.status;
    struct tensor* planes = emit_channels_first(&emit, get_operand(&emit, 0));
    struct tensor* squares = emit_op(&emit, "Mul", 2, planes, planes);
    struct tensor* means = emit_pool(&emit, "AveragePool", squares);
    return finish_pool(&emit, emit_op(&emit, "Sqrt", 1, means));
}

// ---- pools that give the places of their maxima ----

static tfl_window_t make_raw_window(const struct tfl_pool_param* param)
{
    tfl_window_t window = make_window(param);
    window.padding = param->padding == TFL_RAW_SAME ? TFL_PADDING_SAME : TFL_PADDING_VALID;
    return window;
}

// The place of an element within its plane, y * width + x, is what files have; ONNX counts over the
// whole tensor. This is the place of each plane's first element.
static struct tensor* emit_plane_places(emitter_t* emit, int64_t batch, int64_t channels,
                                        int64_t elements)
{
    struct tensor* places =
        emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, batch * channels * elements),
                emit_int(emit, elements));
    return emit_reshape(emit, places, (const int64_t[]){batch, channels, 1, 1}, 4);
}

static int lower_max_pool_places(struct graph* graph, struct node* node)
{
    const struct tfl_pool_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    if (emit.status < 0) return emit.status;
    const struct tensor* input = get_operand(&emit, 0);
    const int64_t plane = (int64_t)input->dims[1] * input->dims[2];
    const tfl_window_t window = make_raw_window(param);
    struct tensor* results[2];
    begin_op(&emit, "MaxPool", 1, emit_channels_first(&emit, get_operand(&emit, 0)));
    emit_attr_ints(&emit, "kernel_shape", window.kernel, 2);
    emit_window(&emit, &window, input);
    end_op_with(&emit, results, 2);
    struct tensor* places = emit_op(&emit, "Mod", 2, results[1], emit_int(&emit, plane));
    places = emit_cast(&emit, emit_channels_last(&emit, places), get_declared_type(&emit, 1));
    struct tensor* values = emit_activation(&emit, param->activation, results[0]);
    return finish_emitting(&emit, 2, emit_channels_last(&emit, values), places);
}

static int lower_max_unpool(struct graph* graph, struct node* node)
{
    const struct tfl_pool_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    if (emit.status < 0) return emit.status;
    const struct tensor *input = get_operand(&emit, 0), *given = get_operand(&emit, 1);
    if (given->dim_num != 4 || given->elem_num != input->elem_num)
        return fail_emitting(&emit, TENGINE_EINVAL, "it has %lld places of rank %d for %lld values",
                             (long long)given->elem_num, given->dim_num,
                             (long long)input->elem_num);
    const tfl_window_t window = make_raw_window(param);
    int64_t dims[4] = {input->dims[0], input->dims[3]};
    for (int i = 0; i < 2; ++i)
        dims[2 + i] = window.padding == TFL_PADDING_SAME
                          ? input->dims[1 + i] * window.stride[i]
                          : (input->dims[1 + i] - 1) * window.stride[i] + window.kernel[i];
    if (dims[2] > INT32_MAX || dims[3] > INT32_MAX || dims[2] * dims[3] > INT32_MAX)
        return fail_emitting(&emit, TENGINE_ERANGE, "its planes of %lld x %lld are too large",
                             (long long)dims[2], (long long)dims[3]);
    struct tensor* places = emit_channels_first(&emit, emit_indices(&emit, get_operand(&emit, 1)));
    struct tensor* firsts = emit_plane_places(&emit, dims[0], dims[1], dims[2] * dims[3]);
    places = emit_op(&emit, "Add", 2, places, firsts);
    begin_op(&emit, "MaxUnpool", 3, emit_channels_first(&emit, get_operand(&emit, 0)), places,
             emit_ints(&emit, dims, 4));
    emit_attr_ints(&emit, "kernel_shape", window.kernel, 2);
    emit_attr_ints(&emit, "strides", window.stride, 2);
    return finish_emitting(&emit, 1, emit_channels_last(&emit, end_op(&emit)));
}

// ---- other sizes ----

// The sizes of all axes of the planes, where height and width are an input that may be computed.
static struct tensor* emit_sizes(emitter_t* emit)
{
    const struct tensor* input = get_operand(emit, 0);
    struct tensor* given = get_operand(emit, 1);
    int64_t sizes[] = {input->dims[0], input->dims[3], 0, 0};
    int number = 0;
    if (emit->status < 0) return NULL;
    if (given->dim_num != 1 || given->dims[0] != 2) {
        fail_emitting(emit, TENGINE_EINVAL,
                      "its size has rank %d and %lld elements, expected 2 in a list",
                      given->dim_num, (long long)given->elem_num);
        return NULL;
    }
    const int status = read_int_input(emit->origin, 1, sizes + 2, 2, &number);
    if (status < 0) emit->status = status;
    if (status != OP_SHAPE_LATER) return emit_ints(emit, sizes, 4);
    begin_op(emit, "Concat", 2, emit_ints(emit, sizes, 2), emit_indices(emit, given));
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

static int lower_resize(struct graph* graph, struct node* node, bool is_linear)
{
    const struct tfl_resize_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    struct tensor* sizes = emit_sizes(&emit);
    if (emit.status < 0) return emit.status;
    struct tensor* planes = emit_channels_first(&emit, get_operand(&emit, 0));
    begin_op(&emit, "Resize", 4, planes, NULL, NULL, sizes);
    emit_attr_text(&emit, "mode", is_linear ? "linear" : "nearest");
    emit_attr_text(&emit, "coordinate_transformation_mode",
                   param->align_corners        ? "align_corners"
                   : param->half_pixel_centers ? "half_pixel"
                                               : "asymmetric");
    if (!is_linear) {
        const bool rounds = param->align_corners || param->half_pixel_centers;
        emit_attr_text(&emit, "nearest_mode", rounds ? "round_prefer_ceil" : "floor");
    }
    // The shape may be that of a run.
    struct tensor* resized = end_op(&emit);
    return finish_emitting(&emit, 1,
                           emit_transpose(&emit, resized, (const int64_t[]){0, 2, 3, 1}, 4));
}

static int lower_resize_bilinear(struct graph* graph, struct node* node)
{
    return lower_resize(graph, node, true);
}

static int lower_resize_nearest(struct graph* graph, struct node* node)
{
    return lower_resize(graph, node, false);
}

// Both languages have the place in the block before the channel.
static int lower_block(struct graph* graph, struct node* node, const char* op)
{
    const struct tfl_block_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    if (emit.status < 0) return emit.status;
    begin_op(&emit, op, 1, emit_channels_first(&emit, get_operand(&emit, 0)));
    emit_attr_int(&emit, "blocksize", param->block_size);
    return finish_emitting(&emit, 1, emit_channels_last(&emit, end_op(&emit)));
}

static int lower_depth_to_space(struct graph* graph, struct node* node)
{
    return lower_block(graph, node, "DepthToSpace");
}

static int lower_space_to_depth(struct graph* graph, struct node* node)
{
    return lower_block(graph, node, "SpaceToDepth");
}

// ONNX divides alpha by the number of channels in the sum.
static int lower_lrn(struct graph* graph, struct node* node)
{
    const struct tfl_lrn_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    if (emit.status < 0) return emit.status;
    const int size = 2 * param->radius + 1;
    begin_op(&emit, "LRN", 1, emit_channels_first(&emit, get_operand(&emit, 0)));
    emit_attr_int(&emit, "size", size);
    emit_attr_float(&emit, "bias", param->bias);
    emit_attr_float(&emit, "alpha", param->alpha * (float)size);
    emit_attr_float(&emit, "beta", param->beta);
    return finish_emitting(&emit, 1, emit_channels_last(&emit, end_op(&emit)));
}

static const ir_method_t* const rows[] = {
    TFLITE_ROW(AVERAGE_POOL_2D, 1, TFL_COUNTS(1, 1, 1), OP_FIELDS(pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_average_pool),
    TFLITE_ROW(MAX_POOL_2D, 17, TFL_COUNTS(1, 1, 1), OP_FIELDS(pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_max_pool),
    TFLITE_ROW(L2_POOL_2D, 12, TFL_COUNTS(1, 1, 1), OP_FIELDS(pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_l2_pool),
    TFLITE_ROW(MaxPoolingWithArgmax2D, TFL_CUSTOM, TFL_COUNTS(1, 1, 2), OP_FIELDS(raw_pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_max_pool_places),
    TFLITE_ROW(MaxUnpooling2D, TFL_CUSTOM, TFL_COUNTS(2, 2, 1), OP_FIELDS(raw_pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_max_unpool),
    TFLITE_ROW(LiteRtMaxUnpooling2D, TFL_CUSTOM, TFL_COUNTS(2, 2, 1), OP_FIELDS(raw_pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_max_unpool),
    TFLITE_ROW(RESIZE_BILINEAR, 23, TFL_COUNTS(2, 2, 1), OP_FIELDS(bilinear_fields),
               .param_size = sizeof(struct tfl_resize_param), .lower = lower_resize_bilinear),
    TFLITE_ROW(RESIZE_NEAREST_NEIGHBOR, 97, TFL_COUNTS(2, 2, 1), OP_FIELDS(nearest_fields),
               .param_size = sizeof(struct tfl_resize_param), .lower = lower_resize_nearest),
    TFLITE_ROW(DEPTH_TO_SPACE, 5, TFL_COUNTS(1, 1, 1), OP_FIELDS(block_fields),
               .param_size = sizeof(struct tfl_block_param), .lower = lower_depth_to_space),
    TFLITE_ROW(SPACE_TO_DEPTH, 26, TFL_COUNTS(1, 1, 1), OP_FIELDS(block_fields),
               .param_size = sizeof(struct tfl_block_param), .lower = lower_space_to_depth),
    TFLITE_ROW(LOCAL_RESPONSE_NORMALIZATION, 13, TFL_COUNTS(1, 1, 1), OP_FIELDS(lrn_fields),
               .param_size = sizeof(struct tfl_lrn_param), .lower = lower_lrn),
};

OPERATOR_TABLE(tflite_pool_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's pools, and what changes the size of pictures.
#include <math.h>

#include "operator/infer.h"
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

// The kernels of TensorFlow Lite round the mean of the integers themselves to the nearest one, ties
// away from zero.
static bool takes_integers(const struct node* node)
{
    const struct tfl_pool_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* output = get_ir_node_output(node, 0);
    return param->activation == TFL_ACTIVATION_NONE && is_quantized_byte(input) &&
           is_quantized_byte(output) && input->data_type == output->data_type &&
           input->scale == output->scale && input->zero_point == output->zero_point;
}

// QLinearAveragePool rounds to nearest even, in a multiplier of 31 bits. Without zero points its
// sums are those of the integers; the result's scale is the next one below 1, which moves a tie
// away from zero, and nothing else over a tie: the mean of n bytes is at least 1 / 2n from the next
// tie.
static int lower_byte_pool(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    struct tensor* zero = emit_zero_point(&emit, 0, input);
    const struct tfl_pool_param* param = node->op.param_mem;
    const tfl_window_t window = make_window(param);
    begin_op(&emit, "com.microsoft.QLinearAveragePool", 5, emit_channels_first(&emit, input),
             emit_float(&emit, 1), zero, emit_float(&emit, nextafterf(1, 0)), zero);
    emit_attr_ints(&emit, "kernel_shape", window.kernel, 2);
    emit_window(&emit, &window, input);
    return finish_emitting(&emit, 1, emit_channels_last(&emit, end_op(&emit)));
}

static int lower_average_pool(struct graph* graph, struct node* node)
{
    return takes_integers(node) ? lower_byte_pool(graph, node)
                                : lower_pool(graph, node, "AveragePool");
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

// ---- other sizes ----

static int lower_resize(struct graph* graph, struct node* node, bool is_linear)
{
    const struct tfl_resize_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    require_pictures(&emit);
    int64_t size[2] = {0};
    const int number = read_tfl_ints(&emit, 1, "size", size, 2);
    if (emit.status < 0) return emit.status;
    if (number != 2)
        return fail_emitting(&emit, TENGINE_EINVAL, "its size has %d elements, expected 2", number);
    const struct tensor* input = get_operand(&emit, 0);
    const int64_t sizes[] = {input->dims[0], input->dims[3], size[0], size[1]};
    struct tensor* planes = emit_channels_first(&emit, get_operand(&emit, 0));
    begin_op(&emit, "Resize", 4, planes, NULL, NULL, emit_ints(&emit, sizes, 4));
    emit_attr_text(&emit, "mode", is_linear ? "linear" : "nearest");
    emit_attr_text(&emit, "coordinate_transformation_mode",
                   param->align_corners        ? "align_corners"
                   : param->half_pixel_centers ? "half_pixel"
                                               : "asymmetric");
    if (!is_linear) {
        const bool rounds = param->align_corners || param->half_pixel_centers;
        emit_attr_text(&emit, "nearest_mode", rounds ? "round_prefer_ceil" : "floor");
    }
    return finish_emitting(&emit, 1, emit_channels_last(&emit, end_op(&emit)));
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
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_average_pool,
               .takes_integers = takes_integers),
    TFLITE_ROW(MAX_POOL_2D, 17, TFL_COUNTS(1, 1, 1), OP_FIELDS(pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_max_pool),
    TFLITE_ROW(L2_POOL_2D, 12, TFL_COUNTS(1, 1, 1), OP_FIELDS(pool_fields),
               .param_size = sizeof(struct tfl_pool_param), .lower = lower_l2_pool),
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

// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that put the same elements in another order: Permute, Transpose, SwapAxis,
// ShuffleChannel, Reverse, Reorg and the exchanges of blocks with channels and batches.
#include "operator/row.h"
#include "operator/tengine/move.h"
#include "operator/tengine/operand.h"

struct tm_permute_param
{
    int flag;  // for layouts that no kernel has
    int order0;
    int order1;
    int order2;
    int order3;
};

struct tm_transpose_param
{
    int dim_0;  // the order of older programs, which had no list
    int dim_1;
    int dim_2;
    int dim_3;
    struct op_ints tr_shape;
    int tr_shape_size;
};

struct tm_swap_axis_param
{
    int dim_0;
    int dim_1;
};

struct tm_shuffle_channel_param
{
    int group;
};

struct tm_block_param
{
    int block_size;
};

struct tm_reorg_param
{
    int stride;
};

// x is along the width, y along the height.
struct tm_space_to_batch_param
{
    int dilation_x;
    int dilation_y;
    int pad_top;
    int pad_bottom;
    int pad_left;
    int pad_right;
};

struct tm_batch_to_space_param
{
    int dilation_x;
    int dilation_y;
    int crop_top;
    int crop_bottom;
    int crop_left;
    int crop_right;
};

static const op_field_t permute_fields[] = {
    TM_FIELD(struct tm_permute_param, INT, flag, WORD, 0, .number = 0),
    TM_FIELD(struct tm_permute_param, INT, order0, WORD, 4, .number = 0),
    TM_FIELD(struct tm_permute_param, INT, order1, WORD, 8, .number = 1),
    TM_FIELD(struct tm_permute_param, INT, order2, WORD, 12, .number = 2),
    TM_FIELD(struct tm_permute_param, INT, order3, WORD, 16, .number = 3),
};

static const op_field_t transpose_fields[] = {
    OP_FIELD(struct tm_transpose_param, INT, dim_0, .number = -2),
    OP_FIELD(struct tm_transpose_param, INT, dim_1, .number = -2),
    OP_FIELD(struct tm_transpose_param, INT, dim_2, .number = -2),
    OP_FIELD(struct tm_transpose_param, INT, dim_3, .number = -2),
    TM_FIELD(struct tm_transpose_param, INTS, tr_shape, OFFSET, 0, .length = "tr_shape_size"),
    OP_FIELD(struct tm_transpose_param, INT, tr_shape_size, .number = 0),
};

static const op_field_t swap_axis_fields[] = {
    TM_FIELD(struct tm_swap_axis_param, INT, dim_0, WORD, 0, .number = 0),
    TM_FIELD(struct tm_swap_axis_param, INT, dim_1, WORD, 4, .number = 1),
};

static const op_field_t shuffle_channel_fields[] = {
    TM_FIELD(struct tm_shuffle_channel_param, INT, group, WORD, 0, .number = 1),
};

static const op_field_t block_fields[] = {
    TM_FIELD(struct tm_block_param, INT, block_size, WORD, 0, .number = 1),
};

static const op_field_t reorg_fields[] = {
    TM_FIELD(struct tm_reorg_param, INT, stride, WORD, 0, .number = 1),
};

static const op_field_t space_to_batch_fields[] = {
    TM_FIELD(struct tm_space_to_batch_param, INT, dilation_x, WORD, 0, .number = 0),
    TM_FIELD(struct tm_space_to_batch_param, INT, dilation_y, WORD, 4, .number = 0),
    TM_FIELD(struct tm_space_to_batch_param, INT, pad_top, WORD, 8, .number = 0),
    TM_FIELD(struct tm_space_to_batch_param, INT, pad_bottom, WORD, 12, .number = 0),
    TM_FIELD(struct tm_space_to_batch_param, INT, pad_left, WORD, 16, .number = 0),
    TM_FIELD(struct tm_space_to_batch_param, INT, pad_right, WORD, 20, .number = 0),
};

static const op_field_t batch_to_space_fields[] = {
    TM_FIELD(struct tm_batch_to_space_param, INT, dilation_x, WORD, 0, .number = 0),
    TM_FIELD(struct tm_batch_to_space_param, INT, dilation_y, WORD, 4, .number = 0),
    TM_FIELD(struct tm_batch_to_space_param, INT, crop_top, WORD, 8, .number = 0),
    TM_FIELD(struct tm_batch_to_space_param, INT, crop_bottom, WORD, 12, .number = 0),
    TM_FIELD(struct tm_batch_to_space_param, INT, crop_left, WORD, 16, .number = 0),
    TM_FIELD(struct tm_batch_to_space_param, INT, crop_right, WORD, 20, .number = 0),
};

// ---- Permute, Transpose, SwapAxis ----

static int finish_transposed(struct graph* graph, struct node* node, const char* name,
                             const int64_t order[])
{
    struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(check_order(node, name, order, input->dim_num));
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_transpose(&emit, input, order, input->dim_num));
}

// An input of lower rank uses the first orders.
static int lower_permute(struct graph* graph, struct node* node)
{
    const struct tm_permute_param* param = node->op.param_mem;
    const int64_t order[] = {param->order0, param->order1, param->order2, param->order3};
    const int rank = get_ir_node_input(node, 0)->dim_num;
    if (rank > 4)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected at most 4",
                         rank);
    return finish_transposed(graph, node, "order", order);
}

static int lower_transpose(struct graph* graph, struct node* node)
{
    const struct tm_transpose_param* param = node->op.param_mem;
    const int64_t dims[] = {param->dim_0, param->dim_1, param->dim_2, param->dim_3};
    const int rank = get_ir_node_input(node, 0)->dim_num;
    if (param->tr_shape.num == 0 && dims[0] != -2 && rank <= 4)
        return finish_transposed(graph, node, "dim", dims);
    if (param->tr_shape.num != rank)
        return fail_node(node, TENGINE_EINVAL,
                         "tr_shape has %d values, the input has %d dimensions", param->tr_shape.num,
                         rank);
    return finish_transposed(graph, node, "tr_shape", param->tr_shape.values);
}

static int lower_swap_axis(struct graph* graph, struct node* node)
{
    const struct tm_swap_axis_param* param = node->op.param_mem;
    const int rank = get_ir_node_input(node, 0)->dim_num;
    int first, second;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->dim_0, rank, &first));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->dim_1, rank, &second));
    int64_t order[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        order[i] = i == first ? second : i == second ? first : i;
    return finish_transposed(graph, node, "dim", order);
}

// Converters write Permute for NCHW to NHWC, and Tengine Lite computes this order only for four
// dimensions; Transpose takes any.
static int raise_transpose(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    if (rank == 0) return refuse_raising(node, "its input is a scalar");
    int num;
    const int64_t* perm = get_ir_node_ints(node, "perm", &num);
    int64_t order[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        order[i] = num == rank ? (perm[i] < 0 ? perm[i] + rank : perm[i]) : rank - 1 - i;
    emitter_t emit = start_emitting(graph, node);
    if (rank != 4 || order[0] != 0 || order[1] != 2 || order[2] != 3)
        return finish_emitting(&emit, 1, raise_to_transpose(&emit, input, order, rank));
    begin_op(&emit, "tengine.Permute", 1, input);
    emit_attr_int(&emit, "order0", 0);
    emit_attr_int(&emit, "order1", 2);
    emit_attr_int(&emit, "order2", 3);
    emit_attr_int(&emit, "order3", 1);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// ---- ShuffleChannel ----

static int lower_shuffle_channel(struct graph* graph, struct node* node)
{
    const struct tm_shuffle_channel_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 2, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    const int channels = input->dims[1];
    const int group = param->group;
    if (group < 1 || channels % group != 0)
        return fail_node(node, TENGINE_ERANGE,
                         "group is %d, expected a positive divisor of the %d channels", group,
                         channels);
    static const int64_t order[] = {0, 2, 1, 3};
    int64_t dims[MAX_SHAPE_DIM_NUM];
    const int rank = read_dims(input, dims);
    const int64_t grouped[] = {dims[0], group, channels / group,
                               multiply_dims(input, 2, input->dim_num)};
    struct tensor* swapped =
        emit_transpose(&emit, emit_reshape(&emit, input, grouped, 4), order, 4);
    return finish_emitting(&emit, 1, emit_reshape(&emit, swapped, dims, rank));
}

// ---- Blocks and channels ----

// A block must be positive, and its area must fit beside the size of a dimension.
static int check_block(const struct node* node, const char* name, int size)
{
    if (size >= 1 && size <= 32768) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "%s is %d, expected 1 to 32768", name, size);
}

static int check_multiple(const struct node* node, const char* what, int64_t size, int64_t divisor)
{
    if (size % divisor == 0) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "%s is %lld, expected a multiple of %lld", what,
                     (long long)size, (long long)divisor);
}

static struct tensor* emit_block_op(emitter_t* emit, const char* op, struct tensor* input,
                                    int block_size)
{
    begin_op(emit, op, 1, input);
    emit_attr_int(emit, "blocksize", block_size);
    return end_op(emit);
}

static int lower_space_to_depth(struct graph* graph, struct node* node)
{
    const struct tm_block_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    TENGINE_RETURN_IF_ERROR(check_block(node, "block_size", param->block_size));
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the height", input->dims[2], param->block_size));
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the width", input->dims[3], param->block_size));
    return finish_emitting(&emit, 1,
                           emit_block_op(&emit, "SpaceToDepth", input, param->block_size));
}

// Tengine's order is ONNX's CRD: channels outside, positions in the block inside.
static int lower_depth_to_space(struct graph* graph, struct node* node)
{
    const struct tm_block_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    const int block = param->block_size;
    TENGINE_RETURN_IF_ERROR(check_block(node, "block_size", block));
    TENGINE_RETURN_IF_ERROR(
        check_multiple(node, "the number of channels", input->dims[1], (int64_t)block * block));
    begin_op(&emit, "DepthToSpace", 1, input);
    emit_attr_int(&emit, "blocksize", block);
    emit_attr_text(&emit, "mode", "CRD");
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Reshapes to six dimensions, transposes, and reshapes to the shape of output 0.
static int raise_by_six(struct graph* graph, struct node* node, const int64_t dims[],
                        const int64_t order[])
{
    int64_t result[MAX_SHAPE_DIM_NUM];
    const struct tensor* output = get_ir_node_output(node, 0);
    if (output->elem_num == 0) return refuse_raising(node, "its output has no elements");
    const int rank = read_dims(output, result);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* blocks = raise_to_reshape(&emit, get_ir_node_input(node, 0), dims, 6);
    struct tensor* ordered = raise_to_transpose(&emit, blocks, order, 6);
    return finish_emitting(&emit, 1, raise_to_reshape(&emit, ordered, result, rank));
}

static int raise_depth_to_space(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const int64_t block = get_ir_node_int(node, "blocksize", 1);
    if (get_ir_node_text(node, "mode", "DCR")[0] == 'C') {
        emitter_t emit = start_emitting(graph, node);
        begin_op(&emit, "tengine.Depthtospace", 1, input);
        emit_attr_int(&emit, "block_size", block);
        return finish_emitting(&emit, 1, end_op(&emit));
    }
    static const int64_t order[] = {0, 3, 4, 1, 5, 2};
    const int64_t dims[] = {input->dims[0], block,         block, input->dims[1] / (block * block),
                            input->dims[2], input->dims[3]};
    return raise_by_six(graph, node, dims, order);
}

// Tengine Lite's SpaceToDepth copies its input, whatever the block.
static int raise_space_to_depth(struct graph* graph, struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const int64_t block = get_ir_node_int(node, "blocksize", 1);
    static const int64_t order[] = {0, 3, 5, 1, 2, 4};
    const int64_t dims[] = {input->dims[0], input->dims[1],         input->dims[2] / block,
                            block,          input->dims[3] / block, block};
    return raise_by_six(graph, node, dims, order);
}

// darknet's reorganisation in the form that reads memory as C/s² channels of the s-fold height and
// width, takes its blocks apart, and calls the result C·s² channels of a smaller picture.
static int lower_reorg(struct graph* graph, struct node* node)
{
    const struct tm_reorg_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    const int64_t stride = param->stride;
    const int64_t area = stride * stride;
    const int* dims = input->dims;
    TENGINE_RETURN_IF_ERROR(check_block(node, "stride", param->stride));
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the number of channels", dims[1], area));
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the height", dims[2], stride));
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the width", dims[3], stride));
    const int64_t wide[] = {dims[0], dims[1] / area, dims[2] * stride, dims[3] * stride};
    const int64_t deep[] = {dims[0], dims[1] * area, dims[2] / stride, dims[3] / stride};
    struct tensor* apart =
        emit_block_op(&emit, "SpaceToDepth", emit_reshape(&emit, input, wide, 4), param->stride);
    return finish_emitting(&emit, 1, emit_reshape(&emit, apart, deep, 4));
}

// ---- Blocks and batches ----

static int check_pad(const struct node* node, const char* name, int size)
{
    if (size >= 0) return TENGINE_OK;
    return fail_node(node, TENGINE_ERANGE, "%s is %d, expected 0 or more", name, size);
}

static struct tensor* emit_zero_padding(emitter_t* emit, struct tensor* input,
                                        const struct tm_space_to_batch_param* param)
{
    if (!(param->pad_top || param->pad_bottom || param->pad_left || param->pad_right)) return input;
    const int64_t pads[] = {0, 0, param->pad_top,    param->pad_left,
                            0, 0, param->pad_bottom, param->pad_right};
    return emit_op(emit, "Pad", 2, input, emit_ints(emit, pads, 8));
}

// TensorFlow's SpaceToBatchND on NCHW: batch (y · X + x) · N + n holds the elements at (y, x) in
// the blocks of batch n.
static int lower_space_to_batch(struct graph* graph, struct node* node)
{
    const struct tm_space_to_batch_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    TENGINE_RETURN_IF_ERROR(check_block(node, "dilation_x", param->dilation_x));
    TENGINE_RETURN_IF_ERROR(check_block(node, "dilation_y", param->dilation_y));
    TENGINE_RETURN_IF_ERROR(check_pad(node, "pad_top", param->pad_top));
    TENGINE_RETURN_IF_ERROR(check_pad(node, "pad_bottom", param->pad_bottom));
    TENGINE_RETURN_IF_ERROR(check_pad(node, "pad_left", param->pad_left));
    TENGINE_RETURN_IF_ERROR(check_pad(node, "pad_right", param->pad_right));
    const int* dims = input->dims;
    const int64_t x = param->dilation_x;
    const int64_t y = param->dilation_y;
    const int64_t height = (int64_t)dims[2] + param->pad_top + param->pad_bottom;
    const int64_t width = (int64_t)dims[3] + param->pad_left + param->pad_right;
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the height with padding", height, y));
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the width with padding", width, x));
    static const int64_t order[] = {3, 5, 0, 1, 2, 4};
    const int64_t blocks[] = {dims[0], dims[1], height / y, y, width / x, x};
    const int64_t batches[] = {dims[0] * x * y, dims[1], height / y, width / x};
    struct tensor* padded = emit_zero_padding(&emit, get_ir_node_input(node, 0), param);
    struct tensor* apart = emit_transpose(&emit, emit_reshape(&emit, padded, blocks, 6), order, 6);
    return finish_emitting(&emit, 1, emit_reshape(&emit, apart, batches, 4));
}

static struct axis_cut cut_axis(int64_t axis, int64_t before, int64_t after, int64_t size)
{
    return (struct axis_cut){.axis = axis, .begin = before, .end = size - after, .step = 1};
}

static int lower_batch_to_space(struct graph* graph, struct node* node)
{
    const struct tm_batch_to_space_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    TENGINE_RETURN_IF_ERROR(check_block(node, "dilation_x", param->dilation_x));
    TENGINE_RETURN_IF_ERROR(check_block(node, "dilation_y", param->dilation_y));
    const int* dims = input->dims;
    const int64_t x = param->dilation_x;
    const int64_t y = param->dilation_y;
    const int64_t height = dims[2] * y;
    const int64_t width = dims[3] * x;
    TENGINE_RETURN_IF_ERROR(check_multiple(node, "the number of batches", dims[0], x * y));
    if (param->crop_top < 0 || param->crop_bottom < 0 || param->crop_left < 0 ||
        param->crop_right < 0 || (int64_t)param->crop_top + param->crop_bottom >= height ||
        (int64_t)param->crop_left + param->crop_right >= width)
        return fail_node(node, TENGINE_ERANGE,
                         "crops %d and %d of %lld rows, %d and %d of %lld columns, expected 0 or "
                         "more that leave an element",
                         param->crop_top, param->crop_bottom, (long long)height, param->crop_left,
                         param->crop_right, (long long)width);
    static const int64_t order[] = {2, 3, 4, 0, 5, 1};
    const int64_t blocks[] = {y, x, dims[0] / (x * y), dims[1], dims[2], dims[3]};
    const int64_t whole[] = {dims[0] / (x * y), dims[1], height, width};
    const struct axis_cut cuts[] = {cut_axis(2, param->crop_top, param->crop_bottom, height),
                                    cut_axis(3, param->crop_left, param->crop_right, width)};
    struct tensor* joined = emit_transpose(&emit, emit_reshape(&emit, input, blocks, 6), order, 6);
    joined = emit_reshape(&emit, joined, whole, 4);
    const bool cropped =
        param->crop_top || param->crop_bottom || param->crop_left || param->crop_right;
    return finish_emitting(&emit, 1, emit_cuts(&emit, joined, cuts, cropped ? 2 : 0));
}

// ---- Reverse ----

// The axis is the first element of input 1.
static int lower_reverse(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int num;
    const int status = read_int_input(node, 1, axes, MAX_SHAPE_DIM_NUM, &num);
    if (status < 0) return status;
    if (status > 0)
        return fail_node(node, TENGINE_ENOTSUP, "its axis (input 1) is known only at run time");
    if (num == 0) return fail_node(node, TENGINE_EINVAL, "its axis (input 1) is empty");
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, axes[0], input->dim_num, &axis));
    const struct axis_cut cut = {.axis = axis, .begin = -1, .end = INT64_MIN, .step = -1};
    emitter_t emit = start_emitting(graph, node);
    return finish_emitting(&emit, 1, emit_cuts(&emit, input, &cut, 1));
}

#define ONE_TO_ONE \
    .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Batchtospacend, 6, 53, 24, ONE_TO_ONE, OP_FIELDS(batch_to_space_fields),
                .param_size = sizeof(struct tm_batch_to_space_param),
                .lower = lower_batch_to_space),
    TENGINE_ROW(Depthtospace, 18, 80, 4, ONE_TO_ONE, OP_FIELDS(block_fields),
                .param_size = sizeof(struct tm_block_param), .lower = lower_depth_to_space,
                RAISED("DepthToSpace", raise_depth_to_space)),
    TENGINE_ROW(Permute, 48, 15, 20, ONE_TO_ONE, OP_FIELDS(permute_fields),
                .param_size = sizeof(struct tm_permute_param), .lower = lower_permute),
    TENGINE_ROW(Reorg, 58, 22, 4, ONE_TO_ONE, OP_FIELDS(reorg_fields),
                .param_size = sizeof(struct tm_reorg_param), .lower = lower_reorg),
    TENGINE_ROW(Reverse, 61, 81, 0, .min_input = 2, .max_input = 2, .min_output = 1,
                .max_output = 1, .traits = OP_LEGACY, .lower = lower_reverse),
    TENGINE_ROW(ShuffleChannel, 69, 55, 4, ONE_TO_ONE, OP_FIELDS(shuffle_channel_fields),
                .param_size = sizeof(struct tm_shuffle_channel_param),
                .lower = lower_shuffle_channel),
    TENGINE_ROW(Spacetobatchnd, 73, 52, 24, ONE_TO_ONE, OP_FIELDS(space_to_batch_fields),
                .param_size = sizeof(struct tm_space_to_batch_param),
                .lower = lower_space_to_batch),
    TENGINE_ROW(Spacetodepth, 74, 79, 4, ONE_TO_ONE, OP_FIELDS(block_fields),
                .param_size = sizeof(struct tm_block_param), .lower = lower_space_to_depth,
                RAISED("SpaceToDepth", raise_space_to_depth)),
    TENGINE_ROW(SwapAxis, 80, 50, 8, ONE_TO_ONE, OP_FIELDS(swap_axis_fields),
                .param_size = sizeof(struct tm_swap_axis_param), .lower = lower_swap_axis),
    TENGINE_ROW(Transpose, 84, 77, 4, ONE_TO_ONE, OP_FIELDS(transpose_fields),
                .param_size = sizeof(struct tm_transpose_param), .lower = lower_transpose,
                RAISED("Transpose", raise_transpose)),
};

OPERATOR_TABLE(tengine_order_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite's operators that take or add elements along axes, and move blocks of them.
#include <limits.h>

#include "operator/infer.h"
#include "operator/tengine/move.h"
#include "operator/tflite/lower.h"

struct tfl_strided_slice_param
{
    int begin_mask;
    int end_mask;
    int ellipsis_mask;
    int new_axis_mask;
    int shrink_axis_mask;
    int offset;
};

struct tfl_gather_param
{
    int axis;
    int batch_dims;
};

struct tfl_mirror_pad_param
{
    int mode;
};

static const op_field_t strided_slice_fields[] = {
    TFL_FIELD(struct tfl_strided_slice_param, INT, begin_mask, WORD, 0),
    TFL_FIELD(struct tfl_strided_slice_param, INT, end_mask, WORD, 1),
    TFL_FIELD(struct tfl_strided_slice_param, INT, ellipsis_mask, WORD, 2),
    TFL_FIELD(struct tfl_strided_slice_param, INT, new_axis_mask, WORD, 3),
    TFL_FIELD(struct tfl_strided_slice_param, INT, shrink_axis_mask, WORD, 4),
    TFL_BOOL(struct tfl_strided_slice_param, offset, 5),
};

static const op_field_t gather_fields[] = {
    TFL_FIELD(struct tfl_gather_param, INT, axis, WORD, 0),
    TFL_FIELD(struct tfl_gather_param, INT, batch_dims, WORD, 1),
};

static const op_field_t mirror_pad_fields[] = {
    TFL_BOOL(struct tfl_mirror_pad_param, mode, 0),
};

// ---- SLICE ----

// A size of -1 is the rest of the axis. Begins and sizes may be computed.
static int lower_slice(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* begin = emit_indices(&emit, get_operand(&emit, 1));
    struct tensor* size = emit_indices(&emit, get_operand(&emit, 2));
    struct tensor* is_rest = emit_op(&emit, "Equal", 2, size, emit_int(&emit, -1));
    struct tensor* end = emit_op(&emit, "Add", 2, begin, size);
    end = emit_op(&emit, "Where", 3, is_rest, emit_int(&emit, INT64_MAX), end);
    return finish_emitting(&emit, 1, emit_op(&emit, "Slice", 3, get_operand(&emit, 0), begin, end));
}

// ---- STRIDED_SLICE ----

// The axes of the input and of the result, in the order of the specification.
typedef struct strided_slice
{
    int cut_num;
    struct axis_cut cuts[MAX_SHAPE_DIM_NUM];
    int dim_num;
    int64_t dims[2 * MAX_SHAPE_DIM_NUM];  // of the result
} strided_slice_t;

static int64_t count_taken(const struct axis_cut* cut, int64_t size)
{
    int64_t begin = cut->begin < 0 ? cut->begin + size : cut->begin;
    int64_t end = cut->end == INT64_MIN ? -1 : cut->end < 0 ? cut->end + size : cut->end;
    if (cut->step > 0) {
        begin = begin < 0 ? 0 : begin;
        end = end > size ? size : end;
        return end > begin ? (end - begin + cut->step - 1) / cut->step : 0;
    }
    begin = begin > size - 1 ? size - 1 : begin;
    end = end < -1 ? -1 : end;
    return begin > end ? (begin - end - cut->step - 1) / -cut->step : 0;
}

static void keep_axis(strided_slice_t* slice, int64_t size)
{
    slice->dims[slice->dim_num++] = size;
}

// One entry of the lists, for axis `axis` of the input.
static void cut_axis(emitter_t* emit, strided_slice_t* slice, int axis, int entry,
                     const int64_t begin, const int64_t end, const int64_t step)
{
    const struct tfl_strided_slice_param* param = emit->origin->op.param_mem;
    const int64_t size = get_operand(emit, 0)->dims[axis];
    struct axis_cut* cut = &slice->cuts[slice->cut_num++];
    *cut = (struct axis_cut){axis, begin, param->offset ? begin + end : end, step};
    if (param->shrink_axis_mask >> entry & 1) {
        const int64_t place = begin < 0 ? begin + size : begin;
        if (place < 0 || place >= size)
            fail_emitting(emit, TENGINE_ERANGE, "element %lld of axis %d, which has %lld",
                          (long long)begin, axis, (long long)size);
        *cut = (struct axis_cut){axis, place, place + 1, 1};
        return;
    }
    if (step == 0) {
        fail_emitting(emit, TENGINE_EINVAL, "its stride of axis %d is 0", axis);
        return;
    }
    // An end before the first element, which -1 does not say.
    const bool is_clipped = step < 0 && cut->end + size < 0;
    if (param->begin_mask >> entry & 1) cut->begin = step > 0 ? 0 : size - 1;
    if (param->end_mask >> entry & 1 || is_clipped) cut->end = step > 0 ? INT64_MAX : INT64_MIN;
    keep_axis(slice, count_taken(cut, size));
}

static int read_specification(emitter_t* emit, int64_t lists[3][2 * MAX_SHAPE_DIM_NUM])
{
    static const char* const names[] = {"list of begins", "list of ends", "list of strides"};
    int number = 0;
    for (int i = 0; i < 3; ++i) {
        const int read = read_tfl_ints(emit, 1 + i, names[i], lists[i], 2 * MAX_SHAPE_DIM_NUM);
        if (i > 0 && read != number)
            fail_emitting(emit, TENGINE_EINVAL, "its %s has %d elements, its list of begins %d",
                          names[i], read, number);
        number = read;
    }
    return emit->status < 0 ? 0 : number;
}

static int count_bits(int mask, int number)
{
    int bits = 0;
    for (int i = 0; i < number; ++i)
        bits += mask >> i & 1;
    return bits;
}

static void resolve_strided_slice(emitter_t* emit, strided_slice_t* slice)
{
    const struct tfl_strided_slice_param* param = emit->origin->op.param_mem;
    const struct tensor* input = get_operand(emit, 0);
    int64_t lists[3][2 * MAX_SHAPE_DIM_NUM];
    const int number = read_specification(emit, lists);
    const int ellipses = count_bits(param->ellipsis_mask, number);
    const int new_axes = count_bits(param->new_axis_mask & ~param->ellipsis_mask, number);
    const int said = number - ellipses - new_axes;
    if (emit->status == TENGINE_OK && (said > input->dim_num || ellipses > 1))
        fail_emitting(emit, TENGINE_EINVAL,
                      "it has %d ellipses and begins of %d axes, its input %d axes", ellipses, said,
                      input->dim_num);
    int axis = 0;
    for (int i = 0; i < number && emit->status == TENGINE_OK; ++i) {
        if (param->ellipsis_mask >> i & 1) {
            for (int k = said; k < input->dim_num; ++k)
                keep_axis(slice, input->dims[axis++]);
        } else if (param->new_axis_mask >> i & 1) {
            keep_axis(slice, 1);
        } else {
            cut_axis(emit, slice, axis, i, lists[0][i], lists[1][i], lists[2][i]);
            ++axis;
        }
    }
    for (; axis < input->dim_num && emit->status == TENGINE_OK; ++axis)
        keep_axis(slice, input->dims[axis]);
    if (slice->dim_num > MAX_SHAPE_DIM_NUM)
        fail_emitting(emit, TENGINE_ERANGE, "its result has rank %d, expected at most %d",
                      slice->dim_num, MAX_SHAPE_DIM_NUM);
}

static int lower_strided_slice(struct graph* graph, struct node* node)
{
    const struct tfl_strided_slice_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    strided_slice_t slice = {0};
    resolve_strided_slice(&emit, &slice);
    if (emit.status < 0) return emit.status;
    struct tensor* result = emit_cuts(&emit, get_operand(&emit, 0), slice.cuts, slice.cut_num);
    if (param->shrink_axis_mask != 0 || param->new_axis_mask != 0)
        result = emit_reshape(&emit, result, slice.dims, slice.dim_num);
    return finish_emitting(&emit, 1, result);
}

// ---- GATHER ----

// The gathered axis follows the batches while elements are taken; then the axes that were between
// them move back before the new ones.
static struct tensor* emit_batched_gather(emitter_t* emit, struct tensor* indices, int axis,
                                          int batches)
{
    struct tensor* input = emit_moved_axis(emit, get_operand(emit, 0), axis, batches);
    indices = emit_op(emit, "Unsqueeze", 2, indices, emit_ints(emit, (const int64_t[]){-1}, 1));
    begin_op(emit, "GatherND", 2, input, indices);
    emit_attr_int(emit, "batch_dims", batches);
    struct tensor* taken = end_op(emit);
    if (!taken || axis == batches) return taken;
    const int added = indices->dim_num - 1 - batches, between = axis - batches;
    int64_t order[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < taken->dim_num; ++i) {
        const int place = i - batches;
        order[i] = i;
        if (place >= 0 && place < between) order[i] = i + added;
        if (place >= between && place < between + added) order[i] = i - between;
    }
    return emit_transpose(emit, taken, order, taken->dim_num);
}

static int lower_gather(struct graph* graph, struct node* node)
{
    const struct tfl_gather_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    struct tensor *input = get_operand(&emit, 0), *indices = get_operand(&emit, 1);
    int axis = 0;
    if (param->batch_dims == 0) {
        begin_op(&emit, "Gather", 2, input, emit_indices(&emit, indices));
        emit_attr_int(&emit, "axis", param->axis);
        return finish_emitting(&emit, 1, end_op(&emit));
    }
    if (!input->shape_set || !indices->shape_set)
        return fail_emitting(&emit, TENGINE_ENOTSUP,
                             "batch_dims is %d and a shape depends on data, expected 0",
                             param->batch_dims);
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    const int batches =
        param->batch_dims < 0 ? param->batch_dims + indices->dim_num : param->batch_dims;
    indices = emit_indices(&emit, indices);
    if (batches < 0 || batches > axis)
        return fail_emitting(&emit, TENGINE_EINVAL, "batch_dims is %d, expected 0 to the axis, %d",
                             batches, axis);
    return finish_emitting(&emit, 1, emit_batched_gather(&emit, indices, axis, batches));
}

static int lower_gather_nd(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* indices = emit_indices(&emit, get_operand(&emit, 1));
    return finish_emitting(&emit, 1, emit_op(&emit, "GatherND", 2, get_operand(&emit, 0), indices));
}

static int lower_embedding_lookup(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* rows = emit_indices(&emit, get_operand(&emit, 0));
    return finish_emitting(&emit, 1, emit_op(&emit, "Gather", 2, get_operand(&emit, 1), rows));
}

// ---- padding ----

// Reads the matrix of begins and ends of each axis; both lists have the rank of the input.
static void read_pads(emitter_t* emit, int64_t pads[2 * MAX_SHAPE_DIM_NUM])
{
    int64_t pairs[2 * MAX_SHAPE_DIM_NUM];
    const int rank = get_operand(emit, 0)->dim_num;
    const int number = read_tfl_ints(emit, 1, "matrix of paddings", pairs, 2 * MAX_SHAPE_DIM_NUM);
    if (emit->status < 0) return;
    if (number != 2 * rank) {
        fail_emitting(emit, TENGINE_EINVAL, "its matrix of paddings has %d elements, expected %d",
                      number, 2 * rank);
        return;
    }
    for (int i = 0; i < rank; ++i) {
        pads[i] = pairs[2 * i];
        pads[rank + i] = pairs[2 * i + 1];
        if (pads[i] < 0 || pads[rank + i] < 0)
            fail_emitting(emit, TENGINE_ERANGE,
                          "its paddings of axis %d are %lld and %lld, expected at least 0", i,
                          (long long)pads[i], (long long)pads[rank + i]);
    }
}

static int finish_pad(emitter_t* emit, struct tensor* value, const char* mode)
{
    int64_t pads[2 * MAX_SHAPE_DIM_NUM] = {0};
    read_pads(emit, pads);
    if (emit->status < 0) return emit->status;
    const int rank = get_operand(emit, 0)->dim_num;
    begin_op(emit, "Pad", value ? 3 : 2, get_operand(emit, 0), emit_ints(emit, pads, 2 * rank),
             value);
    emit_attr_text(emit, "mode", mode);
    return finish_emitting(emit, 1, end_op(emit));
}

static int lower_pad(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* value = node->input_num > 2 ? get_operand(&emit, 2) : NULL;
    if (value && value->dim_num != 0) value = emit_reshape(&emit, value, NULL, 0);
    return finish_pad(&emit, value, "constant");
}

// The elements next to an end, which is repeated, in the reverse order.
static struct tensor* emit_mirror(emitter_t* emit, struct tensor* input, int axis, int64_t number,
                                  bool at_end)
{
    const int64_t size = input->dims[axis];
    const struct axis_cut cut = {axis, at_end ? size - 1 : number - 1,
                                 at_end ? size - 1 - number : INT64_MIN, -1};
    const bool is_whole = at_end && number == size;
    const struct axis_cut whole = {axis, size - 1, INT64_MIN, -1};
    return emit_cuts(emit, input, is_whole ? &whole : &cut, 1);
}

static int lower_symmetric_pad(emitter_t* emit)
{
    int64_t pads[2 * MAX_SHAPE_DIM_NUM] = {0};
    read_pads(emit, pads);
    struct tensor* result = get_operand(emit, 0);
    const int rank = result->dim_num;
    for (int i = 0; i < rank && emit->status == TENGINE_OK; ++i) {
        if (pads[i] == 0 && pads[rank + i] == 0) continue;
        if (pads[i] > result->dims[i] || pads[rank + i] > result->dims[i])
            return fail_emitting(emit, TENGINE_ERANGE,
                                 "its paddings of axis %d are %lld and %lld, expected at most %d",
                                 i, (long long)pads[i], (long long)pads[rank + i], result->dims[i]);
        struct tensor* before = pads[i] > 0 ? emit_mirror(emit, result, i, pads[i], false) : NULL;
        struct tensor* after =
            pads[rank + i] > 0 ? emit_mirror(emit, result, i, pads[rank + i], true) : NULL;
        begin_op(emit, "Concat", 0);
        if (before) emit_input(emit, before);
        emit_input(emit, result);
        if (after) emit_input(emit, after);
        emit_attr_int(emit, "axis", i);
        result = end_op(emit);
    }
    return finish_emitting(emit, 1, result);
}

static int lower_mirror_pad(struct graph* graph, struct node* node)
{
    const struct tfl_mirror_pad_param* param = node->op.param_mem;
    emitter_t emit = start_emitting(graph, node);
    return param->mode == 0 ? finish_pad(&emit, NULL, "reflect") : lower_symmetric_pad(&emit);
}

// ---- blocks ----

// The blocks of SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: sizes for the axes after the first, and
// pairs of paddings or crops.
typedef struct blocks
{
    int axis_num;
    int64_t sizes[MAX_SHAPE_DIM_NUM];
    int64_t pairs[2 * MAX_SHAPE_DIM_NUM];
} blocks_t;

static void read_blocks(emitter_t* emit, blocks_t* blocks)
{
    const int rank = get_operand(emit, 0)->dim_num;
    blocks->axis_num =
        read_tfl_ints(emit, 1, "list of block sizes", blocks->sizes, MAX_SHAPE_DIM_NUM);
    const int number =
        read_tfl_ints(emit, 2, "matrix of pairs", blocks->pairs, 2 * MAX_SHAPE_DIM_NUM);
    if (emit->status < 0) return;
    // The blocks become axes of their own for a moment.
    if (blocks->axis_num >= rank || number != 2 * blocks->axis_num ||
        rank + blocks->axis_num > MAX_SHAPE_DIM_NUM)
        fail_emitting(emit, TENGINE_EINVAL,
                      "it has %d block sizes and %d elements of pairs for an input of rank %d",
                      blocks->axis_num, number, rank);
    for (int i = 0; i < blocks->axis_num; ++i)
        if (blocks->sizes[i] < 1 || blocks->pairs[2 * i] < 0 || blocks->pairs[2 * i + 1] < 0)
            fail_emitting(emit, TENGINE_ERANGE,
                          "its block size %d is %lld with the pair %lld, %lld", i,
                          (long long)blocks->sizes[i], (long long)blocks->pairs[2 * i],
                          (long long)blocks->pairs[2 * i + 1]);
}

static int lower_space_to_batch(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int rank = input->dim_num;
    blocks_t blocks = {0};
    read_blocks(&emit, &blocks);
    if (emit.status < 0) return emit.status;
    const int number = blocks.axis_num;
    int64_t pads[2 * MAX_SHAPE_DIM_NUM] = {0}, split[2 * MAX_SHAPE_DIM_NUM],
                     order[2 * MAX_SHAPE_DIM_NUM], dims[MAX_SHAPE_DIM_NUM];
    int64_t pictures = input->dims[0];
    split[0] = input->dims[0];
    order[number] = 0;
    for (int i = 0; i < number; ++i) {
        pads[1 + i] = blocks.pairs[2 * i];
        pads[rank + 1 + i] = blocks.pairs[2 * i + 1];
        const int64_t size = input->dims[1 + i] + pads[1 + i] + pads[rank + 1 + i];
        if (size % blocks.sizes[i] != 0)
            return fail_emitting(&emit, TENGINE_EINVAL,
                                 "axis %d has %lld elements with its padding, expected a multiple "
                                 "of its block size %lld",
                                 1 + i, (long long)size, (long long)blocks.sizes[i]);
        split[1 + 2 * i] = size / blocks.sizes[i];
        split[2 + 2 * i] = blocks.sizes[i];
        order[i] = 2 + 2 * i;
        order[number + 1 + i] = 1 + 2 * i;
        dims[1 + i] = split[1 + 2 * i];
        pictures *= blocks.sizes[i];
    }
    dims[0] = pictures;
    for (int i = 1 + number; i < rank; ++i) {
        split[number + i] = dims[i] = input->dims[i];
        order[number + i] = number + i;
    }
    struct tensor* padded = emit_op(&emit, "Pad", 2, input, emit_ints(&emit, pads, 2 * rank));
    struct tensor* parted = emit_reshape(&emit, padded, split, rank + number);
    struct tensor* moved = emit_transpose(&emit, parted, order, rank + number);
    return finish_emitting(&emit, 1, emit_reshape(&emit, moved, dims, rank));
}

static int lower_batch_to_space(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = get_operand(&emit, 0);
    const int rank = input->dim_num;
    blocks_t blocks = {0};
    read_blocks(&emit, &blocks);
    if (emit.status < 0) return emit.status;
    const int number = blocks.axis_num;
    int64_t split[2 * MAX_SHAPE_DIM_NUM], order[2 * MAX_SHAPE_DIM_NUM], dims[MAX_SHAPE_DIM_NUM];
    int64_t pictures = input->dims[0];
    struct axis_cut cuts[MAX_SHAPE_DIM_NUM];
    order[0] = number;
    for (int i = 0; i < number; ++i) {
        if (pictures % blocks.sizes[i] != 0)
            return fail_emitting(&emit, TENGINE_EINVAL,
                                 "the first axis has %d elements, expected a multiple of the block "
                                 "sizes",
                                 input->dims[0]);
        pictures /= blocks.sizes[i];
        split[i] = blocks.sizes[i];
        split[number + 1 + i] = input->dims[1 + i];
        order[1 + 2 * i] = number + 1 + i;
        order[2 + 2 * i] = i;
        dims[1 + i] = input->dims[1 + i] * blocks.sizes[i];
        cuts[i] =
            (struct axis_cut){1 + i, blocks.pairs[2 * i], dims[1 + i] - blocks.pairs[2 * i + 1], 1};
    }
    split[number] = dims[0] = pictures;
    for (int i = 1 + number; i < rank; ++i) {
        split[number + i] = dims[i] = input->dims[i];
        order[number + i] = number + i;
    }
    struct tensor* parted = emit_reshape(&emit, input, split, rank + number);
    struct tensor* moved = emit_transpose(&emit, parted, order, rank + number);
    struct tensor* joined = emit_reshape(&emit, moved, dims, rank);
    return finish_emitting(&emit, 1, emit_cuts(&emit, joined, cuts, number));
}

static const ir_method_t* const rows[] = {
    SHAPELESS_ROW(SLICE, 65, TFL_COUNTS(3, 3, 1), .lower = lower_slice),
    TFLITE_ROW(STRIDED_SLICE, 45, TFL_COUNTS(4, 4, 1), TFL_PARAMS(strided_slice),
               .lower = lower_strided_slice),
    SHAPELESS_ROW(GATHER, 36, TFL_COUNTS(2, 2, 1), TFL_PARAMS(gather), .lower = lower_gather),
    SHAPELESS_ROW(GATHER_ND, 107, TFL_COUNTS(2, 2, 1), .lower = lower_gather_nd),
    SHAPELESS_ROW(EMBEDDING_LOOKUP, 7, TFL_COUNTS(2, 2, 1), .lower = lower_embedding_lookup),
    TFLITE_ROW(PAD, 34, TFL_COUNTS(2, 2, 1), .lower = lower_pad),
    TFLITE_ROW(PADV2, 60, TFL_COUNTS(3, 3, 1), .lower = lower_pad),
    TFLITE_ROW(MIRROR_PAD, 100, TFL_COUNTS(2, 2, 1), TFL_PARAMS(mirror_pad),
               .lower = lower_mirror_pad),
    TFLITE_ROW(SPACE_TO_BATCH_ND, 38, TFL_COUNTS(3, 3, 1), .lower = lower_space_to_batch),
    TFLITE_ROW(BATCH_TO_SPACE_ND, 37, TFL_COUNTS(3, 3, 1), .lower = lower_batch_to_space),
};

OPERATOR_TABLE(tflite_slice_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Tengine's operators that take or add elements at the ends of axes: Slice in its four flavours,
// StridedSlice, Crop, Pad.
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "operator/onnx/slice_param.h"
#include "operator/row.h"
#include "operator/tengine/move.h"
#include "operator/tengine/operand.h"
#include "operator/tengine/raise.h"

struct tm_slice_param
{
    struct op_ints slice_point_;  // caffe: where one output ends and the next begins
    struct op_ints begin_;        // TensorFlow: first element and number of elements of each axis
    struct op_ints size_;
    int begin;  // mxnet and ONNX: one axis
    int end;
    int axis;
    int step;
    int ismxnet;
    int iscaffe;
    int isonnx;
};

struct tm_strided_slice_param
{
    struct op_ints begin;
    struct op_ints end;
    struct op_ints stride;
    int shrink_axis_mask;
    int new_axis_mask;
    int ellipsis_mask;
    int begin_mask;
    int end_mask;
};

struct tm_crop_param
{
    int num_args;
    int offset_c;
    int offset_h;
    int offset_w;
    int crop_h;
    int crop_w;
    int center_crop;
    int axis;
    int flag;  // 0: caffe, 1: mxnet
};

// pad_<axis>_h is before, pad_<axis>_w after.
struct tm_pad_param
{
    int mode;
    int pad_0_h;
    int pad_0_w;
    int pad_1_h;
    int pad_1_w;
    int pad_2_h;
    int pad_2_w;
    int pad_3_h;
    int pad_3_w;
    float value;
};

static const op_field_t slice_fields[] = {
    TM_FIELD(struct tm_slice_param, INTS, slice_point_, OFFSET, 4, .in_vector = 1),
    TM_FIELD(struct tm_slice_param, INTS, begin_, OFFSET, 8, .in_vector = 1),
    TM_FIELD(struct tm_slice_param, INTS, size_, OFFSET, 12, .in_vector = 1),
    TM_FIELD(struct tm_slice_param, INT, begin, WORD, 28, .number = 0),
    TM_FIELD(struct tm_slice_param, INT, end, WORD, 32, .number = 0),
    TM_FIELD(struct tm_slice_param, INT, axis, WORD, 0, .number = 1),
    TM_FIELD(struct tm_slice_param, INT, step, WORD, 36, .number = 1),
    TM_FIELD(struct tm_slice_param, INT, ismxnet, WORD, 20, .number = 0),
    TM_FIELD(struct tm_slice_param, INT, iscaffe, WORD, 16, .number = 0),
    TM_FIELD(struct tm_slice_param, INT, isonnx, WORD, 24, .number = 0),
};

static const op_field_t strided_slice_fields[] = {
    TM_FIELD(struct tm_strided_slice_param, INTS, begin, STRIDED, 0, .number = 0),
    TM_FIELD(struct tm_strided_slice_param, INTS, end, STRIDED, 4, .number = 0),
    TM_FIELD(struct tm_strided_slice_param, INTS, stride, STRIDED, 8, .number = 0),
    OP_FIELD(struct tm_strided_slice_param, INT, shrink_axis_mask, .number = 0),
    OP_FIELD(struct tm_strided_slice_param, INT, new_axis_mask, .number = 0),
    OP_FIELD(struct tm_strided_slice_param, INT, ellipsis_mask, .number = 0),
    OP_FIELD(struct tm_strided_slice_param, INT, begin_mask, .number = 0),
    OP_FIELD(struct tm_strided_slice_param, INT, end_mask, .number = 0),
};

static const op_field_t crop_fields[] = {
    TM_FIELD(struct tm_crop_param, INT, num_args, WORD, 0, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, offset_c, WORD, 4, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, offset_h, WORD, 8, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, offset_w, WORD, 12, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, crop_h, WORD, 16, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, crop_w, WORD, 20, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, center_crop, BYTE, 24, .number = 0),
    TM_FIELD(struct tm_crop_param, INT, axis, WORD, 28, .number = 2),
    TM_FIELD(struct tm_crop_param, INT, flag, WORD, 32, .number = 0),
};

static const op_field_t pad_fields[] = {
    TM_FIELD(struct tm_pad_param, INT, mode, WORD, 32, .number = 0),
    TM_FIELD(struct tm_pad_param, INT, pad_0_h, WORD, 0, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_0_w, WORD, 4, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_1_h, WORD, 8, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_1_w, WORD, 12, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_2_h, WORD, 16, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_2_w, WORD, 20, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_3_h, WORD, 24, .number = -1),
    TM_FIELD(struct tm_pad_param, INT, pad_3_w, WORD, 28, .number = -1),
    TM_FIELD(struct tm_pad_param, FLOAT, value, WORD, 36, .number = 0),
};

// ---- Slice ----

// Without points all outputs have the same size.
static int find_part_sizes(const struct node* node, int axis, int64_t sizes[])
{
    const struct tm_slice_param* param = node->op.param_mem;
    const struct op_ints* points = &param->slice_point_;
    const int size = get_ir_node_input(node, 0)->dims[axis];
    const int num = node->output_num;
    if (points->num == 0 && size % num != 0)
        return fail_node(node, TENGINE_EINVAL, "an axis of %d does not divide into %d outputs",
                         size, num);
    if (points->num != 0 && points->num != num - 1)
        return fail_node(node, TENGINE_EINVAL, "slice_point_ has %d values for %d outputs",
                         points->num, num);
    int64_t before = 0;
    for (int i = 0; i < num; ++i) {
        const int64_t point = points->num == 0 ? before + size / num
                              : i < num - 1    ? points->values[i]
                                               : size;
        if (point < before || point > size)
            return fail_node(node, TENGINE_ERANGE,
                             "slice_point_ has %lld at index %d, expected %lld to %d",
                             (long long)point, i, (long long)before, size);
        sizes[i] = point - before;
        before = point;
    }
    return TENGINE_OK;
}

static int lower_caffe_slice(emitter_t* emit, struct tensor* input, int axis)
{
    const int num = emit->origin->output_num;
    int64_t* sizes = alloc_memory(sizeof *sizes * (size_t)num);
    if (!sizes) return fail_emitting(emit, TENGINE_ENOMEM, "out of memory for %d sizes", num);
    int status = find_part_sizes(emit->origin, axis, sizes);
    if (status == TENGINE_OK) status = finish_with_parts(emit, input, axis, sizes, num);
    free_memory(sizes);
    return status;
}

// An end of 0 is the end of the axis.
static int lower_range_slice(emitter_t* emit, struct tensor* input, int axis)
{
    const struct tm_slice_param* param = emit->origin->op.param_mem;
    const int step = param->isonnx && !param->ismxnet ? param->step : 1;
    if (step < 1)
        return fail_emitting(emit, TENGINE_ERANGE, "step is %d, expected a positive number", step);
    const struct axis_cut cut = {.axis = axis,
                                 .begin = param->begin,
                                 .end = param->end == 0 ? INT_MAX : param->end,
                                 .step = step};
    return finish_emitting(emit, 1, emit_cuts(emit, input, &cut, 1));
}

// A size of −1 is all that is left.
static int lower_tensorflow_slice(emitter_t* emit, struct tensor* input)
{
    const struct tm_slice_param* param = emit->origin->op.param_mem;
    const int rank = input->dim_num;
    if (param->begin_.num != rank || param->size_.num != rank)
        return fail_emitting(emit, TENGINE_EINVAL,
                             "begin_ has %d values and size_ %d, the input has %d dimensions",
                             param->begin_.num, param->size_.num, rank);
    struct axis_cut cuts[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i) {
        const int64_t begin = param->begin_.values[i];
        const int64_t size = param->size_.values[i];
        const int64_t left = begin < 0 ? -1 : input->dims[i] - begin;
        if (left < 0 || size < -1 || size > left)
            return fail_emitting(emit, TENGINE_ERANGE,
                                 "begin_ %lld and size_ %lld exceed axis %d, which has %d elements",
                                 (long long)begin, (long long)size, i, input->dims[i]);
        cuts[i] = (struct axis_cut){
            .axis = i, .begin = begin, .end = begin + (size == -1 ? left : size), .step = 1};
    }
    return finish_emitting(emit, 1, emit_cuts(emit, input, cuts, rank));
}

static int lower_slice(struct graph* graph, struct node* node)
{
    const struct tm_slice_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    if (!param->iscaffe && node->output_num > 1)
        return fail_node(node, TENGINE_EINVAL, "%d outputs, only caffe's flavour may have several",
                         node->output_num);
    if (!param->iscaffe && !param->ismxnet && !param->isonnx)
        return lower_tensorflow_slice(&emit, input);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    return param->iscaffe ? lower_caffe_slice(&emit, input, axis)
                          : lower_range_slice(&emit, input, axis);
}

static struct tensor* raise_range(emitter_t* emit, struct tensor* input, int axis,
                                  const struct slice_range* range)
{
    begin_op(emit, "tengine.Slice", 1, input);
    emit_attr_int(emit, "axis", axis);
    emit_attr_int(emit, "isonnx", 1);
    emit_attr_int(emit, "begin", range->start);
    emit_attr_int(emit, "end", range->start + (range->length - 1) * range->step + 1);
    emit_attr_int(emit, "step", range->step);
    return end_op(emit);
}

// For slices that Tengine Lite's kernel computes wrong, some of those of fewer or more than four
// dimensions, the axis becomes the second of four.
static struct tensor* raise_one_axis(emitter_t* emit, struct tensor* input, int64_t dims[],
                                     int rank, int axis, const struct slice_range* range)
{
    const bool direct = rank == 4 || (range->step == 1 && (rank == 3 || (rank == 2 && axis == 1)));
    int64_t four[] = {1, dims[axis], 1, 1};
    for (int i = 0; i < rank; ++i)
        if (i != axis) four[i < axis ? 0 : 2] *= dims[i];
    dims[axis] = range->length;
    if (direct) return raise_range(emit, input, axis, range);
    input = raise_range(emit, raise_to_reshape(emit, input, four, 4), 1, range);
    return raise_to_reshape(emit, input, dims, rank);
}

// An end of 0 or less counts from the end of the axis, in Tengine Lite as in TensorFlow.
static struct tensor* raise_strided(emitter_t* emit, struct tensor* input,
                                    const struct slice_range ranges[])
{
    int64_t begins[4], ends[4], strides[4];
    for (int i = 0; i < 4; ++i) {
        begins[i] = ranges[i].start;
        strides[i] = ranges[i].step;
        ends[i] = ranges[i].start + (ranges[i].length - 1) * ranges[i].step + 1 - input->dims[i];
    }
    begin_op(emit, "tengine.StridedSlice", 1, input);
    emit_attr_ints(emit, "begin", begins, 4);
    emit_attr_ints(emit, "end", ends, 4);
    emit_attr_ints(emit, "stride", strides, 4);
    return end_op(emit);
}

// Replaces a backward range by a forward one whose result is then reversed. Returns 0, or why it
// cannot.
static int straighten(struct node* node, struct slice_range ranges[], bool turned[])
{
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int i = 0; i < input->dim_num; ++i) {
        struct slice_range* range = &ranges[i];
        turned[i] = range->step < 0 && range->length > 1;
        if (range->length == 0) return refuse_raising(node, "it takes nothing of axis %d", i);
        if (range->length == 1) range->step = 1;
        if (!turned[i]) continue;
        if (input->dim_num != 4)
            return refuse_raising(
                node, "its step on axis %d is %lld, its input does not have 4 dimensions", i,
                (long long)range->step);
        range->start += (range->length - 1) * range->step;
        range->step = -range->step;
    }
    return TENGINE_OK;
}

static struct tensor* raise_cuts(emitter_t* emit, struct tensor* input,
                                 const struct slice_range ranges[], bool keep_none)
{
    const int rank = input->dim_num;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    bool is_cut[MAX_SHAPE_DIM_NUM] = {false};
    int cut_num = 0;
    read_dims(input, dims);
    for (int i = 0; i < rank; ++i) {
        is_cut[i] = ranges[i].length != dims[i];
        cut_num += is_cut[i];
    }
    if (rank == 4 && cut_num > 1 && !is_cut[0]) return raise_strided(emit, input, ranges);
    for (int i = 0; i < rank; ++i)
        if (is_cut[i] || (cut_num == 0 && !keep_none && i == rank - 1))
            input = raise_one_axis(emit, input, dims, rank, i, &ranges[i]);
    return input;
}

static int raise_slice(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    struct slice_range ranges[MAX_SHAPE_DIM_NUM];
    bool turned[MAX_SHAPE_DIM_NUM];
    bool any_turned = false;
    if (resolve_slice(node, ranges) != TENGINE_OK)
        return refuse_raising(node, "its bounds are known only at run time");
    const int status = straighten(node, ranges, turned);
    if (status != TENGINE_OK) return status;
    const int rank = input->dim_num;
    for (int i = 0; i < rank; ++i)
        any_turned = any_turned || turned[i];
    emitter_t emit = start_emitting(graph, node);
    input = raise_cuts(&emit, input, ranges, any_turned);
    for (int64_t i = 0; i < rank; ++i)
        if (turned[i])
            input = emit_op(&emit, "tengine.Reverse", 2, input, emit_int32s(&emit, &i, 1));
    return finish_emitting(&emit, 1, input);
}

// ---- StridedSlice ----

// An end of 0 without its bit in the mask is the end of the axis, as Tengine Lite computes the
// size. In TensorFlow, which writes the masks, the result would be empty.
static struct axis_cut find_strided_cut(const struct tm_strided_slice_param* param, int axis)
{
    struct axis_cut cut = {.axis = axis,
                           .begin = param->begin.values[axis],
                           .end = param->end.values[axis],
                           .step = param->stride.values[axis]};
    const bool forward = cut.step > 0;
    if (param->begin_mask >> axis & 1) cut.begin = forward ? 0 : INT_MAX;
    if ((param->end_mask >> axis & 1) || (forward && cut.end == 0))
        cut.end = forward ? INT_MAX : INT64_MIN;
    if (param->shrink_axis_mask >> axis & 1) {
        cut.begin = param->begin.values[axis];
        cut.end = cut.begin == -1 ? INT_MAX : cut.begin + 1;
        cut.step = 1;
    }
    return cut;
}

static int check_strided_slice(const struct node* node)
{
    const struct tm_strided_slice_param* param = node->op.param_mem;
    const int rank = get_ir_node_input(node, 0)->dim_num;
    const int num = param->begin.num;
    if (rank > 4 || num < rank || param->end.num != num || param->stride.num != num)
        return fail_node(node, TENGINE_EINVAL,
                         "begin has %d values, end %d and stride %d, the input has %d dimensions; "
                         "expected one of each for each dimension, at most 4",
                         num, param->end.num, param->stride.num, rank);
    if (param->new_axis_mask || param->ellipsis_mask)
        return fail_node(node, TENGINE_ENOTSUP,
                         "new_axis_mask is %d and ellipsis_mask %d, expected 0",
                         param->new_axis_mask, param->ellipsis_mask);
    for (int i = 0; i < rank; ++i) {
        const int64_t begin = param->begin.values[i];
        if (param->stride.values[i] == 0)
            return fail_node(node, TENGINE_ERANGE, "stride is 0 on axis %d", i);
        if (begin < INT_MIN || begin > INT_MAX)
            return fail_node(node, TENGINE_ERANGE, "begin is %lld on axis %d", (long long)begin, i);
    }
    return TENGINE_OK;
}

static int lower_strided_slice(struct graph* graph, struct node* node)
{
    const struct tm_strided_slice_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(check_strided_slice(node));
    struct axis_cut cuts[4];
    for (int i = 0; i < input->dim_num; ++i)
        cuts[i] = find_strided_cut(param, i);
    emitter_t emit = start_emitting(graph, node);
    struct tensor* result = emit_cuts(&emit, input, cuts, input->dim_num);
    if (emit.status < 0 || !param->shrink_axis_mask) return finish_emitting(&emit, 1, result);
    int64_t dims[4];
    int num = 0;
    for (int i = 0; i < result->dim_num; ++i) {
        if (!(param->shrink_axis_mask >> i & 1))
            dims[num++] = result->dims[i];
        else if (result->dims[i] != 1)
            return fail_node(node, TENGINE_ERANGE, "begin is %lld on axis %d of %d elements",
                             (long long)cuts[i].begin, i, input->dims[i]);
    }
    return finish_emitting(&emit, 1, emit_reshape(&emit, result, dims, num));
}

// ---- Crop ----

// Adds the cut to `size` elements from `offset` on.
static int add_crop(const struct node* node, struct axis_cut cuts[], int* num, int axis,
                    int64_t offset, int64_t size)
{
    const int whole = get_ir_node_input(node, 0)->dims[axis];
    if (offset < 0 || size < 0 || offset + size > whole)
        return fail_node(node, TENGINE_ERANGE,
                         "%lld elements from %lld on of axis %d, which has %d", (long long)size,
                         (long long)offset, axis, whole);
    cuts[(*num)++] =
        (struct axis_cut){.axis = axis, .begin = offset, .end = offset + size, .step = 1};
    return TENGINE_OK;
}

// Cuts the axes from `axis` on to the reference's sizes.
static int find_caffe_crop(const struct node* node, struct axis_cut cuts[], int* num)
{
    const struct tm_crop_param* param = node->op.param_mem;
    const struct tensor* reference = get_ir_node_input(node, 1);
    const int64_t offsets[] = {0, param->offset_c, param->offset_h, param->offset_w};
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, 4, &axis));
    for (int i = axis; i < 4; ++i)
        TENGINE_RETURN_IF_ERROR(add_crop(node, cuts, num, i, offsets[i], reference->dims[i]));
    return TENGINE_OK;
}

// With one argument, cuts the given size from the middle; with two, the reference's size, from the
// offsets or the middle.
static int find_mxnet_crop(const struct node* node, struct axis_cut cuts[], int* num)
{
    const struct tm_crop_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* reference = get_ir_node_input(node, 1);
    const bool given = param->num_args == 1;
    const bool centred = given || param->center_crop;
    const int height = given ? param->crop_h : reference->dims[2];
    const int width = given ? param->crop_w : reference->dims[3];
    const int64_t top = centred ? ((int64_t)input->dims[2] - height) / 2 : param->offset_h;
    const int64_t left = centred ? ((int64_t)input->dims[3] - width) / 2 : param->offset_w;
    TENGINE_RETURN_IF_ERROR(add_crop(node, cuts, num, 2, top, height));
    return add_crop(node, cuts, num, 3, left, width);
}

static int lower_crop(struct graph* graph, struct node* node)
{
    const struct tm_crop_param* param = node->op.param_mem;
    const struct tensor* reference = get_ir_node_input(node, 1);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 4, 4);
    if (emit.status < 0) return emit.status;
    if (param->flag < 0 || param->flag > 1 ||
        (param->flag == 1 && param->num_args != 1 && param->num_args != 2))
        return fail_node(
            node, TENGINE_ERANGE,
            "flag is %d and num_args %d, expected flag 0, or flag 1 with 1 or 2 arguments",
            param->flag, param->num_args);
    if ((param->flag == 0 || param->num_args == 2) && (!reference || reference->dim_num != 4))
        return fail_node(node, TENGINE_EINVAL,
                         "the reference, input 1, is missing or not of rank 4");
    struct axis_cut cuts[4];
    int num = 0;
    TENGINE_RETURN_IF_ERROR(param->flag == 0 ? find_caffe_crop(node, cuts, &num)
                                             : find_mxnet_crop(node, cuts, &num));
    return finish_emitting(&emit, 1, emit_cuts(&emit, get_ir_node_input(node, 0), cuts, num));
}

// ---- Pad ----

static const char* const pad_modes[] = {"constant", "edge", "reflect"};

// −1 is a pad that was not set.
static int read_pads(const struct node* node, int64_t before[4], int64_t after[4])
{
    const struct tm_pad_param* param = node->op.param_mem;
    const int pads[][2] = {{param->pad_0_h, param->pad_0_w},
                           {param->pad_1_h, param->pad_1_w},
                           {param->pad_2_h, param->pad_2_w},
                           {param->pad_3_h, param->pad_3_w}};
    const int rank = get_ir_node_input(node, 0)->dim_num;
    for (int i = 0; i < 4; ++i) {
        before[i] = pads[i][0] == -1 ? 0 : pads[i][0];
        after[i] = pads[i][1] == -1 ? 0 : pads[i][1];
        if (before[i] < 0 || after[i] < 0)
            return fail_node(node, TENGINE_ERANGE,
                             "padding %lld and %lld on axis %d, expected 0 or more",
                             (long long)before[i], (long long)after[i], i);
        if (i >= rank && (before[i] || after[i]))
            return fail_node(node, TENGINE_EINVAL,
                             "padding %lld and %lld on axis %d of an input with %d dimensions",
                             (long long)before[i], (long long)after[i], i, rank);
    }
    return TENGINE_OK;
}

static int lower_pad(struct graph* graph, struct node* node)
{
    const struct tm_pad_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    const int rank = input->dim_num;
    int64_t before[4], after[4];
    TENGINE_RETURN_IF_ERROR(read_pads(node, before, after));
    if (param->mode < 0 || param->mode > 2)
        return fail_node(node, TENGINE_ERANGE,
                         "mode is %d, expected 0 (constant), 1 (edge) or 2 (reflect)", param->mode);
    int64_t pads[2 * MAX_SHAPE_DIM_NUM] = {0};
    for (int i = 0; i < rank && i < 4; ++i) {
        pads[i] = before[i];
        pads[rank + i] = after[i];
    }
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "Pad", 3, input, emit_ints(&emit, pads, 2 * rank),
             param->mode == 0 ? emit_number(&emit, param->value, input) : NULL);
    emit_attr_text(&emit, "mode", pad_modes[param->mode]);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Checks for pads that Tengine Lite computes as ONNX does: no batches, channels with zeros only.
static int check_original_pads(struct node* node, int mode, float value, const int64_t before[],
                               const int64_t after[])
{
    for (int i = 0; i < 4; ++i)
        if (before[i] < 0 || after[i] < 0)
            return refuse_raising(node, "it cuts %lld and %lld elements of axis %d",
                                  (long long)-before[i], (long long)-after[i], i);
    if (before[0] || after[0]) return refuse_raising(node, "it pads batches");
    if ((before[1] || after[1]) && (mode != 0 || value != 0))
        return refuse_raising(node, "it pads channels with values other than 0");
    return TENGINE_OK;
}

static int raise_pad(struct graph* graph, struct node* node)
{
    static const char* const names[][2] = {{"pad_0_h", "pad_0_w"},
                                           {"pad_1_h", "pad_1_w"},
                                           {"pad_2_h", "pad_2_w"},
                                           {"pad_3_h", "pad_3_w"}};
    const struct tensor* input = get_ir_node_input(node, 0);
    const char* mode_name = get_ir_node_text(node, "mode", "constant");
    int mode = 0;
    while (mode < 3 && strcmp(mode_name, pad_modes[mode]) != 0)
        ++mode;
    if (mode == 3) return refuse_raising(node, "its mode is '%s'", mode_name);
    if (input->dim_num != 4)
        return refuse_raising(node, "its input has %d dimensions, not 4", input->dim_num);
    int64_t before[MAX_SHAPE_DIM_NUM], after[MAX_SHAPE_DIM_NUM];
    if (resolve_pads(node, before, after) != TENGINE_OK)
        return refuse_raising(node, "its padding is known only at run time");
    float value = 0;
    if (get_ir_node_input(node, 2) && !read_raised_float(node, 2, &value))
        return refuse_raising(node, "its value is not a constant");
    const int status = check_original_pads(node, mode, value, before, after);
    if (status != TENGINE_OK) return status;
    emitter_t emit = start_emitting(graph, node);
    begin_op(&emit, "tengine.Pad", 1, get_ir_node_input(node, 0));
    for (int i = 0; i < 4; ++i) {
        emit_attr_int(&emit, names[i][0], before[i]);
        emit_attr_int(&emit, names[i][1], after[i]);
    }
    emit_attr_int(&emit, "mode", mode);
    emit_attr_float(&emit, "value", value);
    return finish_emitting(&emit, 1, end_op(&emit));
}

// Converters leave the constants that parameters came from as further inputs.
#define ONE_AND_IGNORED \
    .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(Crop, 16, 56, 36, ONE_AND_IGNORED, OP_FIELDS(crop_fields),
                .param_size = sizeof(struct tm_crop_param), .lower = lower_crop),
    TENGINE_ROW(Pad, 47, 40, 40, ONE_AND_IGNORED, OP_FIELDS(pad_fields),
                .param_size = sizeof(struct tm_pad_param), .lower = lower_pad,
                RAISED("Pad", raise_pad)),
    TENGINE_ROW(Slice, 71, 27, 40, .min_input = 1, .max_input = -1, .min_output = 1,
                .max_output = -1, .traits = OP_LEGACY, OP_FIELDS(slice_fields),
                .param_size = sizeof(struct tm_slice_param), .lower = lower_slice,
                RAISED("Slice", raise_slice)),
    TENGINE_ROW(StridedSlice, 79, 41, 48, ONE_AND_IGNORED, OP_FIELDS(strided_slice_fields),
                .param_size = sizeof(struct tm_strided_slice_param), .lower = lower_strided_slice),
};

OPERATOR_TABLE(tengine_slice_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Operators that take or add elements at regular intervals: Slice, Pad, CenterCropPad, Tile,
// ReverseSequence, Trilu. Parameters are in slice_param.h.
#include <limits.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/slice_param.h"
#include "operator/row.h"

static int64_t clamp(int64_t value, int64_t minimum, int64_t maximum)
{
    if (value > maximum) value = maximum;
    return value < minimum ? minimum : value;
}

// Reads the axes of optional input `index`, one of `count`; all axes from 0 on if it is absent.
static int read_optional_axes(const struct node* node, int index, int count,
                              int out_axes[MAX_SHAPE_DIM_NUM])
{
    const int rank = get_ir_node_input(node, 0)->dim_num;
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    const int status = read_int_input(node, index, axes, MAX_SHAPE_DIM_NUM, &axis_num);
    if (status != TENGINE_OK) return status;
    if (!get_ir_node_input(node, index))
        for (axis_num = 0; axis_num < rank && axis_num < count; ++axis_num)
            axes[axis_num] = axis_num;
    if (axis_num != count)
        return fail_node(node, TENGINE_EINVAL, "there are %d values for %d axes", count, axis_num);
    unsigned seen = 0;
    for (int i = 0; i < axis_num; ++i) {
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, axes[i], rank, &out_axes[i]));
        if (seen >> out_axes[i] & 1u)
            return fail_node(node, TENGINE_EINVAL, "axes names axis %d twice", out_axes[i]);
        seen |= 1u << out_axes[i];
    }
    return TENGINE_OK;
}

// ---- Slice ----

static struct slice_range make_range(int64_t start, int64_t end, int64_t step, int64_t dim)
{
    // Dimensions fit an int, so that a longer step takes the same elements.
    step = clamp(step, -INT_MAX, INT_MAX);
    if (start < 0) start += dim;
    if (end < 0) end += dim;
    struct slice_range range = {.step = step};
    if (step > 0) {
        range.start = clamp(start, 0, dim);
        range.length = (clamp(end, 0, dim) - range.start + step - 1) / step;
    } else {
        range.start = clamp(start, 0, dim - 1);
        if (dim > 0) range.length = (range.start - clamp(end, -1, dim - 1) - step - 1) / -step;
    }
    if (range.length < 0) range.length = 0;
    return range;
}

struct slice_lists
{
    int64_t starts[MAX_SHAPE_DIM_NUM];
    int64_t ends[MAX_SHAPE_DIM_NUM];
    int64_t steps[MAX_SHAPE_DIM_NUM];
    int num;
};

static int read_slice_lists(const struct node* node, struct slice_lists* out_lists)
{
    int end_num = 0;
    int step_num = 0;
    int status = read_int_input(node, 1, out_lists->starts, MAX_SHAPE_DIM_NUM, &out_lists->num);
    if (status != TENGINE_OK) return status;
    status = read_int_input(node, 2, out_lists->ends, MAX_SHAPE_DIM_NUM, &end_num);
    if (status != TENGINE_OK) return status;
    status = read_int_input(node, 4, out_lists->steps, MAX_SHAPE_DIM_NUM, &step_num);
    if (status != TENGINE_OK) return status;
    if (!get_ir_node_input(node, 4))
        for (step_num = 0; step_num < out_lists->num; ++step_num)
            out_lists->steps[step_num] = 1;
    if (end_num != out_lists->num || step_num != out_lists->num)
        return fail_node(node, TENGINE_EINVAL, "there are %d starts, %d ends and %d steps",
                         out_lists->num, end_num, step_num);
    return TENGINE_OK;
}

int resolve_slice(const struct node* node, struct slice_range out_ranges[MAX_SHAPE_DIM_NUM])
{
    const struct tensor* data = get_ir_node_input(node, 0);
    struct slice_lists lists;
    int status = read_slice_lists(node, &lists);
    if (status != TENGINE_OK) return status;
    int axes[MAX_SHAPE_DIM_NUM];
    status = read_optional_axes(node, 3, lists.num, axes);
    if (status != TENGINE_OK) return status;

    for (int i = 0; i < data->dim_num; ++i)
        out_ranges[i] = (struct slice_range){.start = 0, .step = 1, .length = data->dims[i]};
    for (int i = 0; i < lists.num; ++i) {
        if (lists.steps[i] == 0) return fail_node(node, TENGINE_EINVAL, "steps[%d] is 0", i);
        out_ranges[axes[i]] =
            make_range(lists.starts[i], lists.ends[i], lists.steps[i], data->dims[axes[i]]);
    }
    return TENGINE_OK;
}

static int infer_slice(struct node* node)
{
    const struct tensor* data = get_ir_node_input(node, 0);
    struct slice_range ranges[MAX_SHAPE_DIM_NUM];
    const int status = resolve_slice(node, ranges);
    if (status != TENGINE_OK) return status;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < data->dim_num; ++i)
        dims[i] = ranges[i].length;
    return set_node_output(node, 0, data->data_type, dims, data->dim_num);
}

static const op_field_t slice_fields[] = {
    OP_FIELD(struct slice_param, INTS, starts, .until = 9, .moved_as = OP_MOVED_INT64,
             .moved_input = 1),
    OP_FIELD(struct slice_param, INTS, ends, .until = 9, .moved_as = OP_MOVED_INT64,
             .moved_input = 2),
    OP_FIELD(struct slice_param, INTS, axes, .until = 9, .moved_as = OP_MOVED_INT64,
             .moved_input = 3),
};

// ---- Pad ----

int resolve_pads(const struct node* node, int64_t out_before[MAX_SHAPE_DIM_NUM],
                 int64_t out_after[MAX_SHAPE_DIM_NUM])
{
    int64_t pads[2 * MAX_SHAPE_DIM_NUM];
    int pad_num = 0;
    int status = read_int_input(node, 1, pads, 2 * MAX_SHAPE_DIM_NUM, &pad_num);
    if (status != TENGINE_OK) return status;
    if (pad_num % 2 != 0)
        return fail_node(node, TENGINE_EINVAL, "pads has %d values, expected two per axis",
                         pad_num);
    int axes[MAX_SHAPE_DIM_NUM];
    const int count = pad_num / 2;
    status = read_optional_axes(node, 3, count, axes);
    if (status != TENGINE_OK) return status;
    if (!get_ir_node_input(node, 3) && count != get_ir_node_input(node, 0)->dim_num)
        return fail_node(node, TENGINE_EINVAL, "pads has %d values for %d dimensions", pad_num,
                         get_ir_node_input(node, 0)->dim_num);
    memset(out_before, 0, sizeof(int64_t) * MAX_SHAPE_DIM_NUM);
    memset(out_after, 0, sizeof(int64_t) * MAX_SHAPE_DIM_NUM);
    for (int i = 0; i < count; ++i) {
        const int64_t before = pads[i];
        const int64_t after = pads[count + i];
        if (before < -INT_MAX || before > INT_MAX || after < -INT_MAX || after > INT_MAX)
            return fail_node(node, TENGINE_ERANGE, "axis %d is padded by %lld and %lld", axes[i],
                             (long long)before, (long long)after);
        out_before[axes[i]] = before;
        out_after[axes[i]] = after;
    }
    return TENGINE_OK;
}

static int infer_pad(struct node* node)
{
    const struct pad_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* value = get_ir_node_input(node, 2);
    if (value && (value->elem_num != 1 || value->data_type != data->data_type))
        return fail_node(node, TENGINE_EINVAL,
                         "constant_value has %lld elements of %s, expected "
                         "one %s",
                         (long long)value->elem_num, get_data_type_name(value->data_type),
                         get_data_type_name(data->data_type));
    int64_t before[MAX_SHAPE_DIM_NUM];
    int64_t after[MAX_SHAPE_DIM_NUM];
    const int status = resolve_pads(node, before, after);
    if (status != TENGINE_OK) return status;
    const bool constant = strcmp(param->mode, "constant") == 0;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < data->dim_num; ++i) {
        // The elements that are left by negative pads.
        const int64_t kept =
            data->dims[i] + (before[i] < 0 ? before[i] : 0) + (after[i] < 0 ? after[i] : 0);
        if (kept < 0)
            return fail_node(node, TENGINE_EINVAL, "axis %d has %d elements, pads remove %lld", i,
                             data->dims[i], (long long)(data->dims[i] - kept));
        if (kept == 0 && !constant && (before[i] > 0 || after[i] > 0))
            return fail_node(node, TENGINE_EINVAL, "axis %d has no element to pad with (%s)", i,
                             param->mode);
        dims[i] = data->dims[i] + before[i] + after[i];
    }
    return set_node_output(node, 0, data->data_type, dims, data->dim_num);
}

static const op_field_t pad_fields[] = {
    OP_FIELD(struct pad_param, STRING, mode, .text = "constant",
             .choices = "constant|reflect|edge|wrap"),
    OP_FIELD(struct pad_param, INTS, pads, .until = 10, .moved_as = OP_MOVED_INT64,
             .moved_input = 1),
    OP_FIELD(struct pad_param, FLOAT, value, .until = 10, .moved_as = OP_MOVED_LIKE_INPUT,
             .moved_input = 2),
};

// ---- CenterCropPad ----

static int infer_center_crop_pad(struct node* node)
{
    const struct center_crop_pad_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t shape[MAX_SHAPE_DIM_NUM];
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int num = 0;
    const int status = read_int_input(node, 1, shape, MAX_SHAPE_DIM_NUM, &num);
    if (status != TENGINE_OK) return status;
    const int expected = param->axes.num > 0 ? param->axes.num : input->dim_num;
    if (num != expected)
        return fail_node(node, TENGINE_EINVAL, "shape has %d values for %d axes", num, expected);
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = input->dims[i];
    for (int i = 0; i < num; ++i) {
        int axis;
        TENGINE_RETURN_IF_ERROR(normalize_axis(
            node, param->axes.num > 0 ? param->axes.values[i] : i, input->dim_num, &axis));
        dims[axis] = shape[i];
    }
    return set_node_output(node, 0, input->data_type, dims, input->dim_num);
}

static const op_field_t center_crop_pad_fields[] = {
    OP_FIELD(struct center_crop_pad_param, INTS, axes, .required = 0),
};

// ---- Tile ----

static int infer_tile(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t repeats[MAX_SHAPE_DIM_NUM];
    int repeat_num = 0;
    const int status = read_int_input(node, 1, repeats, MAX_SHAPE_DIM_NUM, &repeat_num);
    if (status != TENGINE_OK) return status;
    if (repeat_num != input->dim_num)
        return fail_node(node, TENGINE_EINVAL, "there are %d repeats for %d dimensions", repeat_num,
                         input->dim_num);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < repeat_num; ++i)
        if (repeats[i] < 0 || __builtin_mul_overflow(repeats[i], input->dims[i], &dims[i]))
            return fail_node(node, TENGINE_ERANGE, "repeats[%d] is %lld", i, (long long)repeats[i]);
    return set_node_output(node, 0, input->data_type, dims, input->dim_num);
}

// ---- ReverseSequence ----

static int infer_reverse_sequence(struct node* node)
{
    const struct reverse_sequence_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* lengths = get_ir_node_input(node, 1);
    if (input->dim_num < 2 || param->batch_axis == param->time_axis)
        return fail_node(node, TENGINE_EINVAL,
                         "%d dimensions, batch_axis %d, time_axis %d: expected two different axes",
                         input->dim_num, param->batch_axis, param->time_axis);
    if (lengths->dim_num != 1 || lengths->dims[0] != input->dims[param->batch_axis] ||
        lengths->data_type != TENGINE_DT_INT64)
        return fail_node(node, TENGINE_EINVAL, "sequence_lens must be a list of %d int64",
                         input->dims[param->batch_axis]);
    return set_node_output_like(node, 0, input, -1);
}

static const op_field_t reverse_sequence_fields[] = {
    OP_FIELD(struct reverse_sequence_param, INT, batch_axis, .number = 1, .maximum = 1),
    OP_FIELD(struct reverse_sequence_param, INT, time_axis, .maximum = 1),
};

// ---- Trilu ----

static int infer_trilu(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* k = get_ir_node_input(node, 1);
    if (input->dim_num < 2)
        return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected at least 2",
                         input->dim_num);
    if (k && (k->elem_num != 1 || k->data_type != TENGINE_DT_INT64))
        return fail_node(node, TENGINE_EINVAL, "k has %lld elements of %s, expected one int64",
                         (long long)k->elem_num, get_data_type_name(k->data_type));
    return set_node_output_like(node, 0, input, -1);
}

static const op_field_t trilu_fields[] = {
    OP_FIELD(struct trilu_param, INT, upper, .number = 1, .maximum = 1),
};

static const ir_method_t* const rows[] = {
    OP_ROW(CenterCropPad, .version = 18, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(center_crop_pad_fields),
           .param_size = sizeof(struct center_crop_pad_param), .traits = OP_TAKES_COMPLEX,
           .infer_shape = infer_center_crop_pad),
    OP_ROW(Slice, .version = 1, .min_input = 3, .max_input = 5, .min_output = 1, .max_output = 1,
           OP_FIELDS(slice_fields), .param_size = sizeof(struct slice_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_slice),
    OP_ROW(Pad, .version = 2, .min_input = 2, .max_input = 4, .min_output = 1, .max_output = 1,
           OP_FIELDS(pad_fields), .param_size = sizeof(struct pad_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_pad),
    OP_ROW(Tile, .version = 6, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_tile),
    OP_ROW(ReverseSequence, .version = 10, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(reverse_sequence_fields),
           .param_size = sizeof(struct reverse_sequence_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_reverse_sequence),
    OP_ROW(Trilu, .version = 14, .min_input = 1, .max_input = 2, .min_output = 1, .max_output = 1,
           OP_FIELDS(trilu_fields), .param_size = sizeof(struct trilu_param),
           .traits = OP_TAKES_COMPLEX, .infer_shape = infer_trilu),
};

OPERATOR_TABLE(slice_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Resize, and Upsample, which is lowered to it. Parameters are in resize_param.h. GridSample, which
// also samples, is in grid_ops.c.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "graph/complex.h"
#include "operator/infer.h"
#include "operator/onnx/resize_param.h"
#include "operator/param.h"
#include "operator/plain_data.h"
#include "operator/registry.h"
#include "operator/row.h"

enum
{
    ROI_INPUT = 1,
    SCALES_INPUT = 2,
    SIZES_INPUT = 3
};

// ---- Resize ----

// Reads the axes that roi, scales and sizes refer to.
static int read_resize_axes(const struct node* node, int out_axes[MAX_SHAPE_DIM_NUM], int* out_num)
{
    const struct resize_param* param = node->op.param_mem;
    const int rank = get_ir_node_input(node, 0)->dim_num;
    *out_num = param->axes.num ? param->axes.num : rank;
    if (*out_num > rank)
        return fail_node(node, TENGINE_EINVAL, "axes has %d values for %d dimensions",
                         param->axes.num, rank);
    unsigned seen = 0;
    for (int i = 0; i < *out_num; ++i) {
        out_axes[i] = i;
        if (param->axes.num)
            TENGINE_RETURN_IF_ERROR(
                normalize_axis(node, param->axes.values[i], rank, &out_axes[i]));
        if (seen >> out_axes[i] & 1u)
            return fail_node(node, TENGINE_EINVAL, "axes names axis %d twice", out_axes[i]);
        seen |= 1u << out_axes[i];
    }
    return TENGINE_OK;
}

static int read_roi(const struct node* node, const int axes[], int axis_num,
                    struct resize_axis out_axes[])
{
    const struct resize_param* param = node->op.param_mem;
    if (strcmp(param->coordinate_transformation_mode, "tf_crop_and_resize") != 0) return TENGINE_OK;
    float roi[OP_MOST_FLOATS];
    int roi_num = 0;
    const int status = read_float_input(node, ROI_INPUT, roi, OP_MOST_FLOATS, &roi_num);
    if (status != TENGINE_OK) return status;
    if (roi_num != 2 * axis_num)
        return fail_node(node, TENGINE_EINVAL,
                         "roi has %d values for %d axes, expected two for each", roi_num, axis_num);
    for (int i = 0; i < roi_num; ++i)
        if (!isfinite(roi[i])) return fail_node(node, TENGINE_ERANGE, "roi[%d] is not finite", i);
    for (int i = 0; i < axis_num; ++i) {
        out_axes[axes[i]].roi_begin = roi[i];
        out_axes[axes[i]].roi_end = roi[axis_num + i];
    }
    return TENGINE_OK;
}

static int apply_scales(const struct node* node, const int axes[], int axis_num,
                        const float scales[], struct resize_axis out_axes[])
{
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int i = 0; i < axis_num; ++i) {
        struct resize_axis* axis = &out_axes[axes[i]];
        const int dim = input->dims[axes[i]];
        if (!(scales[i] > 0) || !isfinite(scales[i]))
            return fail_node(node, TENGINE_ERANGE, "scales[%d] is %g, expected a positive number",
                             i, (double)scales[i]);
        // Computed in float: 0.7f * 10 is meant to be 7; its exact value is slightly less.
        const float size =
            floorf((float)dim * (float)(axis->roi_end - axis->roi_begin) * scales[i]);
        if (!(size >= 0 && size < (float)INT_MAX))
            return fail_node(node, TENGINE_ERANGE, "axis %d of %d elements resized by %g", axes[i],
                             dim, (double)scales[i]);
        axis->scale = scales[i];
        axis->length = (double)dim * (axis->roi_end - axis->roi_begin) * scales[i];
        axis->size = (int64_t)size;
    }
    return TENGINE_OK;
}

// Returns the index in `axes` of the axis whose scale all axes take if the aspect ratio is kept;
// -1: no axis has elements. Scales are compared as products of integers, which are exact.
static int find_common_axis(const struct tensor* input, const int axes[], int axis_num,
                            const int64_t sizes[], bool smallest)
{
    int common = -1;
    for (int i = 0; i < axis_num; ++i) {
        const int64_t dim = input->dims[axes[i]];
        if (dim == 0) continue;
        const int64_t above =
            common < 0 ? 0 : sizes[i] * input->dims[axes[common]] - sizes[common] * dim;
        if (common < 0 || (smallest ? above < 0 : above > 0)) common = i;
    }
    return common;
}

// Returns `number` / `divisor`, with halves rounded up.
static int64_t divide_rounded(int64_t number, int64_t divisor)
{
    return number / divisor + (number % divisor * 2 >= divisor);
}

static int apply_sizes(const struct node* node, const int axes[], int axis_num,
                       const int64_t sizes[], struct resize_axis out_axes[])
{
    const struct resize_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int i = 0; i < axis_num; ++i)
        if (sizes[i] < 0 || sizes[i] > INT_MAX || (input->dims[axes[i]] == 0 && sizes[i] > 0))
            return fail_node(node, TENGINE_ERANGE, "axis %d of %d elements resized to %lld",
                             axes[i], input->dims[axes[i]], (long long)sizes[i]);
    const bool stretch = strcmp(param->keep_aspect_ratio_policy, "stretch") == 0;
    const bool not_larger = strcmp(param->keep_aspect_ratio_policy, "not_larger") == 0;
    const int common = find_common_axis(input, axes, axis_num, sizes, not_larger);
    for (int i = 0; i < axis_num; ++i) {
        const int dim = input->dims[axes[i]];
        if (dim == 0) continue;
        const int scaled = stretch ? i : common;
        const int divisor = input->dims[axes[scaled]];
        struct resize_axis* axis = &out_axes[axes[i]];
        axis->scale = (double)sizes[scaled] / divisor;
        axis->size = divide_rounded(sizes[scaled] * dim, divisor);
        axis->length = (double)axis->size;
        if (axis->size > INT_MAX)
            return fail_node(node, TENGINE_ERANGE, "axis %d would have %lld elements", axes[i],
                             (long long)axis->size);
    }
    return TENGINE_OK;
}

int resolve_resize(const struct node* node, struct resize_axis out_axes[MAX_SHAPE_DIM_NUM])
{
    const struct tensor* input = get_ir_node_input(node, 0);
    for (int i = 0; i < input->dim_num; ++i)
        out_axes[i] = (struct resize_axis){
            .scale = 1, .length = input->dims[i], .size = input->dims[i], .roi_end = 1};
    int axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    TENGINE_RETURN_IF_ERROR(read_resize_axes(node, axes, &axis_num));
    int status = read_roi(node, axes, axis_num, out_axes);
    if (status != TENGINE_OK) return status;

    float scales[MAX_SHAPE_DIM_NUM];
    int64_t sizes[MAX_SHAPE_DIM_NUM];
    int scale_num = 0;
    int size_num = 0;
    status = read_float_input(node, SCALES_INPUT, scales, MAX_SHAPE_DIM_NUM, &scale_num);
    if (status != TENGINE_OK) return status;
    status = read_int_input(node, SIZES_INPUT, sizes, MAX_SHAPE_DIM_NUM, &size_num);
    if (status != TENGINE_OK) return status;
    if ((scale_num == 0) == (size_num == 0) && axis_num > 0)
        return fail_node(node, TENGINE_EINVAL, "exactly one of scales and sizes is required");
    if ((scale_num ? scale_num : size_num) != axis_num)
        return fail_node(node, TENGINE_EINVAL, "there are %d %s for %d axes",
                         scale_num ? scale_num : size_num, scale_num ? "scales" : "sizes",
                         axis_num);
    status = scale_num ? apply_scales(node, axes, axis_num, scales, out_axes)
                       : apply_sizes(node, axes, axis_num, sizes, out_axes);
    TENGINE_RETURN_IF_ERROR(status);
    const struct resize_param* param = node->op.param_mem;
    for (int i = 0; i < input->dim_num; ++i)
        // A filter longer than the axis would take unbounded memory.
        if (param->antialias && out_axes[i].size > 0 && out_axes[i].scale * input->dims[i] < 0.5)
            return fail_node(node, TENGINE_ERANGE,
                             "axis %d of %d elements antialiased with scale %g", i, input->dims[i],
                             out_axes[i].scale);
    for (int i = 0; i < input->dim_num; ++i)
        out_axes[i].identity = out_axes[i].size == input->dims[i] && out_axes[i].scale == 1 &&
                               out_axes[i].roi_begin == 0 && out_axes[i].roi_end == 1;
    return TENGINE_OK;
}

static int infer_resize(struct node* node)
{
    const struct resize_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num == 0)
        return fail_node(node, TENGINE_EINVAL, "the input is a scalar, it has no axis to resize");
    const bool is_picked = input->data_type == TENGINE_DT_BOOL || is_ir_complex(input->data_type);
    if (is_picked && strcmp(param->mode, "nearest") != 0)
        return fail_node(node, TENGINE_EDTYPE, "mode '%s' is not defined for %s", param->mode,
                         get_data_type_name(input->data_type));
    struct resize_axis axes[MAX_SHAPE_DIM_NUM];
    const int status = resolve_resize(node, axes);
    if (status != TENGINE_OK) return status;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = axes[i].size;
    return set_node_output(node, 0, input->data_type, dims, input->dim_num);
}

static const op_field_t resize_fields[] = {
    OP_FIELD(struct resize_param, STRING, mode, .text = "nearest",
             .choices = "nearest|linear|cubic"),
    OP_FIELD(struct resize_param, STRING, coordinate_transformation_mode, .text = "half_pixel",
             .choices = "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|"
                        "asymmetric|tf_half_pixel_for_nn|tf_crop_and_resize"),
    OP_FIELD(struct resize_param, STRING, nearest_mode, .text = "round_prefer_floor",
             .choices = "round_prefer_floor|round_prefer_ceil|floor|ceil"),
    OP_FIELD(struct resize_param, STRING, keep_aspect_ratio_policy, .text = "stretch",
             .choices = "stretch|not_larger|not_smaller", .since = 18),
    OP_FIELD(struct resize_param, FLOAT, cubic_coeff_a, .number = -0.75),
    OP_FIELD(struct resize_param, FLOAT, extrapolation_value, .number = 0),
    OP_FIELD(struct resize_param, INT, exclude_outside, .maximum = 1),
    OP_FIELD(struct resize_param, INT, antialias, .maximum = 1, .since = 18),
    OP_FIELD(struct resize_param, INTS, axes, .since = 18),
};

// ---- Resize of opset 10, Upsample ----

static int lower_to_resize(struct node* node, struct tensor* scales)
{
    TENGINE_RETURN_IF_ERROR(change_node_method(node, "Resize"));
    TENGINE_RETURN_IF_ERROR(
        set_node_text(node, "coordinate_transformation_mode", "asymmetric", strlen("asymmetric")));
    TENGINE_RETURN_IF_ERROR(set_node_text(node, "nearest_mode", "floor", strlen("floor")));
    TENGINE_RETURN_IF_ERROR(set_ir_node_input_tensor(node, ROI_INPUT, NULL));
    return set_ir_node_input_tensor(node, SCALES_INPUT, scales);
}

// Lowers operators with the inputs X and scales.
static int lower_scales_input(struct graph* graph, struct node* node)
{
    (void)graph;
    struct tensor* scales = get_ir_node_input(node, 1);
    if (!scales) return fail_node(node, TENGINE_EINVAL, "input 1, scales, is missing");
    return lower_to_resize(node, scales);
}

static int lower_scales_attribute(struct graph* graph, struct node* node)
{
    const struct op_floats* values = &((const struct upsample_param*)node->op.param_mem)->scales;
    struct tensor* scales = create_ir_tensor(graph, NULL, TENGINE_DT_FP32);
    if (!scales) return tengine_error_code();
    scales->tensor_type = TENSOR_TYPE_CONST;
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(scales, &values->num, 1));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(scales));
    if (values->num > 0) memcpy(scales->data, values->values, sizeof(float) * (size_t)values->num);
    return lower_to_resize(node, scales);
}

static const op_field_t scales_input_fields[] = {
    OP_FIELD(struct upsample_param, STRING, mode, .text = "nearest", .choices = "nearest|linear"),
};

static const op_field_t scales_attribute_fields[] = {
    OP_FIELD(struct upsample_param, STRING, mode, .text = "nearest", .choices = "nearest|linear"),
    OP_FIELD(struct upsample_param, FLOATS, scales, .required = 1),
};

static const ir_method_t* const rows[] = {
    OP_ROW(Resize, .version = 10, .until = 10, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(scales_input_fields),
           .param_size = sizeof(struct upsample_param), .traits = OP_LEGACY,
           .lower = lower_scales_input),
    OP_ROW(Resize, .version = 11, .min_input = 1, .max_input = 4, .min_output = 1, .max_output = 1,
           OP_FIELDS(resize_fields), .param_size = sizeof(struct resize_param),
           .traits = OP_TAKES_COMPLEX, .infer_shape = infer_resize),
    OP_ROW(Upsample, .version = 7, .until = 8, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(scales_attribute_fields),
           .param_size = sizeof(struct upsample_param), .traits = OP_LEGACY,
           .lower = lower_scales_attribute),
    OP_ROW(Upsample, .version = 9, .until = 9, .ended_by = "replaced by Resize", .min_input = 2,
           .max_input = 2, .min_output = 1, .max_output = 1, OP_FIELDS(scales_input_fields),
           .param_size = sizeof(struct upsample_param), .traits = OP_LEGACY,
           .lower = lower_scales_input),
};

OPERATOR_TABLE(resize_ops, rows);

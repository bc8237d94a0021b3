// SPDX-License-Identifier: Apache-2.0
// Pools over regions of interest: MaxRoiPool, RoiAlign. Kernels:
// device/cpu/reference/window/roi.cc.
#include "operator/infer.h"
#include "operator/onnx/roi_param.h"
#include "operator/param.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t roi_pool_fields[] = {
    OP_FIELD(struct roi_pool_param, INTS, pooled_shape, .required = 1, .minimum = 1,
             .maximum = INT32_MAX),
    OP_FIELD(struct roi_pool_param, FLOAT, spatial_scale, .number = 1),
};

static const op_field_t roi_align_fields[] = {
    OP_FIELD(struct roi_align_param, STRING, mode, .text = "avg", .choices = "avg|max"),
    OP_FIELD(struct roi_align_param, STRING, coordinate_transformation_mode, .text = "half_pixel",
             .choices = "half_pixel|output_half_pixel", .since = 16),
    OP_FIELD(struct roi_align_param, INT, output_height, .number = 1, .minimum = 1),
    OP_FIELD(struct roi_align_param, INT, output_width, .number = 1, .minimum = 1),
    // A bin has as many samples as the square of this.
    OP_FIELD(struct roi_align_param, INT, sampling_ratio, .minimum = 0, .maximum = 1024),
    OP_FIELD(struct roi_align_param, FLOAT, spatial_scale, .number = 1),
};

// The input is N x C x H x W, regions are rows of `columns` numbers.
static int infer_regions(struct node* node, int columns, int64_t height, int64_t width)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* regions = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 1));
    if (input->dim_num != 4)
        return fail_node(node, TENGINE_EINVAL, "input has rank %d, expected 4", input->dim_num);
    if (regions->dim_num != 2 || regions->dims[1] != columns)
        return fail_node(node, TENGINE_EINVAL,
                         "regions have rank %d and %lld numbers, expected rows of %d",
                         regions->dim_num, (long long)regions->elem_num, columns);
    const int64_t dims[] = {regions->dims[0], input->dims[1], height, width};
    return set_node_output(node, 0, input->data_type, dims, 4);
}

static int infer_roi_pool(struct node* node)
{
    const struct roi_pool_param* param = node->op.param_mem;
    if (param->pooled_shape.num != 2)
        return fail_node(node, TENGINE_EINVAL, "pooled_shape has %d values, expected 2",
                         param->pooled_shape.num);
    return infer_regions(node, 5, param->pooled_shape.values[0], param->pooled_shape.values[1]);
}

static int infer_roi_align(struct node* node)
{
    const struct roi_align_param* param = node->op.param_mem;
    const struct tensor* batch_indices = get_ir_node_input(node, 2);
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, TYPE_BIT(INT64)));
    TENGINE_RETURN_IF_ERROR(infer_regions(node, 4, param->output_height, param->output_width));
    const int regions = get_ir_node_input(node, 1)->dims[0];
    if (batch_indices->dim_num != 1 || batch_indices->dims[0] != regions)
        return fail_node(node, TENGINE_EINVAL, "%lld batch indices for %d regions",
                         (long long)batch_indices->elem_num, regions);
    return TENGINE_OK;
}

// Before opset 16 coordinates were not shifted by half a pixel, and there was no attribute for it.
static int lower_roi_align(struct graph* graph, struct node* node)
{
    (void)graph;
    const bool unshifted = node->op.version < 16;
    node->op.version = NEWEST_KNOWN_OPSET;
    if (!unshifted) return TENGINE_OK;
    static const char mode[] = "output_half_pixel";
    return set_node_text(node, "coordinate_transformation_mode", mode, sizeof(mode) - 1);
}

static const ir_method_t* const rows[] = {
    OP_ROW(MaxRoiPool, .version = 1, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(roi_pool_fields), .param_size = sizeof(struct roi_pool_param),
           .infer_shape = infer_roi_pool),
    OP_ROW(RoiAlign, .version = 10, .min_input = 3, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(roi_align_fields),
           .param_size = sizeof(struct roi_align_param), .infer_shape = infer_roi_align,
           .lower = lower_roi_align),
};

OPERATOR_TABLE(roi_ops, rows);

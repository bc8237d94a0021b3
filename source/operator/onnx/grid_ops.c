// SPDX-License-Identifier: Apache-2.0
// GridSample: samples a tensor at positions that another tensor gives; AffineGrid: such positions,
// by an affine map. Parameters are in resize_param.h.
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/resize_param.h"
#include "operator/param.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "operator/type_set.h"

static int infer_grid_sample(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    const struct tensor* grid = get_ir_node_input(node, 1);
    const int rank = input->dim_num;
    if (rank < 3 || grid->dim_num != rank || grid->dims[rank - 1] != rank - 2 ||
        grid->dims[0] != input->dims[0])
        return fail_node(node, TENGINE_EINVAL,
                         "X must be [N, C, spatial...] and grid [N, "
                         "spatial..., number of spatial dimensions]");
    const int type = grid->data_type;
    if (type != TENGINE_DT_FP32 && type != TENGINE_DT_FP16 && type != TENGINE_DT_BF16 &&
        type != TENGINE_DT_FP64)
        return fail_node(node, TENGINE_EDTYPE, "grid is %s, expected a float type",
                         get_data_type_name(type));
    int64_t dims[MAX_SHAPE_DIM_NUM] = {input->dims[0], input->dims[1]};
    for (int i = 2; i < rank; ++i) {
        dims[i] = grid->dims[i - 1];
        if (input->dims[i] == 0 && grid->elem_num > 0)
            return fail_node(node, TENGINE_EINVAL, "X has a spatial axis without elements");
    }
    return set_node_output(node, 0, input->data_type, dims, rank);
}

#define GRID_SAMPLE_FIELDS(default_mode, modes)                                                   \
    {                                                                                             \
        OP_FIELD(struct grid_sample_param, STRING, mode, .text = default_mode, .choices = modes), \
            OP_FIELD(struct grid_sample_param, STRING, padding_mode, .text = "zeros",             \
                     .choices = "zeros|border|reflection"),                                       \
            OP_FIELD(struct grid_sample_param, INT, align_corners, .maximum = 1),                 \
    }
static const op_field_t planar_grid_sample_fields[] =
    GRID_SAMPLE_FIELDS("bilinear", "bilinear|nearest|bicubic");
static const op_field_t grid_sample_fields[] = GRID_SAMPLE_FIELDS("linear", "linear|nearest|cubic");

// Up to opset 19 the names of the modes were those for two dimensions.
static int lower_planar_grid_sample(struct graph* graph, struct node* node)
{
    (void)graph;
    const char* mode = get_ir_node_text(node, "mode", "");
    const char* general = strcmp(mode, "bilinear") == 0  ? "linear"
                          : strcmp(mode, "bicubic") == 0 ? "cubic"
                                                         : "nearest";
    TENGINE_RETURN_IF_ERROR(change_node_method(node, "GridSample"));
    return set_node_text(node, "mode", general, strlen(general));
}

// theta has a matrix for each batch; size is the shape of the tensor that the grid is to sample.
static int infer_affine_grid(struct node* node)
{
    const struct tensor* theta = get_ir_node_input(node, 0);
    int64_t size[MAX_SHAPE_DIM_NUM];
    int num = 0;
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPES_FLOAT));
    const int status = read_int_input(node, 1, size, MAX_SHAPE_DIM_NUM, &num);
    if (status != TENGINE_OK) return status;
    if (num != 4 && num != 5)
        return fail_node(node, TENGINE_EINVAL, "size has %d values, expected 4 or 5", num);
    const int axes = num - 2;
    if (theta->dim_num != 3 || theta->dims[0] != size[0] || theta->dims[1] != axes ||
        theta->dims[2] != axes + 1)
        return fail_node(node, TENGINE_EINVAL,
                         "theta '%s' has rank %d and %lld values, expected %lld x %d x %d",
                         theta->name, theta->dim_num, (long long)theta->elem_num,
                         (long long)size[0], axes, axes + 1);
    const int64_t dims[] = {size[0], size[2], size[3], axes == 3 ? size[4] : axes, axes};
    return set_node_output(node, 0, theta->data_type, dims, num);
}

static const op_field_t affine_grid_fields[] = {
    OP_FIELD(struct affine_grid_param, INT, align_corners, .maximum = 1),
};

static const ir_method_t* const rows[] = {
    OP_ROW(AffineGrid, .version = 20, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(affine_grid_fields),
           .param_size = sizeof(struct affine_grid_param), .infer_shape = infer_affine_grid),
    OP_ROW(GridSample, .version = 16, .until = 19, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(planar_grid_sample_fields),
           .param_size = sizeof(struct grid_sample_param), .traits = OP_LEGACY,
           .lower = lower_planar_grid_sample),
    OP_ROW(GridSample, .version = 20, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(grid_sample_fields),
           .param_size = sizeof(struct grid_sample_param), .infer_shape = infer_grid_sample),
};

OPERATOR_TABLE(grid_ops, rows);

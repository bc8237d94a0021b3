// SPDX-License-Identifier: Apache-2.0
// Operators that read or write elements at places given by an input of indices: Gather,
// GatherElements, GatherND, ScatterElements, ScatterND. Parameters are in gather_param.h. Indices
// themselves are checked by the kernels.
#include <string.h>

#include "graph/complex.h"
#include "operator/infer.h"
#include "operator/onnx/gather_param.h"
#include "operator/registry.h"
#include "operator/row.h"

static int require_indices(const struct node* node)
{
    const struct tensor* indices = get_ir_node_input(node, 1);
    if (indices->data_type == TENGINE_DT_INT32 || indices->data_type == TENGINE_DT_INT64)
        return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE, "indices are %s, expected int32 or int64",
                     get_data_type_name(indices->data_type));
}

// ---- Gather ----

static int infer_gather(struct node* node)
{
    const struct gather_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* indices = get_ir_node_input(node, 1);
    int axis;
    TENGINE_RETURN_IF_ERROR(require_indices(node));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, data->dim_num, &axis));
    int64_t dims[2 * MAX_SHAPE_DIM_NUM];
    int rank = 0;
    for (int i = 0; i < axis; ++i)
        dims[rank++] = data->dims[i];
    for (int i = 0; i < indices->dim_num; ++i)
        dims[rank++] = indices->dims[i];
    for (int i = axis + 1; i < data->dim_num; ++i)
        dims[rank++] = data->dims[i];
    return set_node_output(node, 0, data->data_type, dims, rank);
}

// ---- GatherElements, ScatterElements ----

// Checks that indices select within data: equal rank, and not longer except along `axis`.
static int check_element_indices(const struct node* node, int axis_parameter)
{
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* indices = get_ir_node_input(node, 1);
    int axis;
    TENGINE_RETURN_IF_ERROR(require_indices(node));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, axis_parameter, data->dim_num, &axis));
    if (indices->dim_num != data->dim_num)
        return fail_node(node, TENGINE_EINVAL, "indices have %d dimensions, data has %d",
                         indices->dim_num, data->dim_num);
    for (int i = 0; i < data->dim_num; ++i)
        if (i != axis && indices->dims[i] > data->dims[i])
            return fail_node(node, TENGINE_EINVAL, "dimension %d of indices is %d, data has %d", i,
                             indices->dims[i], data->dims[i]);
    return TENGINE_OK;
}

static int infer_gather_elements(struct node* node)
{
    const struct gather_param* param = node->op.param_mem;
    TENGINE_RETURN_IF_ERROR(check_element_indices(node, param->axis));
    return set_node_output_like(node, 0, get_ir_node_input(node, 1),
                                get_ir_node_input(node, 0)->data_type);
}

static int check_updates(const struct node* node, const int64_t dims[], int rank)
{
    const struct scatter_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* updates = get_ir_node_input(node, 2);
    if (updates->data_type != data->data_type)
        return fail_node(node, TENGINE_EDTYPE, "updates are %s, data is %s",
                         get_data_type_name(updates->data_type),
                         get_data_type_name(data->data_type));
    const bool is_moved = data->data_type == TENGINE_DT_BOOL || is_ir_complex(data->data_type);
    if (is_moved && strcmp(param->reduction, "none") != 0)
        return fail_node(node, TENGINE_EDTYPE, "reduction '%s' is not defined for %s",
                         param->reduction, get_data_type_name(data->data_type));
    if (updates->dim_num != rank)
        return fail_node(node, TENGINE_EINVAL, "updates have %d dimensions, expected %d",
                         updates->dim_num, rank);
    for (int i = 0; i < rank; ++i)
        if (updates->dims[i] != dims[i])
            return fail_node(node, TENGINE_EINVAL, "dimension %d of updates is %d, expected %lld",
                             i, updates->dims[i], (long long)dims[i]);
    return TENGINE_OK;
}

static int infer_scatter_elements(struct node* node)
{
    const struct scatter_param* param = node->op.param_mem;
    const struct tensor* indices = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(check_element_indices(node, param->axis));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < indices->dim_num; ++i)
        dims[i] = indices->dims[i];
    TENGINE_RETURN_IF_ERROR(check_updates(node, dims, indices->dim_num));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
}

static const op_field_t gather_fields[] = {
    OP_FIELD(struct gather_param, INT, axis, .number = 0),
};

static const op_field_t scatter_elements_fields[] = {
    OP_FIELD(struct scatter_param, INT, axis, .number = 0),
    OP_FIELD(struct scatter_param, STRING, reduction, .text = "none",
             .choices = "none|add|mul|min|max", .since = 16),
};

// ---- GatherND, ScatterND ----

// Joins the shape of indices without its last dimension (the length of an index tuple) and the
// dimensions of data from `skip` + that length on. -1 and an error: the tuple is too long.
static int join_tuple_shape(const struct node* node, int skip, int64_t dims[2 * MAX_SHAPE_DIM_NUM])
{
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* indices = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_indices(node));
    if (indices->dim_num < 1 || data->dim_num < 1)
        return fail_node(node, TENGINE_EINVAL,
                         "data or indices are a scalar, expected at least one dimension");
    const int length = indices->dims[indices->dim_num - 1];
    if (length < 1 || length > data->dim_num - skip)
        return fail_node(node, TENGINE_EINVAL, "index tuples have %d values, expected 1 to %d",
                         length, data->dim_num - skip);
    int rank = 0;
    for (int i = 0; i < indices->dim_num - 1; ++i)
        dims[rank++] = indices->dims[i];
    for (int i = skip + length; i < data->dim_num; ++i)
        dims[rank++] = data->dims[i];
    return rank;
}

static int infer_gather_nd(struct node* node)
{
    const struct tensor* data = get_ir_node_input(node, 0);
    const struct tensor* indices = get_ir_node_input(node, 1);
    const int batch_dims = ((const struct gather_nd_param*)node->op.param_mem)->batch_dims;
    if (batch_dims >= data->dim_num || batch_dims >= indices->dim_num)
        return fail_node(node, TENGINE_EINVAL,
                         "batch_dims is %d; data has %d dimensions, indices have %d", batch_dims,
                         data->dim_num, indices->dim_num);
    for (int i = 0; i < batch_dims; ++i)
        if (data->dims[i] != indices->dims[i])
            return fail_node(node, TENGINE_EINVAL,
                             "batch dimension %d is %d in data, %d in indices", i, data->dims[i],
                             indices->dims[i]);
    int64_t dims[2 * MAX_SHAPE_DIM_NUM];
    const int rank = join_tuple_shape(node, batch_dims, dims);
    TENGINE_RETURN_IF_ERROR(rank);
    return set_node_output(node, 0, data->data_type, dims, rank);
}

static int infer_scatter_nd(struct node* node)
{
    int64_t dims[2 * MAX_SHAPE_DIM_NUM];
    const int rank = join_tuple_shape(node, 0, dims);
    TENGINE_RETURN_IF_ERROR(rank);
    TENGINE_RETURN_IF_ERROR(check_updates(node, dims, rank));
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
}

static const op_field_t gather_nd_fields[] = {
    OP_FIELD(struct gather_nd_param, INT, batch_dims, .maximum = MAX_SHAPE_DIM_NUM, .since = 12),
};

static const op_field_t scatter_nd_fields[] = {
    OP_FIELD(struct scatter_param, STRING, reduction, .text = "none",
             .choices = "none|add|mul|min|max", .since = 16),
};

// ---- Scatter, the old name of ScatterElements ----

static int lower_scatter(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(node, "ScatterElements");
}

static const ir_method_t* const rows[] = {
    OP_ROW(Gather, .version = 1, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1,
           OP_FIELDS(gather_fields), .param_size = sizeof(struct gather_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_gather),
    OP_ROW(GatherElements, .version = 11, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(gather_fields), .param_size = sizeof(struct gather_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_gather_elements),
    OP_ROW(GatherND, .version = 11, .min_input = 2, .max_input = 2, .min_output = 1,
           .max_output = 1, OP_FIELDS(gather_nd_fields),
           .param_size = sizeof(struct gather_nd_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_gather_nd),
    OP_ROW(Scatter, .version = 9, .until = 10, .ended_by = "replaced by ScatterElements",
           .min_input = 3, .max_input = 3, .min_output = 1, .max_output = 1,
           OP_FIELDS(gather_fields), .param_size = sizeof(struct gather_param), .traits = OP_LEGACY,
           .lower = lower_scatter),
    OP_ROW(ScatterElements, .version = 11, .min_input = 3, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(scatter_elements_fields),
           .param_size = sizeof(struct scatter_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_scatter_elements),
    OP_ROW(ScatterND, .version = 11, .min_input = 3, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(scatter_nd_fields),
           .param_size = sizeof(struct scatter_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_scatter_nd),
};

OPERATOR_TABLE(gather_ops, rows);

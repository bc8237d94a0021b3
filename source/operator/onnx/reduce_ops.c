// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, the position of extremes, and normalisation by mean and variance.
#include "operator/infer.h"
#include "operator/onnx/reduce_param.h"
#include "operator/row.h"

static int infer_reduce(struct node* node)
{
    const struct reduce_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    const int status = read_int_input(node, 1, axes, MAX_SHAPE_DIM_NUM, &axis_num);
    if (status != TENGINE_OK) return status;
    const bool everything = axis_num == 0 && !param->noop_with_empty_axes;
    bool reduced[MAX_SHAPE_DIM_NUM] = {false};
    for (int i = 0; i < axis_num; ++i) {
        int axis;
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, axes[i], input->dim_num, &axis));
        reduced[axis] = true;
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num = 0;
    for (int i = 0; i < input->dim_num; ++i) {
        if (!everything && !reduced[i]) {
            dims[dim_num++] = input->dims[i];
        } else if (param->keepdims) {
            dims[dim_num++] = 1;
        }
    }
    return set_node_output(node, 0, input->data_type, dims, dim_num);
}

static int infer_arg(struct node* node)
{
    const struct arg_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    if (input->dims[axis] == 0) {
        return fail_node(node, TENGINE_EINVAL, "axis %d has no elements", axis);
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    int dim_num = 0;
    for (int i = 0; i < input->dim_num; ++i) {
        if (i != axis) dims[dim_num++] = input->dims[i];
        if (i == axis && param->keepdims) dims[dim_num++] = 1;
    }
    return set_node_output(node, 0, TENGINE_DT_INT64, dims, dim_num);
}

static int infer_mvn(struct node* node)
{
    const struct mvn_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    if (param->axes.num == 0 && input->dim_num < 4) {
        return fail_node(node, TENGINE_EINVAL,
                         "input has %d dimensions, expected 4 for the default axes 0, 2, 3",
                         input->dim_num);
    }
    for (int i = 0; i < param->axes.num; ++i) {
        int axis;
        TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axes.values[i], input->dim_num, &axis));
    }
    return set_node_output_like(node, 0, input, -1);
}

#define REDUCE_FIELDS(last_with_axes, first_with_noop)                               \
    {                                                                                \
        OP_FIELD(struct reduce_param, INTS, axes, .until = last_with_axes,           \
                 .moved_as = OP_MOVED_INT64, .moved_input = 1),                      \
            OP_FIELD(struct reduce_param, INT, keepdims, .number = 1, .maximum = 1), \
            OP_FIELD(struct reduce_param, INT, noop_with_empty_axes, .maximum = 1,   \
                     .since = first_with_noop),                                      \
    }
static const op_field_t reduce_sum_fields[] = REDUCE_FIELDS(12, 13);
static const op_field_t reduce_fields[] = REDUCE_FIELDS(17, 18);

static const op_field_t arg_fields[] = {
    OP_FIELD(struct arg_param, INT, axis, .number = 0),
    OP_FIELD(struct arg_param, INT, keepdims, .number = 1, .maximum = 1),
    OP_FIELD(struct arg_param, INT, select_last_index, .maximum = 1, .since = 12),
};
static const op_field_t mvn_fields[] = {
    OP_FIELD(struct mvn_param, INTS, axes, .required = 0),
};

#define REDUCE(fields)                                                              \
    .version = 1, .min_input = 1, .max_input = 2, .min_output = 1, .max_output = 1, \
    OP_FIELDS(fields), .param_size = sizeof(struct reduce_param), .infer_shape = infer_reduce
#define ARG                                                                                  \
    .version = 1, .min_input = 1, .max_input = 1, .min_output = 1, .max_output = 1,          \
    OP_FIELDS(arg_fields), .param_size = sizeof(struct arg_param), .infer_shape = infer_arg, \
    .types = "int64"

static const ir_method_t* const rows[] = {
    OP_ROW(ArgMax, ARG),
    OP_ROW(ArgMin, ARG),
    OP_ROW(MeanVarianceNormalization, .version = 9, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(mvn_fields), .param_size = sizeof(struct mvn_param),
           .infer_shape = infer_mvn),
    OP_ROW(ReduceL1, REDUCE(reduce_fields)),
    OP_ROW(ReduceL2, REDUCE(reduce_fields)),
    OP_ROW(ReduceLogSum, REDUCE(reduce_fields)),
    OP_ROW(ReduceLogSumExp, REDUCE(reduce_fields)),
    OP_ROW(ReduceMax, REDUCE(reduce_fields)),
    OP_ROW(ReduceMean, REDUCE(reduce_fields)),
    OP_ROW(ReduceMin, REDUCE(reduce_fields)),
    OP_ROW(ReduceProd, REDUCE(reduce_fields)),
    OP_ROW(ReduceSum, REDUCE(reduce_sum_fields)),
    OP_ROW(ReduceSumSquare, REDUCE(reduce_fields)),
};

OPERATOR_TABLE(reduce_ops, rows);

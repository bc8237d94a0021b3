// SPDX-License-Identifier: Apache-2.0
// Operators that depend on the order of elements along an axis: TopK, CumSum and CumProd.
#include "operator/infer.h"
#include "operator/onnx/order_param.h"
#include "operator/row.h"

static int infer_top_k(struct node* node)
{
    const struct top_k_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, input->dim_num, &axis));
    int64_t k;
    int num;
    const int status = read_int_input(node, 1, &k, 1, &num);
    if (status != TENGINE_OK) return status;
    if (num != 1) return fail_node(node, TENGINE_EINVAL, "K has no element, expected one");
    if (k < 0 || k > input->dims[axis]) {
        return fail_node(node, TENGINE_ERANGE, "K is %lld, axis %d has %d elements", (long long)k,
                         axis, input->dims[axis]);
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i == axis ? k : input->dims[i];
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 0, input->data_type, dims, input->dim_num));
    return set_node_output(node, 1, TENGINE_DT_INT64, dims, input->dim_num);
}

static int infer_cumulation(struct node* node)
{
    const struct tensor* axis = get_ir_node_input(node, 1);
    if (axis->elem_num != 1) {
        return fail_node(node, TENGINE_EINVAL, "axis has %lld elements, expected a scalar",
                         (long long)axis->elem_num);
    }
    return set_node_output_like(node, 0, get_ir_node_input(node, 0), -1);
}

static const op_field_t top_k_fields[] = {
    OP_FIELD(struct top_k_param, INT, axis, .number = -1),
    OP_FIELD(struct top_k_param, INT, k, .required = 1, .until = 9, .moved_as = OP_MOVED_INT64,
             .moved_input = 1),
    OP_FIELD(struct top_k_param, INT, largest, .number = 1, .maximum = 1, .since = 11),
    OP_FIELD(struct top_k_param, INT, sorted, .number = 1, .maximum = 1, .since = 11),
};
static const op_field_t cumulation_fields[] = {
    OP_FIELD(struct cumulation_param, INT, exclusive, .maximum = 1),
    OP_FIELD(struct cumulation_param, INT, reverse, .maximum = 1),
};

#define CUMULATION(first_opset)                                                               \
    .version = first_opset, .min_input = 2, .max_input = 2, .min_output = 1, .max_output = 1, \
    OP_FIELDS(cumulation_fields), .param_size = sizeof(struct cumulation_param),              \
    .infer_shape = infer_cumulation

static const ir_method_t* const rows[] = {
    OP_ROW(CumProd, CUMULATION(26)),
    OP_ROW(CumSum, CUMULATION(11)),
    OP_ROW(TopK, .version = 1, .min_input = 2, .max_input = 2, .min_output = 2, .max_output = 2,
           OP_FIELDS(top_k_fields), .param_size = sizeof(struct top_k_param),
           .infer_shape = infer_top_k, .types = "0 int64"),
};

OPERATOR_TABLE(order_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// GatherBlockQuantized of ONNX Runtime, for the embeddings of language models: gathers rows of a
// table of 4 or 8 bits, with a scale for each block of a row, as floats. Kernel:
// device/cpu/reference/movement/block_gather.cc.
#include <stdbool.h>

#include "operator/infer.h"
#include "operator/onnx/block_gather_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

enum block_gather_input
{
    BLOCK_GATHER_DATA,
    BLOCK_GATHER_INDICES,
    BLOCK_GATHER_SCALES,
    BLOCK_GATHER_ZERO_POINTS
};

#define FIELD(member, ...) OP_FIELD(struct block_gather_param, INT, member, __VA_ARGS__)

static const op_field_t block_gather_fields[] = {
    FIELD(bits, .number = 4),
    FIELD(block_size, .number = 128, .minimum = 16, .maximum = INT32_MAX),
    FIELD(gather_axis, .number = 0),
    FIELD(quantize_axis, .number = 1),
};

void resolve_block_gather(const struct node* node, struct block_gather_form* out_form)
{
    const struct block_gather_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, BLOCK_GATHER_DATA);
    const int last = data->dim_num - 1;
    out_form->row_bytes = data->dims[last];
    out_form->elements = out_form->row_bytes * 8 / param->bits;
    out_form->blocks = (out_form->elements + param->block_size - 1) / param->block_size;
    out_form->zero_point_bytes = (out_form->blocks * param->bits + 7) / 8;
    out_form->slices = data->dims[0];
    out_form->rows = multiply_dims(data, 1, last);
}

static int check_param(const struct node* node)
{
    const struct block_gather_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, BLOCK_GATHER_DATA);
    int axis, gather_axis;
    if (param->bits != 4 && param->bits != 8)
        return fail_node(node, TENGINE_ENOTSUP, "bits is %d, expected 4 or 8", param->bits);
    if ((param->block_size & (param->block_size - 1)) != 0)
        return fail_node(node, TENGINE_EINVAL, "block_size is %d, expected a power of two",
                         param->block_size);
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->quantize_axis, data->dim_num, &axis));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->gather_axis, data->dim_num, &gather_axis));
    if (data->dim_num >= 2 && gather_axis == 0 && axis == data->dim_num - 1) return TENGINE_OK;
    return fail_node(node, TENGINE_ENOTSUP,
                     "gather_axis %d and quantize_axis %d of data of rank %d are not supported: "
                     "expected the first and the last, of two or more",
                     param->gather_axis, param->quantize_axis, data->dim_num);
}

// Checks that the input has the axes of the data, except for the last, which has `last` elements.
static int check_rows(const struct node* node, int index, int64_t last)
{
    const struct tensor* data = get_ir_node_input(node, BLOCK_GATHER_DATA);
    const struct tensor* tensor = get_ir_node_input(node, index);
    bool fits = !tensor || tensor->dim_num == data->dim_num;
    for (int i = 0; tensor && fits && i < data->dim_num; ++i)
        fits = tensor->dims[i] == (i == data->dim_num - 1 ? last : data->dims[i]);
    if (fits) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "input %d '%s' has rank %d and %lld values, expected the axes of the data, "
                     "and %lld in place of the last",
                     index, tensor->name, tensor->dim_num, (long long)tensor->elem_num,
                     (long long)last);
}

static int infer_block_gather(struct node* node)
{
    const struct tensor* data = get_ir_node_input(node, BLOCK_GATHER_DATA);
    const struct tensor* indices = get_ir_node_input(node, BLOCK_GATHER_INDICES);
    struct block_gather_form form;
    TENGINE_RETURN_IF_ERROR(require_type(node, BLOCK_GATHER_DATA, TYPE_BIT(UINT8)));
    TENGINE_RETURN_IF_ERROR(
        require_type(node, BLOCK_GATHER_INDICES, TYPE_BIT(INT32) | TYPE_BIT(INT64)));
    TENGINE_RETURN_IF_ERROR(require_type(node, BLOCK_GATHER_SCALES, TYPES_FLOAT & ~TYPE_BIT(FP64)));
    TENGINE_RETURN_IF_ERROR(require_type(node, BLOCK_GATHER_ZERO_POINTS, TYPE_BIT(UINT8)));
    TENGINE_RETURN_IF_ERROR(check_param(node));
    resolve_block_gather(node, &form);
    TENGINE_RETURN_IF_ERROR(check_rows(node, BLOCK_GATHER_SCALES, form.blocks));
    TENGINE_RETURN_IF_ERROR(check_rows(node, BLOCK_GATHER_ZERO_POINTS, form.zero_point_bytes));
    const int rank = indices->dim_num + data->dim_num - 1;
    int64_t dims[2 * MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < rank; ++i)
        dims[i] = i < indices->dim_num ? indices->dims[i] : data->dims[1 + i - indices->dim_num];
    dims[rank - 1] = form.elements;
    return set_node_output(node, 0, get_ir_node_input(node, BLOCK_GATHER_SCALES)->data_type, dims,
                           rank);
}

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(GatherBlockQuantized, .version = 1, .until = 1, .min_input = 3, .max_input = 4,
                  .min_output = 1, .max_output = 1, OP_FIELDS(block_gather_fields),
                  .param_size = sizeof(struct block_gather_param),
                  .infer_shape = infer_block_gather, .types = "2"),
};

OPERATOR_TABLE(block_gather_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Concat and its inverse, Split. Parameters are in join_param.h.
#include "base/alloc.h"
#include "operator/infer.h"
#include "operator/onnx/join_param.h"
#include "operator/row.h"

// ---- Concat ----

// Checks that the dimensions of `input` equal those of input 0 except along `axis`.
static int check_concat_input(const struct node* node, int index, const struct tensor* input,
                              int axis)
{
    const struct tensor* first = get_ir_node_input(node, 0);
    if (!input) return fail_node(node, TENGINE_EINVAL, "input %d is missing", index);
    if (input->dim_num != first->dim_num)
        return fail_node(node, TENGINE_EINVAL, "input %d has %d dimensions, input 0 has %d", index,
                         input->dim_num, first->dim_num);
    for (int i = 0; i < first->dim_num; ++i)
        if (i != axis && input->dims[i] != first->dims[i])
            return fail_node(node, TENGINE_EINVAL,
                             "dimension %d of input %d is %d, expected %d as in input 0", i, index,
                             input->dims[i], first->dims[i]);
    return TENGINE_OK;
}

static int infer_concat(struct node* node)
{
    const struct concat_param* param = node->op.param_mem;
    const struct tensor* first = get_ir_node_input(node, 0);
    int axis;
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, first->dim_num, &axis));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, node->input_num - 1));
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < first->dim_num; ++i)
        dims[i] = first->dims[i];
    dims[axis] = 0;
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        TENGINE_RETURN_IF_ERROR(check_concat_input(node, i, input, axis));
        dims[axis] += input->dims[axis];
    }
    return set_node_output(node, 0, first->data_type, dims, first->dim_num);
}

static const op_field_t concat_fields[] = {
    OP_FIELD(struct concat_param, INT, axis, .required = 1),
};

// ---- Split ----

static int set_split_output(struct node* node, int index, int axis, int64_t size)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i == axis ? size : input->dims[i];
    return set_node_output(node, index, input->data_type, dims, input->dim_num);
}

static int split_as_listed(struct node* node, int axis, const int64_t sizes[])
{
    const int length = get_ir_node_input(node, 0)->dims[axis];
    int64_t sum = 0;
    for (int i = 0; i < node->output_num; ++i) {
        if (sizes[i] < 0 || sizes[i] > length)
            return fail_node(node, TENGINE_EINVAL, "split[%d] is %lld, axis %d has %d elements", i,
                             (long long)sizes[i], axis, length);
        sum += sizes[i];
        TENGINE_RETURN_IF_ERROR(set_split_output(node, i, axis, sizes[i]));
    }
    if (sum != length)
        return fail_node(node, TENGINE_EINVAL, "the sizes sum to %lld, axis %d has %d elements",
                         (long long)sum, axis, length);
    return TENGINE_OK;
}

static int split_by_input(struct node* node, int axis)
{
    const struct tensor* list = get_ir_node_input(node, 1);
    if (is_ir_tensor_shape_known(list) && list->elem_num != node->output_num)
        return fail_node(node, TENGINE_EINVAL, "split has %lld sizes for %d outputs",
                         (long long)list->elem_num, node->output_num);
    int64_t* sizes = alloc_memory(sizeof *sizes * (size_t)node->output_num);
    if (!sizes) return fail_node(node, TENGINE_ENOMEM, "out of memory for its sizes");
    int size_num = 0;
    int status = read_int_input(node, 1, sizes, node->output_num, &size_num);
    if (status == TENGINE_OK) status = split_as_listed(node, axis, sizes);
    free_memory(sizes);
    return status;
}

// Splits into equal parts; with num_outputs the last ones may be smaller.
static int split_equally(struct node* node, int axis)
{
    const struct split_param* param = node->op.param_mem;
    const int length = get_ir_node_input(node, 0)->dims[axis];
    const int parts = node->output_num;
    if (param->num_outputs > 0 && param->num_outputs != parts)
        return fail_node(node, TENGINE_EINVAL, "num_outputs is %d, there are %d outputs",
                         param->num_outputs, parts);
    if (param->num_outputs == 0 && length % parts != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d elements of axis %d do not divide into %d equal parts; set split",
                         length, axis, parts);
    const int64_t size = ((int64_t)length + parts - 1) / parts;
    int64_t left = length;
    for (int i = 0; i < parts; ++i) {
        const int64_t part = left < size ? left : size;
        TENGINE_RETURN_IF_ERROR(set_split_output(node, i, axis, part));
        left -= part;
    }
    return TENGINE_OK;
}

static int infer_split(struct node* node)
{
    const struct split_param* param = node->op.param_mem;
    int axis;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, param->axis, get_ir_node_input(node, 0)->dim_num, &axis));
    return get_ir_node_input(node, 1) ? split_by_input(node, axis) : split_equally(node, axis);
}

static const op_field_t split_fields[] = {
    OP_FIELD(struct split_param, INT, axis, .number = 0),
    OP_FIELD(struct split_param, INTS, split, .until = 12, .moved_as = OP_MOVED_INT64,
             .moved_input = 1),
    OP_FIELD(struct split_param, INT, num_outputs, .since = 18),
};

static const ir_method_t* const rows[] = {
    OP_ROW(Concat, .version = 4, .min_input = 1, .max_input = -1, .min_output = 1, .max_output = 1,
           OP_FIELDS(concat_fields), .param_size = sizeof(struct concat_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_concat),
    OP_ROW(Split, .version = 2, .min_input = 1, .max_input = 2, .min_output = 1, .max_output = -1,
           OP_FIELDS(split_fields), .param_size = sizeof(struct split_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_split),
};

OPERATOR_TABLE(join_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// Operators that reorder all elements: Transpose, DepthToSpace, SpaceToDepth. Parameters are in
// transpose_param.h.
#include "operator/infer.h"
#include "operator/onnx/transpose_param.h"
#include "operator/row.h"

// ---- Transpose ----

static int infer_transpose(struct node* node)
{
    const struct transpose_param* param = node->op.param_mem;
    const struct tensor* data = get_ir_node_input(node, 0);
    const int rank = data->dim_num;
    if (param->perm.num != 0 && param->perm.num != rank)
        return fail_node(node, TENGINE_EINVAL, "perm has %d values for %d dimensions",
                         param->perm.num, rank);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    unsigned seen = 0;
    for (int i = 0; i < rank; ++i) {
        const int64_t from = param->perm.num ? param->perm.values[i] : rank - 1 - i;
        if (from < 0 || from >= rank || (seen >> from & 1u))
            return fail_node(node, TENGINE_EINVAL,
                             "perm[%d] is %lld, expected a permutation of 0..%d", i,
                             (long long)from, rank - 1);
        seen |= 1u << from;
        dims[i] = data->dims[from];
    }
    return set_node_output(node, 0, data->data_type, dims, rank);
}

static const op_field_t transpose_fields[] = {
    OP_FIELD(struct transpose_param, INTS, perm, .required = 0),
};

// ---- DepthToSpace, SpaceToDepth ----

static int require_images(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input->dim_num == 4) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "the input has %d dimensions, expected 4 (NCHW)",
                     input->dim_num);
}

static int infer_depth_to_space(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_images(node));
    const struct tensor* input = get_ir_node_input(node, 0);
    const int64_t block = ((const struct block_param*)node->op.param_mem)->blocksize;
    if (input->dims[1] % (block * block) != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d channels do not divide into blocks of %lld x %lld", input->dims[1],
                         (long long)block, (long long)block);
    const int64_t dims[] = {input->dims[0], input->dims[1] / (block * block),
                            input->dims[2] * block, input->dims[3] * block};
    return set_node_output(node, 0, input->data_type, dims, 4);
}

static int infer_space_to_depth(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(require_images(node));
    const struct tensor* input = get_ir_node_input(node, 0);
    const int64_t block = ((const struct block_param*)node->op.param_mem)->blocksize;
    if (input->dims[2] % block != 0 || input->dims[3] % block != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "an image of %d x %d does not divide into blocks of %lld x %lld",
                         input->dims[2], input->dims[3], (long long)block, (long long)block);
    int64_t channels;
    if (__builtin_mul_overflow(input->dims[1], block * block, &channels))
        return fail_node(node, TENGINE_ERANGE, "blocksize is %lld, expected 1 or more",
                         (long long)block);
    const int64_t dims[] = {input->dims[0], channels, input->dims[2] / block,
                            input->dims[3] / block};
    return set_node_output(node, 0, input->data_type, dims, 4);
}

static const op_field_t block_fields[] = {
    OP_FIELD(struct block_param, INT, blocksize, .required = 1, .minimum = 1, .maximum = 1 << 15),
    OP_FIELD(struct block_param, STRING, mode, .text = "DCR", .choices = "DCR|CRD", .since = 11),
};

static const ir_method_t* const rows[] = {
    OP_ROW(Transpose, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(transpose_fields),
           .param_size = sizeof(struct transpose_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_transpose),
    OP_ROW(DepthToSpace, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, OP_FIELDS(block_fields), .param_size = sizeof(struct block_param),
           .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX, .infer_shape = infer_depth_to_space),
    OP_ROW(SpaceToDepth, .version = 1, .min_input = 1, .max_input = 1, .min_output = 1,
           .max_output = 1, .fields = block_fields, .field_num = 1,  // without a mode
           .param_size = sizeof(struct block_param), .traits = OP_TAKES_STRINGS | OP_TAKES_COMPLEX,
           .infer_shape = infer_space_to_depth),
};

OPERATOR_TABLE(transpose_ops, rows);

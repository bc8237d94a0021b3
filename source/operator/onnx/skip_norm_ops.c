// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization and SkipSimplifiedLayerNormalization of ONNX Runtime, used between layers
// of language models: the sum of two tensors, normalised along its last axis. The sum itself is the
// fourth output. The mean that the simplified one subtracts, and has as its second output, is 0.
// Kernels: device/cpu/reference/norm/skip_norm.cc.
#include <stdbool.h>

#include "operator/infer.h"
#include "operator/onnx/skip_norm_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t skip_norm_fields[] = {
    OP_FIELD(struct skip_norm_param, FLOAT, epsilon, .number = 1e-12f),
};

// Whether `skip` has the last dimensions of `input`, and 1 for those before them.
static bool repeats(const struct tensor* skip, const struct tensor* input)
{
    if (skip->dim_num > input->dim_num) return false;
    bool is_equal = true;
    for (int i = 1; i <= skip->dim_num; ++i) {
        const int dim = skip->dims[skip->dim_num - i];
        is_equal = is_equal && dim == input->dims[input->dim_num - i];
        if (!is_equal && dim != 1) return false;
    }
    return skip->dim_num > 0 && skip->dims[skip->dim_num - 1] == input->dims[input->dim_num - 1];
}

static int check_skip(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, SKIP_NORM_INPUT);
    const struct tensor* skip = get_ir_node_input(node, SKIP_NORM_SKIP);
    if (repeats(skip, input)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "skip '%s' has rank %d and %lld values, the input has rank %d and %lld: "
                     "expected the same shape, or that without its first dimensions",
                     skip->name, skip->dim_num, (long long)skip->elem_num, input->dim_num,
                     (long long)input->elem_num);
}

// Checks that gamma, beta or bias has a value for each element of a row.
static int check_list(const struct node* node, int index)
{
    const struct tensor* list = get_ir_node_input(node, index);
    const struct tensor* input = get_ir_node_input(node, SKIP_NORM_INPUT);
    const int size = input->dims[input->dim_num - 1];
    if (!list || (list->dim_num == 1 && list->dims[0] == size)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "input %d '%s' has rank %d and %lld values, expected a list of %d", index,
                     list->name, list->dim_num, (long long)list->elem_num, size);
}

static int set_statistics(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, SKIP_NORM_INPUT);
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = input->dims[i];
    dims[input->dim_num - 1] = 1;
    for (int index = SKIP_NORM_MEAN; index <= SKIP_NORM_INVERSE; ++index)
        TENGINE_RETURN_IF_ERROR(
            set_node_output(node, index, TENGINE_DT_FP32, dims, input->dim_num));
    return TENGINE_OK;
}

static int infer_skip_norm(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, SKIP_NORM_INPUT);
    TENGINE_RETURN_IF_ERROR(require_type(node, SKIP_NORM_INPUT, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, SKIP_NORM_INPUT, node->input_num - 1));
    if (input->dim_num < 1)
        return fail_node(node, TENGINE_EINVAL, "input '%s' is a scalar, expected at least a row",
                         input->name);
    TENGINE_RETURN_IF_ERROR(check_skip(node));
    for (int index = SKIP_NORM_GAMMA; index < node->input_num; ++index)
        TENGINE_RETURN_IF_ERROR(check_list(node, index));
    TENGINE_RETURN_IF_ERROR(set_statistics(node));
    TENGINE_RETURN_IF_ERROR(set_node_output_like(node, SKIP_NORM_SUM, input, -1));
    return set_node_output_like(node, SKIP_NORM_RESULT, input, -1);
}

#define SKIP_NORM(most_inputs)                                                                  \
    .version = 1, .until = 1, .min_input = 3, .max_input = most_inputs, .min_output = 1,        \
    .max_output = 4, OP_FIELDS(skip_norm_fields), .param_size = sizeof(struct skip_norm_param), \
    .infer_shape = infer_skip_norm, .types = "0 fp32 fp32 0"

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(SkipLayerNormalization, SKIP_NORM(5)),
    MICROSOFT_ROW(SkipSimplifiedLayerNormalization, SKIP_NORM(4)),
};

OPERATOR_TABLE(skip_norm_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// tengine.SoftNonMaxSuppression: boxes whose scores fall with their overlap with better ones, as
// TensorFlow Lite's NON_MAX_SUPPRESSION_V5 (N. Bodla et al., Soft-NMS, arXiv:1704.04503). Inputs:
// boxes [n, 4] of two opposite corners, scores [n], and scalars: the number of results, the overlap
// from which a box is dropped, the score that it must exceed, sigma. Outputs: the boxes' numbers
// and new scores, 0 behind those that were chosen, and their number. Kernel:
// device/cpu/reference/detection/soft_suppression.cc.
#include <limits.h>

#include "operator/infer.h"
#include "operator/row.h"
#include "operator/type_set.h"

static int check_suppression(const struct node* node)
{
    const struct tensor *boxes = get_ir_node_input(node, 0), *scores = get_ir_node_input(node, 1);
    TENGINE_RETURN_IF_ERROR(require_type(node, 0, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 1, TYPE_BIT(FP32)));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, TYPE_BIT(INT32) | TYPE_BIT(INT64)));
    if (boxes->dim_num != 2 || boxes->dims[1] != 4 || scores->dim_num != 1 ||
        scores->dims[0] != boxes->dims[0])
        return fail_node(node, TENGINE_EINVAL,
                         "its boxes have rank %d and %lld numbers, its scores rank %d and %lld, "
                         "expected [boxes, 4] and [boxes]",
                         boxes->dim_num, (long long)boxes->elem_num, scores->dim_num,
                         (long long)scores->elem_num);
    for (int i = 2; i < 6; ++i) {
        if (i > 2) TENGINE_RETURN_IF_ERROR(require_type(node, i, TYPE_BIT(FP32)));
        if (get_ir_node_input(node, i)->elem_num != 1)
            return fail_node(node, TENGINE_EINVAL, "input %d has %lld elements, expected a scalar",
                             i, (long long)get_ir_node_input(node, i)->elem_num);
    }
    return TENGINE_OK;
}

static int infer_suppression(struct node* node)
{
    TENGINE_RETURN_IF_ERROR(check_suppression(node));
    int64_t size = 0;
    int number = 0;
    const int status = read_int_input(node, 2, &size, 1, &number);
    if (status != TENGINE_OK) return status;
    if (size < 0 || size > INT_MAX)
        return fail_node(node, TENGINE_ERANGE,
                         "the number of its results is %lld, expected 0 to %d", (long long)size,
                         INT_MAX);
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 0, TENGINE_DT_INT32, &size, 1));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 1, TENGINE_DT_FP32, &size, 1));
    return set_node_output(node, 2, TENGINE_DT_INT32, NULL, 0);
}

static const ir_method_t* const rows[] = {
    OWN_ROW(SoftNonMaxSuppression, .version = 1, .until = 1, .min_input = 6, .max_input = 6,
            .min_output = 1, .max_output = 3, .infer_shape = infer_suppression,
            .types = "int32 fp32 int32"),
};

OPERATOR_TABLE(soft_suppression_ops, rows);

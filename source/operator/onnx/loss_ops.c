// SPDX-License-Identifier: Apache-2.0
// Loss functions: a score per class and a target class for every position.
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/loss_param.h"
#include "operator/row.h"

// Scores are [N, C, d1, ...], targets [N, d1, ...], the optional weights [C].
static int check_loss_shapes(const struct node* node)
{
    const struct tensor* scores = get_ir_node_input(node, 0);
    const struct tensor* target = get_ir_node_input(node, 1);
    const struct tensor* weight = get_ir_node_input(node, 2);
    if (scores->dim_num < 2 || target->dim_num != scores->dim_num - 1) {
        return fail_node(node, TENGINE_EINVAL,
                         "scores have %d dimensions, expected at least 2; targets have %d, "
                         "expected one less than the scores",
                         scores->dim_num, target->dim_num);
    }
    for (int i = 0; i < target->dim_num; ++i) {
        const int wanted = scores->dims[i == 0 ? 0 : i + 1];
        if (target->dims[i] == wanted) continue;
        return fail_node(node, TENGINE_EINVAL, "dimension %d of the targets is %d, scores have %d",
                         i, target->dims[i], wanted);
    }
    if (weight && (weight->dim_num != 1 || weight->dims[0] != scores->dims[1])) {
        return fail_node(node, TENGINE_EINVAL, "weights must have the shape [%d]", scores->dims[1]);
    }
    if (weight && weight->data_type != scores->data_type) {
        return fail_node(node, TENGINE_EDTYPE, "weights are %s, scores %s",
                         get_data_type_name(weight->data_type),
                         get_data_type_name(scores->data_type));
    }
    return TENGINE_OK;
}

static int infer_loss(struct node* node)
{
    const struct loss_param* param = node->op.param_mem;
    const struct tensor* scores = get_ir_node_input(node, 0);
    TENGINE_RETURN_IF_ERROR(check_loss_shapes(node));
    // SoftmaxCrossEntropyLoss optionally outputs the logarithms of the probabilities.
    TENGINE_RETURN_IF_ERROR(set_node_output_like(node, 1, scores, -1));
    if (strcmp(param->reduction, "none") != 0) {
        return set_node_output(node, 0, scores->data_type, NULL, 0);
    }
    return set_node_output_like(node, 0, get_ir_node_input(node, 1), scores->data_type);
}

static const op_field_t loss_fields[] = {
    OP_FIELD(struct loss_param, STRING, reduction, .text = "mean", .choices = "none|sum|mean"),
    OP_FIELD(struct loss_param, INT, ignore_index, .number = LOSS_IGNORE_NOTHING),
};

static const ir_method_t* const rows[] = {
    OP_ROW(NegativeLogLikelihoodLoss, .version = 12, .min_input = 2, .max_input = 3,
           .min_output = 1, .max_output = 1, OP_FIELDS(loss_fields),
           .param_size = sizeof(struct loss_param), .infer_shape = infer_loss),
    OP_ROW(SoftmaxCrossEntropyLoss, .version = 12, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 2, OP_FIELDS(loss_fields), .param_size = sizeof(struct loss_param),
           .infer_shape = infer_loss),
};

OPERATOR_TABLE(loss_ops, rows);

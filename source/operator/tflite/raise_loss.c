// SPDX-License-Identifier: Apache-2.0
// Losses, which models for training have.
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/loss_param.h"
#include "operator/tengine/move.h"
#include "operator/tflite/raise.h"

static struct tensor* emit_sum(emitter_t* emit, const char* op, struct tensor* input)
{
    begin_op(emit, op, 1, input);
    emit_attr_int(emit, "keepdims", 0);
    return end_op(emit);
}

// The loss of logarithms along axis 1. Targets that are ignored have no weight.
static struct tensor* emit_loss(emitter_t* emit, struct tensor* logarithms)
{
    const struct loss_param* param = emit->origin->op.param_mem;
    struct tensor* target = emit_indices(emit, get_ir_node_input(emit->origin, 1));
    struct tensor *classes = get_ir_node_input(emit->origin, 2), *weights = NULL, *kept = NULL;
    const int64_t axis = 1;
    if (param->ignore_index != LOSS_IGNORE_NOTHING) {
        kept = emit_op(emit, "Equal", 2, target, emit_int(emit, param->ignore_index));
        kept = emit_op(emit, "Not", 1, kept);
        target = emit_op(emit, "Where", 3, kept, target, emit_int(emit, 0));
    }
    begin_op(emit, "GatherElements", 2, logarithms,
             emit_op(emit, "Unsqueeze", 2, target, emit_ints(emit, &axis, 1)));
    emit_attr_int(emit, "axis", 1);
    struct tensor* loss = emit_op(emit, "Squeeze", 2, end_op(emit), emit_ints(emit, &axis, 1));
    loss = emit_op(emit, "Neg", 1, loss);
    if (classes) weights = emit_op(emit, "Gather", 2, classes, target);
    if (kept)
        weights = emit_op(emit, "Where", 3, kept, classes ? weights : emit_float(emit, 1),
                          emit_float(emit, 0));
    if (weights) loss = emit_op(emit, "Mul", 2, loss, weights);
    if (strcmp(param->reduction, "none") == 0) return loss;
    if (strcmp(param->reduction, "mean") == 0 && !weights)
        return emit_sum(emit, "ReduceMean", loss);
    loss = emit_sum(emit, "ReduceSum", loss);
    if (strcmp(param->reduction, "sum") == 0) return loss;
    return emit_op(emit, "Div", 2, loss, emit_sum(emit, "ReduceSum", weights));
}

static int compose_loss(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    const bool takes_scores = strcmp(get_ir_node_op(node), "SoftmaxCrossEntropyLoss") == 0;
    if (input->data_type != TENGINE_DT_FP32)
        return refuse_raising(node, "its input is %s, expected fp32",
                              get_data_type_name(input->data_type));
    emitter_t emit = start_emitting(graph, node);
    struct tensor* logarithms = input;
    if (takes_scores) {
        begin_op(&emit, "LogSoftmax", 1, input);
        emit_attr_int(&emit, "axis", 1);
        logarithms = end_op(&emit);
    }
    struct tensor* results[2] = {emit_loss(&emit, logarithms)};
    if (is_raised_output_read(node, 1)) results[1] = logarithms;
    return finish_emitting_list(&emit, results, node->output_num);
}

static const tfl_raising_t rows[] = {
    {"NegativeLogLikelihoodLoss", compose_loss},
    {"SoftmaxCrossEntropyLoss", compose_loss},
};

TFL_RAISINGS(tfl_loss_raisings, rows);

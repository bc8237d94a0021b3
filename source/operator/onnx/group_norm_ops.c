// SPDX-License-Identifier: Apache-2.0
// GroupNorm and SkipGroupNorm of ONNX Runtime, from diffusion models, lowered to ONNX's
// GroupNormalization, with the channels at axis 1, and Swish.
#include "operator/row.h"
#include "operator/shaped.h"
#include "operator/tengine/emit.h"

struct microsoft_group_norm_param
{
    float epsilon;
    int groups;
    int activation;  // 1: x * sigmoid(x)
    int channels_last;
};

#define FIELD(kind, member, ...) \
    OP_FIELD(struct microsoft_group_norm_param, kind, member, __VA_ARGS__)

static const op_field_t group_norm_fields[] = {
    FIELD(FLOAT, epsilon, .number = 1e-5f),
    FIELD(INT, groups, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    FIELD(INT, activation, .required = 1, .minimum = 0, .maximum = 1),
    FIELD(INT, channels_last, .number = 1, .minimum = 0, .maximum = 1),
};

// Emits a constant of the channels, in the type of `like`.
static struct tensor* emit_list(emitter_t* emit, int index, const struct tensor* like)
{
    struct tensor* list = get_ir_node_input(emit->origin, index);
    return list->data_type == like->data_type ? list : emit_cast(emit, list, like->data_type);
}

// Emits the transposition from channels-last to channels at axis 1, or back.
static struct tensor* emit_moved(emitter_t* emit, struct tensor* tensor, bool to_second)
{
    int64_t order[MAX_SHAPE_DIM_NUM] = {0};
    if (emit->status < 0) return NULL;
    const int rank = tensor->dim_num;
    for (int i = 1; i < rank; ++i)
        order[i] = to_second ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    return emit_transpose(emit, tensor, order, rank);
}

static int check_input(emitter_t* emit)
{
    const struct tensor* input = get_ir_node_input(emit->origin, 0);
    if (input->dim_num >= 3) return TENGINE_OK;
    return fail_emitting(emit, TENGINE_EINVAL, "input '%s' has rank %d, expected at least 3",
                         input->name, input->dim_num);
}

static struct tensor* emit_group_norm(emitter_t* emit, struct tensor* input)
{
    const struct microsoft_group_norm_param* param = emit->origin->op.param_mem;
    const bool is_last = param->channels_last != 0;
    begin_op(emit, "GroupNormalization", 3, is_last ? emit_moved(emit, input, true) : input,
             emit_list(emit, 1, input), emit_list(emit, 2, input));
    emit_attr_int(emit, "num_groups", param->groups);
    emit_attr_float(emit, "epsilon", param->epsilon);
    struct tensor* result = end_op(emit);
    if (param->activation) result = emit_op(emit, "Swish", 1, result);
    return is_last ? emit_moved(emit, result, false) : result;
}

static int lower_group_norm(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    TENGINE_RETURN_IF_ERROR(check_input(&emit));
    return finish_emitting(&emit, 1, emit_group_norm(&emit, get_ir_node_input(node, 0)));
}

// Emits a tensor of batches and channels, or a list of channels, with axes of size 1 for the others
// of the input.
static struct tensor* emit_spread(emitter_t* emit, struct tensor* tensor,
                                  const struct tensor* input)
{
    const struct microsoft_group_norm_param* param = emit->origin->op.param_mem;
    const int channel = param->channels_last ? input->dim_num - 1 : 1;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    if (tensor->dim_num < 1 || tensor->dim_num > 2) return tensor;
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = 1;
    if (tensor->dim_num == 2) dims[0] = tensor->dims[0];
    dims[channel] = tensor->dims[tensor->dim_num - 1];
    return emit_reshape(emit, tensor, dims, input->dim_num);
}

// Inputs: X, gamma, beta, skip, bias; the second result is X + skip + bias.
static int lower_skip_group_norm(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    struct tensor* bias = get_ir_node_input(node, 4);
    emitter_t emit = start_emitting(graph, node);
    TENGINE_RETURN_IF_ERROR(check_input(&emit));
    struct tensor* sum =
        emit_op(&emit, "Add", 2, input, emit_spread(&emit, get_ir_node_input(node, 3), input));
    if (bias) sum = emit_op(&emit, "Add", 2, sum, emit_spread(&emit, bias, input));
    struct tensor* result = emit.status == TENGINE_OK ? emit_group_norm(&emit, sum) : NULL;
    return finish_emitting(&emit, 2, result, sum);
}

#define LOWERED(least, most, outputs, lower_function)                                         \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1,         \
    .max_output = outputs, OP_FIELDS(group_norm_fields),                                      \
    .param_size = sizeof(struct microsoft_group_norm_param), .traits = OP_LEGACY | OP_SHAPED, \
    .lower = lower_function

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(GroupNorm, LOWERED(3, 3, 1, lower_group_norm)),
    MICROSOFT_ROW(SkipGroupNorm, LOWERED(4, 5, 2, lower_skip_group_norm)),
};

OPERATOR_TABLE(group_norm_ops, rows);

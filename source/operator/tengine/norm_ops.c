// SPDX-License-Identifier: Apache-2.0
// Tengine's operators with one factor and one summand per channel: BatchNormalization, Scale, Bias,
// Fused.BNScaleReLu, InstanceNorm, LayerNorm. Those without are in response_ops.c.
#include "operator/row.h"
#include "operator/tengine/operand.h"

struct tm_batch_norm_param
{
    float rescale_factor;
    float eps;
    int caffe_flavor;
};

struct tm_scale_param
{
    int axis;
    int num_axes;
    int bias_term;  // not read: the presence of the third input decides
};

struct tm_bias_param
{
    int bias_size;  // not read: it follows from the input's shape
};

struct tm_epsilon_param
{
    float eps;
};

static const op_field_t batch_norm_fields[] = {
    TM_FIELD(struct tm_batch_norm_param, FLOAT, rescale_factor, WORD, 0, .number = 1),
    TM_FIELD(struct tm_batch_norm_param, FLOAT, eps, WORD, 4, .number = 1e-5f),
    TM_FIELD(struct tm_batch_norm_param, INT, caffe_flavor, WORD, 8, .number = 0),
};

static const op_field_t scale_fields[] = {
    TM_FIELD(struct tm_scale_param, INT, axis, WORD, 0, .number = 1),
    TM_FIELD(struct tm_scale_param, INT, num_axes, WORD, 4, .number = 1),
    TM_FIELD(struct tm_scale_param, INT, bias_term, WORD, 8, .number = 0),
};

static const op_field_t bias_fields[] = {
    TM_FIELD(struct tm_bias_param, INT, bias_size, WORD, 0, .number = 0),
};

static const op_field_t epsilon_fields[] = {
    TM_FIELD(struct tm_epsilon_param, FLOAT, eps, WORD, 0, .number = 0),
};

// ---- BatchNormalization ----

// The mean and variance inputs are sums, to be divided by rescale_factor; 0 makes them 0. Caffe's
// flavour has gamma and beta as inputs, but does not use them.
static int lower_batch_norm(struct graph* graph, struct node* node)
{
    const struct tm_batch_norm_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 2, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    const int channels = input->dims[1];
    struct tensor* mean = emit_operand_list(&emit, 3, "mean", channels);
    struct tensor* variance = emit_operand_list(&emit, 4, "variance", channels);
    const float factor = param->rescale_factor == 0 ? 0 : 1 / param->rescale_factor;
    if (factor != 1) {
        mean = emit_op(&emit, "Mul", 2, mean, emit_number(&emit, factor, input));
        variance = emit_op(&emit, "Mul", 2, variance, emit_number(&emit, factor, input));
    }
    struct tensor* gamma = param->caffe_flavor ? emit_repeated_like(&emit, 1, channels)
                                               : emit_operand_list(&emit, 1, "gamma", channels);
    struct tensor* beta = param->caffe_flavor ? emit_repeated_like(&emit, 0, channels)
                                              : emit_operand_list(&emit, 2, "beta", channels);
    begin_op(&emit, "BatchNormalization", 5, input, gamma, beta, mean, variance);
    emit_attr_float(&emit, "epsilon", param->eps);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_batch_norm(struct graph* graph, struct node* node)
{
    if (!has_plane_elements(node)) return OP_NOT_RAISED;
    if (get_ir_node_int(node, "training_mode", 0))
        return refuse_raising(node, "Tengine's BatchNormalization has no training_mode");
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = raise_to_plane(&emit, get_ir_node_input(node, 0));
    begin_op(&emit, "tengine.BatchNormalize", 5, input, get_ir_node_input(node, 1),
             get_ir_node_input(node, 2), get_ir_node_input(node, 3), get_ir_node_input(node, 4));
    emit_attr_float(&emit, "eps", get_ir_node_float(node, "epsilon", 1e-5f));
    return finish_with_plane(&emit, end_op(&emit));
}

// ---- Fused.BNScaleReLu ----

// Inputs 3 and 4 are not mean and variance but values computed from them: y = relu((x * v + m) *
// gamma + beta).
static int lower_fused(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 2, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    const int channels = input->dims[1];
    struct tensor* gamma = emit_operand_list(&emit, 1, "gamma", channels);
    struct tensor* beta = emit_operand_list(&emit, 2, "beta", channels);
    struct tensor* summand = emit_operand_list(&emit, 3, "mean", channels);
    struct tensor* factor = emit_operand_list(&emit, 4, "variance", channels);
    struct tensor* scale = emit_op(&emit, "Mul", 2, gamma, factor);
    struct tensor* shift = emit_op(&emit, "Add", 2, emit_op(&emit, "Mul", 2, gamma, summand), beta);
    return finish_emitting(
        &emit, 1,
        emit_op(&emit, "Relu", 1, emit_channel_scale(&emit, input, scale, shift, channels)));
}

// ---- Scale and Bias ----

// Finds the axes of gamma: num_axes of them from `axis` on, -1 for all that follow.
static bool find_scaled_axes(emitter_t* emit, const struct tm_scale_param* param, int* out_first,
                             int* out_last)
{
    const int rank = get_ir_node_input(emit->origin, 0)->dim_num;
    if (normalize_axis(emit->origin, param->axis, rank, out_first) < 0) {
        emit->status = tengine_error_code();
        return false;
    }
    const int axes_left = rank - *out_first;
    if (param->num_axes >= -1 && param->num_axes <= axes_left) {
        *out_last = *out_first + (param->num_axes == -1 ? axes_left : param->num_axes);
        return true;
    }
    fail_emitting(emit, TENGINE_EINVAL, "num_axes is %d, from axis %d on there are %d",
                  param->num_axes, *out_first, axes_left);
    return false;
}

static int lower_scale(struct graph* graph, struct node* node)
{
    const struct tm_scale_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    int first, last;
    if (!find_scaled_axes(&emit, param, &first, &last)) return emit.status;
    if (first == 1 && last == 2) {
        struct tensor* scale = emit_operand_list(&emit, 1, "gamma", input->dims[1]);
        struct tensor* shift = emit_operand_list(&emit, 2, "beta", input->dims[1]);
        return finish_emitting(&emit, 1,
                               emit_channel_scale(&emit, input, scale, shift, input->dims[1]));
    }
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i >= first && i < last ? input->dims[i] : 1;
    struct tensor* scale = emit_operand(&emit, 1, "gamma", dims, input->dim_num);
    struct tensor* shift = emit_operand(&emit, 2, "beta", dims, input->dim_num);
    struct tensor* output = emit_op(&emit, "Mul", 2, input, scale);
    if (shift) output = emit_op(&emit, "Add", 2, output, shift);
    return finish_emitting(&emit, 1, output);
}

static int lower_bias(struct graph* graph, struct node* node)
{
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 2, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    int64_t dims[MAX_SHAPE_DIM_NUM];
    for (int i = 0; i < input->dim_num; ++i)
        dims[i] = i == 1 ? input->dims[1] : 1;
    struct tensor* bias = emit_operand(&emit, 1, "bias", dims, input->dim_num);
    return finish_emitting(&emit, 1, emit_op(&emit, "Add", 2, input, bias));
}

// ---- InstanceNorm and LayerNorm ----

static int lower_instance_norm(struct graph* graph, struct node* node)
{
    const struct tm_epsilon_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 3, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    struct tensor* gamma = emit_operand_list(&emit, 1, "gamma", input->dims[1]);
    struct tensor* beta = emit_operand_list(&emit, 2, "beta", input->dims[1]);
    begin_op(&emit, "InstanceNormalization", 3, input, gamma, beta);
    emit_attr_float(&emit, "epsilon", param->eps);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_instance_norm(struct graph* graph, struct node* node)
{
    if (!has_plane_elements(node)) return OP_NOT_RAISED;
    emitter_t emit = start_emitting(graph, node);
    struct tensor* input = raise_to_plane(&emit, get_ir_node_input(node, 0));
    begin_op(&emit, "tengine.InstanceNorm", 3, input, get_ir_node_input(node, 1),
             get_ir_node_input(node, 2));
    emit_attr_float(&emit, "eps", get_ir_node_float(node, "epsilon", 1e-5f));
    return finish_with_plane(&emit, end_op(&emit));
}

// LayerNorm normalises along the last axis.
static int lower_layer_norm(struct graph* graph, struct node* node)
{
    const struct tm_epsilon_param* param = node->op.param_mem;
    struct tensor* input = get_ir_node_input(node, 0);
    emitter_t emit = start_emitting(graph, node);
    require_rank(&emit, 1, MAX_SHAPE_DIM_NUM);
    if (emit.status < 0) return emit.status;
    const int length = input->dims[input->dim_num - 1];
    struct tensor* gamma = emit_operand_list(&emit, 1, "gamma", length);
    struct tensor* beta = emit_operand_list(&emit, 2, "beta", length);
    begin_op(&emit, "LayerNormalization", 3, input, gamma, beta);
    emit_attr_int(&emit, "axis", -1);
    emit_attr_float(&emit, "epsilon", param->eps);
    return finish_emitting(&emit, 1, end_op(&emit));
}

static int raise_layer_norm(struct graph* graph, struct node* node)
{
    struct tensor *input = get_ir_node_input(node, 0), *gamma = get_ir_node_input(node, 1),
                  *beta = get_ir_node_input(node, 2);
    int axis;
    TENGINE_RETURN_IF_ERROR(
        normalize_axis(node, get_ir_node_int(node, "axis", -1), input->dim_num, &axis));
    if (axis != input->dim_num - 1)
        return refuse_raising(
            node, "Tengine's LayerNorm normalises only the last axis, this is axis %d", axis);
    if (is_output_read(node, 1) || is_output_read(node, 2))
        return refuse_raising(node, "Tengine's LayerNorm does not output mean and deviation");
    const int length = input->dims[axis];
    if (gamma->elem_num != length || (beta && beta->elem_num != length))
        return refuse_raising(node, "Tengine's LayerNorm needs scale and bias of %d elements",
                              length);
    emitter_t emit = start_emitting(graph, node);
    if (!beta) beta = emit_repeated(&emit, 0, length);
    begin_op(&emit, "tengine.LayerNorm", 3, input, gamma, beta);
    emit_attr_float(&emit, "eps", get_ir_node_float(node, "epsilon", 1e-5f));
    return finish_emitting(&emit, 1, end_op(&emit));
}

#define INPUTS(least, most) \
    .min_input = least, .max_input = most, .min_output = 1, .max_output = 1, .traits = OP_LEGACY

static const ir_method_t* const rows[] = {
    TENGINE_ROW(BatchNormalize, 5, 1, 12, INPUTS(5, 5), OP_FIELDS(batch_norm_fields),
                .param_size = sizeof(struct tm_batch_norm_param), .lower = lower_batch_norm,
                RAISED("BatchNormalization", raise_batch_norm)),
    NAMED_ROW(Fused_BNScaleReLu, "Fused.BNScaleReLu", -1, 39, 0, INPUTS(5, 5),
              .lower = lower_fused),
    TENGINE_ROW(Scale, 67, 26, 12, INPUTS(2, 3), OP_FIELDS(scale_fields),
                .param_size = sizeof(struct tm_scale_param), .lower = lower_scale),
    TENGINE_ROW(Bias, 7, 61, 4, INPUTS(2, 2), OP_FIELDS(bias_fields),
                .param_size = sizeof(struct tm_bias_param), .lower = lower_bias),
    TENGINE_ROW(InstanceNorm, 34, 66, 4, INPUTS(3, 3), OP_FIELDS(epsilon_fields),
                .param_size = sizeof(struct tm_epsilon_param), .lower = lower_instance_norm,
                RAISED("InstanceNormalization", raise_instance_norm)),
    TENGINE_ROW(LayerNorm, 103, 107, 4, INPUTS(3, 3), OP_FIELDS(epsilon_fields),
                .param_size = sizeof(struct tm_epsilon_param), .lower = lower_layer_norm,
                RAISED("LayerNormalization", raise_layer_norm)),
};

OPERATOR_TABLE(tengine_norm_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// MoE of ONNX Runtime: each token passes through a few of many small networks, the experts, to
// which a router gives the highest weights. Parameters are in moe_param.h; kernel:
// device/cpu/reference/matmul/moe.cc.
#include <float.h>
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/moe_param.h"
#include "operator/row.h"
#include "operator/type_set.h"

static const op_field_t moe_fields[] = {
    OP_FIELD(struct moe_param, STRING, activation_type, .text = "relu",
             .choices = "relu|gelu|silu|identity|swiglu"),
    OP_FIELD(struct moe_param, FLOAT, activation_alpha, .number = 1),
    OP_FIELD(struct moe_param, FLOAT, activation_beta, .number = 0),
    OP_FIELD(struct moe_param, FLOAT, swiglu_limit, .number = FLT_MAX),
    OP_FIELD(struct moe_param, INT, k, .number = 1, .minimum = 1, .maximum = INT32_MAX),
    OP_FIELD(struct moe_param, INT, normalize_routing_weights, .number = 0, .maximum = 1),
    OP_FIELD(struct moe_param, INT, swiglu_fusion, .number = 0, .maximum = 2),
    OP_FIELD(struct moe_param, INT, use_sparse_mixer, .number = 0),
};

static enum moe_activation find_activation(const char* name)
{
    static const char* const names[] = {"relu", "gelu", "silu", "identity", "swiglu"};
    int i = 0;
    while (i < MOE_SWIGLU && strcmp(name, names[i]) != 0)
        ++i;
    return (enum moe_activation)i;
}

static enum moe_gate find_gate(const struct node* node, enum moe_activation activation)
{
    const struct moe_param* param = node->op.param_mem;
    if (activation == MOE_SWIGLU && param->swiglu_fusion == 1) return MOE_GATE_BESIDE;
    if (activation == MOE_SWIGLU && param->swiglu_fusion == 2) return MOE_GATE_AFTER;
    return get_ir_node_input(node, MOE_FC3_WEIGHTS) ? MOE_GATE_FC3 : MOE_NO_GATE;
}

static bool is_fused(const struct moe_shape* shape)
{
    return shape->gate == MOE_GATE_BESIDE || shape->gate == MOE_GATE_AFTER;
}

void resolve_moe_shape(const struct node* node, struct moe_shape* out_shape)
{
    const struct moe_param* param = node->op.param_mem;
    const struct tensor* input = get_ir_node_input(node, MOE_INPUT);
    const struct tensor* first = get_ir_node_input(node, MOE_FC1_WEIGHTS);
    out_shape->tokens = multiply_dims(input, 0, input->dim_num - 1);
    out_shape->experts = first->dims[0];
    out_shape->hidden = input->dims[input->dim_num - 1];
    out_shape->activation = find_activation(param->activation_type);
    out_shape->gate = find_gate(node, out_shape->activation);
    out_shape->inner = first->dims[1] / (is_fused(out_shape) ? 2 : 1);
    out_shape->chosen = param->k;
}

static int check_dims(const struct node* node, int index, const int64_t dims[], int dim_num)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    bool fits = !tensor || tensor->dim_num == dim_num;
    for (int i = 0; tensor && fits && i < dim_num; ++i)
        fits = tensor->dims[i] == dims[i];
    if (fits) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "input %d '%s' has rank %d and %lld values, expected %s",
                     index, tensor->name, tensor->dim_num, (long long)tensor->elem_num,
                     dim_num == 2 ? "experts (of the router: tokens) x rows"
                                  : "experts x rows x columns that fit the tokens");
}

static int check_ranks(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, MOE_INPUT);
    const struct tensor* first = get_ir_node_input(node, MOE_FC1_WEIGHTS);
    if ((input->dim_num == 2 || input->dim_num == 3) && first->dim_num == 3) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "input has rank %d and fc1_experts_weights %d, expected 2 or 3, and 3",
                     input->dim_num, first->dim_num);
}

static int check_form(const struct node* node, const struct moe_shape* shape)
{
    const struct moe_param* param = node->op.param_mem;
    if (param->use_sparse_mixer != 0)
        return fail_node(node, TENGINE_ENOTSUP,
                         "use_sparse_mixer is %d, expected 0: its router is not supported; the CPU "
                         "provider of ONNX Runtime takes it for 0",
                         param->use_sparse_mixer);
    if (shape->activation == MOE_SWIGLU && shape->gate == MOE_NO_GATE)
        return fail_node(node, TENGINE_EINVAL,
                         "swiglu needs fc3_experts_weights or swiglu_fusion 1 or 2");
    if (is_fused(shape) && get_ir_node_input(node, MOE_FC3_WEIGHTS))
        return fail_node(node, TENGINE_EINVAL,
                         "fc3_experts_weights exists, but swiglu_fusion is %d, expected 0",
                         param->swiglu_fusion);
    if (shape->chosen <= shape->experts) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "k is %d, there are %d experts", shape->chosen,
                     shape->experts);
}

static int infer_moe(struct node* node)
{
    for (int i = MOE_INPUT; i <= MOE_FC2_WEIGHTS; ++i)
        if (i != MOE_FC1_BIAS && !get_ir_node_input(node, i))
            return fail_node(node, TENGINE_EINVAL, "input %d is missing", i);
    TENGINE_RETURN_IF_ERROR(require_type(node, MOE_INPUT, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, MOE_INPUT, MOE_FC3_BIAS));
    TENGINE_RETURN_IF_ERROR(check_ranks(node));
    struct moe_shape shape;
    resolve_moe_shape(node, &shape);
    TENGINE_RETURN_IF_ERROR(check_form(node, &shape));
    const int64_t experts = shape.experts, hidden = shape.hidden, inner = shape.inner;
    const int64_t rows = is_fused(&shape) ? 2 * inner : inner;
    const int64_t inner_bias[] = {experts, inner}, first[] = {experts, rows, hidden};
    const int64_t second[] = {experts, hidden, inner}, third[] = {experts, inner, hidden};
    const int64_t router[] = {shape.tokens, experts};
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_ROUTER, router, 2));
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_FC1_WEIGHTS, first, 3));
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_FC1_BIAS, first, 2));
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_FC2_WEIGHTS, second, 3));
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_FC2_BIAS, second, 2));
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_FC3_WEIGHTS, third, 3));
    TENGINE_RETURN_IF_ERROR(check_dims(node, MOE_FC3_BIAS, inner_bias, 2));
    return set_node_output_like(node, 0, get_ir_node_input(node, MOE_INPUT), -1);
}

static int64_t count_macs(const struct node* node)
{
    struct moe_shape shape;
    resolve_moe_shape(node, &shape);
    const int products = shape.gate == MOE_NO_GATE ? 2 : 3;
    const int64_t expert = multiply_macs(multiply_macs(shape.hidden, shape.inner), products);
    return multiply_macs(multiply_macs(shape.tokens, shape.chosen), expert);
}

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(MoE, .version = 1, .min_input = 1, .max_input = MOE_INPUTS, .min_output = 1,
                  .max_output = 1, OP_FIELDS(moe_fields), .param_size = sizeof(struct moe_param),
                  .infer_shape = infer_moe, .macs = count_macs),
};

OPERATOR_TABLE(moe_ops, rows);

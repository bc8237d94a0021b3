// SPDX-License-Identifier: Apache-2.0
// Operators with state that language models carry from token to token, in addition to Attention:
// TensorScatter writes new rows into a cache; CausalConvWithState convolves along the tokens, and
// keeps the last ones; LinearAttention keeps a matrix for each head (S. Yang et al., "Gated Delta
// Networks", 2024). Parameters are in state_param.h; kernels are
// device/cpu/reference/movement/state.cc.
#include <string.h>

#include "operator/infer.h"
#include "operator/onnx/macs.h"
#include "operator/onnx/state_param.h"
#include "operator/registry.h"
#include "operator/row.h"
#include "operator/type_set.h"

static int fail_shape(const struct node* node, int index, const char* expected)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    return fail_node(node, TENGINE_EINVAL, "input %d '%s' has rank %d and %lld values, expected %s",
                     index, tensor->name, tensor->dim_num, (long long)tensor->elem_num, expected);
}

// Checks that input `index` is absent or has these dimensions.
static bool has_dims(const struct node* node, int index, const int64_t dims[], int dim_num)
{
    const struct tensor* tensor = get_ir_node_input(node, index);
    bool fits = !tensor || tensor->dim_num == dim_num;
    for (int i = 0; tensor && fits && i < dim_num; ++i)
        fits = tensor->dims[i] == dims[i];
    return fits;
}

// ---- TensorScatter ----

static const op_field_t tensor_scatter_fields[] = {
    OP_FIELD(struct tensor_scatter_param, INT, axis, .number = -2),
    OP_FIELD(struct tensor_scatter_param, STRING, mode, .text = "linear",
             .choices = "linear|circular"),
};

static int infer_tensor_scatter(struct node* node)
{
    const struct tensor_scatter_param* param = node->op.param_mem;
    const struct tensor* cache = get_ir_node_input(node, 0);
    const struct tensor* update = get_ir_node_input(node, 1);
    int axis;
    TENGINE_RETURN_IF_ERROR(require_same_types(node, 0, 1));
    TENGINE_RETURN_IF_ERROR(require_type(node, 2, TYPE_BIT(INT64)));
    TENGINE_RETURN_IF_ERROR(normalize_axis(node, param->axis, cache->dim_num, &axis));
    if (axis == 0)
        return fail_node(node, TENGINE_EINVAL,
                         "axis is %d of rank %d, the axis of batches: expected a later one",
                         param->axis, cache->dim_num);
    bool fits = update->dim_num == cache->dim_num && update->dims[axis] <= cache->dims[axis];
    for (int i = 0; fits && i < cache->dim_num; ++i)
        fits = i == axis || update->dims[i] == cache->dims[i];
    if (!fits)
        return fail_shape(node, 1, "the shape of the cache, along axis the same or fewer elements");
    if (!has_dims(node, 2, (const int64_t[]){cache->dims[0]}, 1))
        return fail_shape(node, 2, "an index for each batch");
    return set_node_output_like(node, 0, cache, -1);
}

// ---- CausalConvWithState ----

static const op_field_t causal_conv_fields[] = {
    OP_FIELD(struct causal_conv_param, STRING, activation, .text = "none",
             .choices = "none|silu|swish"),
};
static const op_field_t microsoft_causal_conv_fields[] = {
    OP_FIELD(struct causal_conv_param, STRING, activation, .text = "none",
             .choices = "none|silu|swish"),
    OP_FIELD(struct causal_conv_param, INT, ndim, .number = 1, .minimum = 1, .maximum = 1),
};

static int infer_causal_conv(struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, CAUSAL_CONV_INPUT);
    const struct tensor* weight = get_ir_node_input(node, CAUSAL_CONV_WEIGHT);
    TENGINE_RETURN_IF_ERROR(require_type(node, CAUSAL_CONV_INPUT, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_same_types(node, CAUSAL_CONV_INPUT, CAUSAL_CONV_PAST));
    if (input->dim_num != 3)
        return fail_shape(node, CAUSAL_CONV_INPUT, "batch x channels x tokens");
    const int64_t channels = input->dims[1];
    if (weight->dim_num != 3 || weight->dims[0] != channels || weight->dims[1] != 1 ||
        weight->dims[2] < 1)
        return fail_shape(node, CAUSAL_CONV_WEIGHT, "channels x 1 x taps");
    const int64_t state[] = {input->dims[0], channels, weight->dims[2] - 1};
    if (!has_dims(node, CAUSAL_CONV_BIAS, &channels, 1))
        return fail_shape(node, CAUSAL_CONV_BIAS, "a value for each channel");
    if (!has_dims(node, CAUSAL_CONV_PAST, state, 3))
        return fail_shape(node, CAUSAL_CONV_PAST, "batch x channels x (taps - 1)");
    TENGINE_RETURN_IF_ERROR(set_node_output(node, 1, input->data_type, state, 3));
    return set_node_output_like(node, 0, input, -1);
}

static int64_t count_causal_conv_macs(const struct node* node)
{
    return multiply_macs(get_ir_node_input(node, CAUSAL_CONV_INPUT)->elem_num,
                         get_ir_node_input(node, CAUSAL_CONV_WEIGHT)->dims[2]);
}

static int lower_causal_conv(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(node, "CausalConvWithState");
}

// ---- LinearAttention ----

static const op_field_t linear_attention_fields[] = {
    OP_FIELD(struct linear_attention_param, INT, q_num_heads, .required = 1, .minimum = 1,
             .maximum = INT32_MAX),
    OP_FIELD(struct linear_attention_param, INT, kv_num_heads, .required = 1, .minimum = 1,
             .maximum = INT32_MAX),
    OP_FIELD(struct linear_attention_param, FLOAT, scale, .number = 0),
    OP_FIELD(struct linear_attention_param, STRING, update_rule, .text = "gated_delta",
             .choices = "linear|gated|delta|gated_delta"),
    OP_FIELD(struct linear_attention_param, INT, chunk_size, .number = 64),
};

static int read_heads(const struct node* node, struct linear_attention_form* form)
{
    const struct linear_attention_param* param = node->op.param_mem;
    const struct tensor* query = get_ir_node_input(node, LINEAR_QUERY);
    const struct tensor* value = get_ir_node_input(node, LINEAR_VALUE);
    if (query->dim_num != 3) return fail_shape(node, LINEAR_QUERY, "batch x tokens x elements");
    form->batch = query->dims[0];
    form->tokens = query->dims[1];
    form->heads = param->q_num_heads;
    form->key_heads = param->kv_num_heads;
    if (form->heads % form->key_heads != 0 || query->dims[2] % form->heads != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d elements of a token's query do not divide into %d heads, or these "
                         "into %d of the keys",
                         query->dims[2], param->q_num_heads, param->kv_num_heads);
    form->depth = query->dims[2] / form->heads;
    form->width = value->dim_num == 3 ? value->dims[2] / form->key_heads : 0;
    const int64_t key[] = {form->batch, form->tokens, form->key_heads * form->depth};
    if (!has_dims(node, LINEAR_KEY, key, 3))
        return fail_shape(node, LINEAR_KEY,
                          "batch and tokens of the query, and its elements of kv_num_heads heads");
    const int64_t values[] = {form->batch, form->tokens, form->key_heads * form->width};
    if (!has_dims(node, LINEAR_VALUE, values, 3))
        return fail_shape(node, LINEAR_VALUE,
                          "batch and tokens of the query, and elements of kv_num_heads heads");
    return TENGINE_OK;
}

// Reads an input that the update rule requires or excludes; it has `few` or `many` values for each
// token.
static int read_gate(const struct node* node, int index, bool is_needed, int64_t few, int64_t many,
                     int64_t* out_num)
{
    const struct linear_attention_param* param = node->op.param_mem;
    const struct tensor* query = get_ir_node_input(node, LINEAR_QUERY);
    const struct tensor* gate = get_ir_node_input(node, index);
    if (is_needed != (gate != NULL))
        return fail_node(node, TENGINE_EINVAL, "input %d, %s, is %s, update_rule is %s", index,
                         index == LINEAR_DECAY ? "decay" : "beta", gate ? "there" : "missing",
                         param->update_rule);
    *out_num = gate && gate->dim_num == 3 ? gate->dims[2] : 0;
    const int64_t dims[] = {query->dims[0], query->dims[1], *out_num};
    if (has_dims(node, index, dims, 3) && (!gate || *out_num == few || *out_num == many))
        return TENGINE_OK;
    return fail_shape(node, index,
                      index == LINEAR_DECAY
                          ? "batch and tokens of the query, and kv_num_heads or as many elements "
                            "as the key has"
                          : "batch and tokens of the query, and kv_num_heads or 1");
}

int read_linear_attention(const struct node* node, struct linear_attention_form* out_form)
{
    const struct linear_attention_param* param = node->op.param_mem;
    struct linear_attention_form form = {.has_decay = strstr(param->update_rule, "gated") != NULL,
                                         .has_beta = strstr(param->update_rule, "delta") != NULL};
    TENGINE_RETURN_IF_ERROR(read_heads(node, &form));
    TENGINE_RETURN_IF_ERROR(read_gate(node, LINEAR_DECAY, form.has_decay, form.key_heads,
                                      form.key_heads * form.depth, &form.decay_num));
    TENGINE_RETURN_IF_ERROR(
        read_gate(node, LINEAR_BETA, form.has_beta, 1, form.key_heads, &form.beta_num));
    *out_form = form;
    return TENGINE_OK;
}

static int infer_linear_attention(struct node* node)
{
    struct linear_attention_form form;
    const struct tensor* query = get_ir_node_input(node, LINEAR_QUERY);
    const struct tensor* past = get_ir_node_input(node, LINEAR_PAST);
    for (int index = LINEAR_QUERY; index < LINEAR_INPUTS; ++index)
        TENGINE_RETURN_IF_ERROR(require_type(node, index,
                                             index == LINEAR_QUERY || index == LINEAR_PAST
                                                 ? TYPES_FLOAT
                                                 : UINT32_C(1) << query->data_type));
    TENGINE_RETURN_IF_ERROR(read_linear_attention(node, &form));
    const int64_t state[] = {form.batch, form.key_heads, form.depth, form.width};
    const int64_t result[] = {form.batch, form.tokens, form.heads * form.width};
    if (!has_dims(node, LINEAR_PAST, state, 4))
        return fail_shape(node, LINEAR_PAST,
                          "batch, kv_num_heads, elements of a key, elements of a value");
    TENGINE_RETURN_IF_ERROR(
        set_node_output(node, 1, past ? past->data_type : query->data_type, state, 4));
    return set_node_output(node, 0, query->data_type, result, 3);
}

// The state is read and written for each token, and multiplied by each query.
static int64_t count_linear_attention_macs(const struct node* node)
{
    struct linear_attention_form form;
    if (read_linear_attention(node, &form) < 0) return 0;
    const int64_t states =
        multiply_macs(multiply_macs(form.batch, form.tokens), 2 * form.key_heads + form.heads);
    return multiply_macs(states, multiply_macs(form.depth, form.width));
}

static int lower_linear_attention(struct graph* graph, struct node* node)
{
    (void)graph;
    return change_node_method(node, "LinearAttention");
}

#define CAUSAL_CONV(fields)                                                            \
    .min_input = 2, .max_input = CAUSAL_CONV_INPUTS, .min_output = 1, .max_output = 2, \
    OP_FIELDS(fields), .param_size = sizeof(struct causal_conv_param)
#define LINEAR_ATTENTION                                                          \
    .min_input = 3, .max_input = LINEAR_INPUTS, .min_output = 1, .max_output = 2, \
    OP_FIELDS(linear_attention_fields), .param_size = sizeof(struct linear_attention_param)

static const ir_method_t* const rows[] = {
    OP_ROW(CausalConvWithState, .version = 27, CAUSAL_CONV(causal_conv_fields),
           .infer_shape = infer_causal_conv, .macs = count_causal_conv_macs),
    OP_ROW(LinearAttention, .version = 27, LINEAR_ATTENTION, .infer_shape = infer_linear_attention,
           .types = "0 3|0", .macs = count_linear_attention_macs),
    OP_ROW(TensorScatter, .version = 24, .min_input = 2, .max_input = 3, .min_output = 1,
           .max_output = 1, OP_FIELDS(tensor_scatter_fields),
           .param_size = sizeof(struct tensor_scatter_param),
           .traits = OP_TAKES_SMALL | OP_TAKES_COMPLEX, .infer_shape = infer_tensor_scatter),
    MICROSOFT_ROW(CausalConvWithState, .version = 1, .until = 1,
                  CAUSAL_CONV(microsoft_causal_conv_fields), .traits = OP_LEGACY,
                  .lower = lower_causal_conv),
    MICROSOFT_ROW(LinearAttention, .version = 1, .until = 1, LINEAR_ATTENTION, .traits = OP_LEGACY,
                  .lower = lower_linear_attention),
};

OPERATOR_TABLE(state_ops, rows);

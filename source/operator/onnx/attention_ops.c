// SPDX-License-Identifier: Apache-2.0
// Attention (Vaswani et al., "Attention Is All You Need", 2017): for each head of each batch
// softmax(scale * query * key^T + mask) * value, where several heads of the query may share keys
// and values, and keys and values of earlier tokens may come as a past. Parameters are in
// attention_param.h; kernels are device/cpu/reference/attention/attention.cc and
// device/cpu/kernel/attention/attention.cc.
#include "operator/infer.h"
#include "operator/onnx/attention_param.h"
#include "operator/onnx/macs.h"
#include "operator/onnx_type.h"
#include "operator/row.h"
#include "operator/type_set.h"

#define FIELD(kind, member, ...) OP_FIELD(struct attention_param, kind, member, __VA_ARGS__)

static const op_field_t attention_fields[] = {
    FIELD(INT, is_causal, .number = 0, .minimum = 0, .maximum = 1),
    FIELD(INT, q_num_heads, .number = 0, .minimum = 0, .maximum = INT32_MAX),
    FIELD(INT, kv_num_heads, .number = 0, .minimum = 0, .maximum = INT32_MAX),
    FIELD(FLOAT, scale, .number = 0),
    FIELD(FLOAT, softcap, .number = 0),
    FIELD(INT, softmax_precision, .number = 0),
    FIELD(INT, qk_matmul_output_mode, .number = ATTENTION_RAW, .minimum = ATTENTION_RAW,
          .maximum = ATTENTION_NORMALIZED),
    FIELD(INT, left_window_size, .number = -1, .minimum = -1, .maximum = INT32_MAX, .since = 25),
    FIELD(INT, right_window_size, .number = -1, .minimum = -1, .maximum = INT32_MAX, .since = 25),
};

static const struct attention_param* param_of(const struct node* node)
{
    return node->op.param_mem;
}

// ---- shapes ----

static int check_ranks(const struct node* node)
{
    const struct tensor* query = get_ir_node_input(node, ATTENTION_QUERY);
    if (query->dim_num != 3 && query->dim_num != 4)
        return fail_node(node, TENGINE_EINVAL, "query '%s' has rank %d, expected 3 or 4",
                         query->name, query->dim_num);
    for (int index = ATTENTION_KEY; index <= ATTENTION_VALUE; ++index) {
        const struct tensor* input = get_ir_node_input(node, index);
        if (input->dim_num != query->dim_num)
            return fail_node(node, TENGINE_EINVAL, "input %d '%s' has rank %d, the query has %d",
                             index, input->name, input->dim_num, query->dim_num);
        if (input->dims[0] != query->dims[0])
            return fail_node(node, TENGINE_EINVAL, "input %d '%s' has %d batches, the query has %d",
                             index, input->name, input->dims[0], query->dims[0]);
    }
    return TENGINE_OK;
}

// Divides the last dimension of a tensor of rank three among `heads` heads.
static int divide_heads(const struct node* node, int index, int heads, const char* attribute,
                        int64_t* out_size)
{
    const struct tensor* input = get_ir_node_input(node, index);
    if (heads <= 0 || input->dims[2] % heads != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%d elements of a token of '%s' do not divide into heads (%s %d)",
                         input->dims[2], input->name, attribute, heads);
    *out_size = input->dims[2] / heads;
    return TENGINE_OK;
}

static int read_tokens_first(const struct node* node, struct attention_form* form,
                             int64_t* out_key_depth)
{
    const struct attention_param* param = param_of(node);
    form->tokens = get_ir_node_input(node, ATTENTION_QUERY)->dims[1];
    form->fresh = get_ir_node_input(node, ATTENTION_KEY)->dims[1];
    form->heads = param->q_num_heads;
    form->key_heads = param->kv_num_heads;
    TENGINE_RETURN_IF_ERROR(
        divide_heads(node, ATTENTION_QUERY, param->q_num_heads, "q_num_heads", &form->depth));
    TENGINE_RETURN_IF_ERROR(
        divide_heads(node, ATTENTION_KEY, param->kv_num_heads, "kv_num_heads", out_key_depth));
    return divide_heads(node, ATTENTION_VALUE, param->kv_num_heads, "kv_num_heads", &form->width);
}

static int read_heads_first(const struct node* node, struct attention_form* form,
                            int64_t* out_key_depth)
{
    const struct tensor* query = get_ir_node_input(node, ATTENTION_QUERY);
    const struct tensor* key = get_ir_node_input(node, ATTENTION_KEY);
    const struct tensor* value = get_ir_node_input(node, ATTENTION_VALUE);
    form->heads = query->dims[1];
    form->tokens = query->dims[2];
    form->depth = query->dims[3];
    form->key_heads = key->dims[1];
    form->fresh = key->dims[2];
    form->width = value->dims[3];
    *out_key_depth = key->dims[3];
    if (value->dims[1] == key->dims[1]) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL, "'%s' has %d heads, '%s' has %d", key->name,
                     key->dims[1], value->name, value->dims[1]);
}

static int read_past(const struct node* node, struct attention_form* form)
{
    const struct tensor* key = get_ir_node_input(node, ATTENTION_PAST_KEY);
    const struct tensor* value = get_ir_node_input(node, ATTENTION_PAST_VALUE);
    if (!key != !value)
        return fail_node(node, TENGINE_EINVAL, "past_key and past_value: one of them is missing");
    if (!key) return TENGINE_OK;
    if (get_ir_node_input(node, ATTENTION_LENGTHS))
        return fail_node(node, TENGINE_EINVAL, "nonpad_kv_seqlen is not for a node with a past");
    form->past = key->dim_num == 4 ? key->dims[2] : 0;
    for (int index = ATTENTION_PAST_KEY; index <= ATTENTION_PAST_VALUE; ++index) {
        const struct tensor* past = get_ir_node_input(node, index);
        const int64_t size = index == ATTENTION_PAST_KEY ? form->depth : form->width;
        if (past->dim_num != 4 || past->dims[0] != form->batch ||
            past->dims[1] != form->key_heads || past->dims[2] != form->past ||
            past->dims[3] != size)
            return fail_node(node, TENGINE_EINVAL,
                             "input %d '%s' has rank %d and %lld values, expected %lld x %lld x "
                             "%lld x %lld",
                             index, past->name, past->dim_num, (long long)past->elem_num,
                             (long long)form->batch, (long long)form->key_heads,
                             (long long)form->past, (long long)size);
    }
    return TENGINE_OK;
}

int read_attention(const struct node* node, struct attention_form* out_form)
{
    const struct tensor* query = get_ir_node_input(node, ATTENTION_QUERY);
    const struct tensor* value = get_ir_node_input(node, ATTENTION_VALUE);
    TENGINE_RETURN_IF_ERROR(check_ranks(node));
    struct attention_form form = {.batch = query->dims[0], .tokens_first = query->dim_num == 3};
    int64_t key_depth = 0;
    TENGINE_RETURN_IF_ERROR(form.tokens_first ? read_tokens_first(node, &form, &key_depth)
                                              : read_heads_first(node, &form, &key_depth));
    if (key_depth != form.depth)
        return fail_node(node, TENGINE_EINVAL,
                         "heads of the query have %lld elements, those of the keys %lld",
                         (long long)form.depth, (long long)key_depth);
    if (form.key_heads == 0 || form.heads % form.key_heads != 0)
        return fail_node(node, TENGINE_EINVAL,
                         "%lld heads of the query do not divide into %lld of the keys",
                         (long long)form.heads, (long long)form.key_heads);
    const int values = value->dims[form.tokens_first ? 1 : 2];
    if (values != form.fresh)
        return fail_node(node, TENGINE_EINVAL, "there are %lld keys and %d values",
                         (long long)form.fresh, values);
    TENGINE_RETURN_IF_ERROR(read_past(node, &form));
    *out_form = form;
    return TENGINE_OK;
}

// ---- what else is refused ----

static int check_types(const struct node* node)
{
    static const int pairs[][2] = {{ATTENTION_QUERY, ATTENTION_KEY},
                                   {ATTENTION_QUERY, ATTENTION_PAST_KEY},
                                   {ATTENTION_VALUE, ATTENTION_PAST_VALUE}};
    TENGINE_RETURN_IF_ERROR(require_type(node, ATTENTION_QUERY, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_type(node, ATTENTION_VALUE, TYPES_FLOAT));
    TENGINE_RETURN_IF_ERROR(require_type(node, ATTENTION_MASK, TYPES_NUMBER | TYPE_BIT(BOOL)));
    TENGINE_RETURN_IF_ERROR(require_type(node, ATTENTION_LENGTHS, TYPE_BIT(INT64)));
    for (int i = 0; i < 3; ++i) {
        const struct tensor* first = get_ir_node_input(node, pairs[i][0]);
        TENGINE_RETURN_IF_ERROR(require_type(node, pairs[i][1], UINT32_C(1) << first->data_type));
    }
    const int precision = param_of(node)->softmax_precision;
    const int type = get_data_type_of_onnx(precision);
    if (precision == 0 || (type >= 0 && (TYPES_FLOAT >> type & 1))) return TENGINE_OK;
    return fail_node(node, TENGINE_EDTYPE, "softmax_precision is %d, expected a float type",
                     precision);
}

// A mask broadcasts to batch, heads, tokens and keys, aligned at the last dimension. Keys beyond
// its end are masked.
static int check_mask(const struct node* node, const struct attention_form* form)
{
    const struct tensor* mask = get_ir_node_input(node, ATTENTION_MASK);
    if (!mask) return TENGINE_OK;
    const int64_t keys = form->past + form->fresh;
    const int64_t wanted[] = {form->batch, form->heads, form->tokens};
    bool fits = mask->dim_num >= 1 && mask->dim_num <= 4 && mask->dims[mask->dim_num - 1] <= keys;
    for (int i = 0; fits && i < mask->dim_num - 1; ++i)
        fits = mask->dims[i] == 1 || mask->dims[i] == wanted[4 - mask->dim_num + i];
    if (fits) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "mask '%s' of rank %d and %lld values does not broadcast to %lld x %lld x "
                     "%lld x %lld",
                     mask->name, mask->dim_num, (long long)mask->elem_num, (long long)form->batch,
                     (long long)form->heads, (long long)form->tokens, (long long)keys);
}

static int check_lengths(const struct node* node, const struct attention_form* form)
{
    const struct tensor* lengths = get_ir_node_input(node, ATTENTION_LENGTHS);
    if (!lengths || (lengths->dim_num == 1 && lengths->elem_num == form->batch)) return TENGINE_OK;
    return fail_node(node, TENGINE_EINVAL,
                     "nonpad_kv_seqlen '%s' has rank %d and %lld values, expected a list of %lld",
                     lengths->name, lengths->dim_num, (long long)lengths->elem_num,
                     (long long)form->batch);
}

static int infer_attention(struct node* node)
{
    struct attention_form form;
    TENGINE_RETURN_IF_ERROR(check_types(node));
    TENGINE_RETURN_IF_ERROR(read_attention(node, &form));
    TENGINE_RETURN_IF_ERROR(check_mask(node, &form));
    TENGINE_RETURN_IF_ERROR(check_lengths(node, &form));
    const int type = get_ir_node_input(node, ATTENTION_QUERY)->data_type;
    const int value_type = get_ir_node_input(node, ATTENTION_VALUE)->data_type;
    const int64_t keys = form.past + form.fresh;
    const int64_t flat[] = {form.batch, form.tokens, form.heads * form.width};
    const int64_t result[] = {form.batch, form.heads, form.tokens, form.width};
    const int64_t key[] = {form.batch, form.key_heads, keys, form.depth};
    const int64_t value[] = {form.batch, form.key_heads, keys, form.width};
    const int64_t scores[] = {form.batch, form.heads, form.tokens, keys};
    TENGINE_RETURN_IF_ERROR(set_node_output(node, ATTENTION_PRESENT_KEY, type, key, 4));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, ATTENTION_PRESENT_VALUE, value_type, value, 4));
    TENGINE_RETURN_IF_ERROR(set_node_output(node, ATTENTION_SCORES, type, scores, 4));
    return form.tokens_first ? set_node_output(node, ATTENTION_RESULT, type, flat, 3)
                             : set_node_output(node, ATTENTION_RESULT, type, result, 4);
}

// Counts both products, of all tokens and all keys.
static int64_t count_macs(const struct node* node)
{
    struct attention_form form;
    if (read_attention(node, &form) < 0) return 0;
    const int64_t scores =
        multiply_macs(multiply_macs(form.batch * form.heads, form.tokens), form.past + form.fresh);
    return multiply_macs(scores, form.depth + form.width);
}

static const ir_method_t* const rows[] = {
    OP_ROW(Attention, .version = 23, .min_input = 3, .max_input = ATTENTION_INPUTS, .min_output = 1,
           .max_output = ATTENTION_OUTPUTS, OP_FIELDS(attention_fields),
           .param_size = sizeof(struct attention_param), .infer_shape = infer_attention,
           .types = "0 0 2 0", .macs = count_macs),
};

OPERATOR_TABLE(attention_ops, rows);

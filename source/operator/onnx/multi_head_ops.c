// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention, Attention and QAttention of ONNX Runtime, lowered to Attention of ONNX. Their
// masks are finite numbers that are added to scores; Attention and QAttention compute queries, keys
// and values themselves, and have both parts of the cache in one tensor.
#include "operator/onnx/multi_head.h"
#include "operator/row.h"
#include "operator/shaped.h"

#define FIELD(kind, member, ...) OP_FIELD(struct multi_head_param, kind, member, __VA_ARGS__)
#define SHARED_FIELDS                                                                            \
    FIELD(INT, num_heads, .required = 1, .minimum = 1, .maximum = INT32_MAX),                    \
        FIELD(INT, unidirectional, .number = 0, .maximum = 1), FIELD(FLOAT, scale, .number = 0), \
        FIELD(FLOAT, mask_filter_value, .number = -10000)

static const op_field_t multi_head_fields[] = {SHARED_FIELDS};
static const op_field_t attention_fields[] = {
    SHARED_FIELDS,
    FIELD(INTS, qkv_hidden_sizes, .minimum = 0, .maximum = INT32_MAX),
    FIELD(INT, do_rotary, .number = 0),
    FIELD(INT, rotary_embedding_dim, .number = 0),
    FIELD(INT, past_present_share_buffer, .number = 0),
};

static int refuse_input(emitter_t* emit, int index, const char* name)
{
    if (!get_ir_node_input(emit->origin, index)) return TENGINE_OK;
    return fail_emitting(emit, TENGINE_ENOTSUP, "input %d, %s, is not supported", index, name);
}

// ---- MultiHeadAttention ----

enum multi_head_input
{
    MULTI_HEAD_QUERY,
    MULTI_HEAD_KEY,
    MULTI_HEAD_VALUE,
    MULTI_HEAD_BIAS,
    MULTI_HEAD_MASK,
    MULTI_HEAD_SCORES,
    MULTI_HEAD_PAST_KEY,
    MULTI_HEAD_PAST_VALUE,
    MULTI_HEAD_PAST_LENGTH,
    MULTI_HEAD_INDIRECTION,
    MULTI_HEAD_INPUTS
};

// Emits (B, S, N, parts, H) as `parts` tensors (B, S, N H).
static void emit_unpacked(emitter_t* emit, struct tensor* packed, int parts,
                          struct tensor* out_parts[])
{
    const int64_t dims[] = {packed->dims[0], packed->dims[1],
                            (int64_t)packed->dims[2] * packed->dims[4]};
    begin_op(emit, "Split", 1, packed);
    emit_attr_int(emit, "axis", 3);
    emit_attr_int(emit, "num_outputs", parts);
    end_op_with(emit, out_parts, parts);
    for (int i = 0; i < parts; ++i)
        out_parts[i] = emit_reshape(emit, out_parts[i], dims, 3);
}

static bool is_packed(const struct tensor* tensor, int parts)
{
    return tensor && tensor->dim_num == 5 && tensor->dims[3] == parts;
}

// Reads query, key and value as tensors of rank three; key and value may have rank four, with heads
// before tokens.
static void read_operands(emitter_t* emit, struct operands* operands)
{
    const struct node* node = emit->origin;
    operands->query = get_ir_node_input(node, MULTI_HEAD_QUERY);
    operands->key = get_ir_node_input(node, MULTI_HEAD_KEY);
    operands->value = get_ir_node_input(node, MULTI_HEAD_VALUE);
    operands->past_key = get_ir_node_input(node, MULTI_HEAD_PAST_KEY);
    operands->past_value = get_ir_node_input(node, MULTI_HEAD_PAST_VALUE);
    struct tensor* parts[3];
    if (is_packed(operands->query, 3)) {
        emit_unpacked(emit, operands->query, 3, parts);
        operands->query = parts[0];
        operands->key = parts[1];
        operands->value = parts[2];
    } else if (is_packed(operands->key, 2)) {
        emit_unpacked(emit, operands->key, 2, parts);
        operands->key = parts[0];
        operands->value = parts[1];
    }
    if (emit->status < 0) return;
    if (!operands->key || !operands->value || operands->query->dim_num != 3 ||
        operands->key->dim_num != operands->value->dim_num ||
        (operands->key->dim_num != 3 && operands->key->dim_num != 4))
        fail_emitting(emit, TENGINE_EINVAL,
                      "ranks of query, key and value are %d, %d and %d, expected 3, 3 and 3, or 4 "
                      "of both key and value, or packed ones of rank 5",
                      operands->query->dim_num, operands->key ? operands->key->dim_num : 0,
                      operands->value ? operands->value->dim_num : 0);
}

static void emit_multi_head_mask(emitter_t* emit, struct operands* operands)
{
    if (emit->status < 0) return;
    const struct tensor* query = operands->query;
    const int axis = operands->key->dim_num == 4 ? 2 : 1;
    const int64_t past =
        operands->past_key && operands->past_key->dim_num == 4 ? operands->past_key->dims[2] : 0;
    const int64_t sizes[] = {query->dims[0], query->dims[1], past + operands->key->dims[axis]};
    operands->mask = emit_sum(emit, emit_mask(emit, MULTI_HEAD_MASK, false, sizes, query),
                              get_ir_node_input(emit->origin, MULTI_HEAD_SCORES));
}

static int lower_multi_head(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct operands operands = {0};
    struct tensor* results[MULTI_HEAD_OUTPUTS] = {NULL};
    if (refuse_input(&emit, MULTI_HEAD_PAST_LENGTH, "past_sequence_length") < 0 ||
        refuse_input(&emit, MULTI_HEAD_INDIRECTION, "cache_indirection") < 0)
        return emit.status;
    // ONNX Runtime writes the lowest finite number where ONNX's Attention writes -inf.
    if (get_ir_node_output(node, MULTI_HEAD_QK) && get_multi_head_param(&emit)->unidirectional)
        return fail_emitting(&emit, TENGINE_ENOTSUP,
                             "output 3, qk, with unidirectional 1 is not supported");
    read_operands(&emit, &operands);
    add_operand_bias(&emit, get_ir_node_input(node, MULTI_HEAD_BIAS), &operands);
    emit_multi_head_mask(&emit, &operands);
    const bool has_heads = emit.status == TENGINE_OK && operands.key->dim_num == 4;
    if (has_heads) operands.query = emit_heads(&emit, operands.query);
    emit_attention(&emit, &operands, count_attention_results(&emit, true), results);
    if (has_heads) results[0] = emit_tokens(&emit, results[0]);
    return finish_emitting_list(&emit, results, MULTI_HEAD_OUTPUTS);
}

// ---- Attention, QAttention ----

// Splits the columns of one product into queries, keys and values.
static void split_columns(emitter_t* emit, struct tensor* product, struct operands* operands)
{
    const struct op_ints* given = &get_multi_head_param(emit)->qkv_hidden_sizes;
    if (emit->status < 0) return;
    const int64_t third = product->dims[product->dim_num - 1] / 3;
    const int64_t equal[] = {third, third, third};
    struct tensor* parts[3];
    if (given->num != 0 && given->num != 3) {
        fail_emitting(emit, TENGINE_EINVAL, "qkv_hidden_sizes has %d values, expected 3",
                      given->num);
        return;
    }
    begin_op(emit, "Split", 2, product, emit_ints(emit, given->num ? given->values : equal, 3));
    emit_attr_int(emit, "axis", -1);
    end_op_with(emit, parts, 3);
    operands->query = parts[0];
    operands->key = parts[1];
    operands->value = parts[2];
}

// The past is (2, B, N, P, H): keys, then values.
static void split_past(emitter_t* emit, struct tensor* past, struct operands* operands)
{
    if (!past || emit->status < 0) return;
    if (past->dim_num != 5 || past->dims[0] != 2) {
        fail_emitting(emit, TENGINE_EINVAL,
                      "past '%s' has rank %d and %lld values, expected 2 x "
                      "batch x heads x keys x elements",
                      past->name, past->dim_num, (long long)past->elem_num);
        return;
    }
    const int64_t dims[] = {past->dims[1], past->dims[2], past->dims[3], past->dims[4]};
    struct tensor* halves[2];
    begin_op(emit, "Split", 1, past);
    emit_attr_int(emit, "num_outputs", 2);
    end_op_with(emit, halves, 2);
    operands->past_key = emit_reshape(emit, halves[0], dims, 4);
    operands->past_value = emit_reshape(emit, halves[1], dims, 4);
}

static struct tensor* emit_present(emitter_t* emit, struct tensor* const results[])
{
    static const int64_t first[] = {0};
    struct tensor* key = emit_op(emit, "Unsqueeze", 2, results[1], emit_ints(emit, first, 1));
    struct tensor* value = emit_op(emit, "Unsqueeze", 2, results[2], emit_ints(emit, first, 1));
    begin_op(emit, "Concat", 2, key, value);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

// Emits everything after the product. mask, past and scores are the numbers of these inputs.
static int finish_projected(emitter_t* emit, struct tensor* product, int mask, int past, int scores)
{
    struct operands operands = {0};
    struct tensor* results[MULTI_HEAD_OUTPUTS] = {NULL};
    struct node* node = emit->origin;
    struct tensor* cache = get_ir_node_input(node, past);
    split_columns(emit, product, &operands);
    split_past(emit, cache, &operands);
    if (emit->status == TENGINE_OK) {
        const int64_t earlier = cache ? cache->dims[3] : 0;
        const int64_t sizes[] = {product->dims[0], product->dims[1], product->dims[1] + earlier};
        operands.mask = emit_sum(emit, emit_mask(emit, mask, true, sizes, product),
                                 scores < 0 ? NULL : get_ir_node_input(node, scores));
    }
    const bool has_present = get_ir_node_output(node, 1) != NULL;
    emit_attention(emit, &operands, has_present ? MULTI_HEAD_QK : 1, results);
    return finish_emitting(emit, 2, results[0], has_present ? emit_present(emit, results) : NULL);
}

static int check_projected(emitter_t* emit)
{
    const struct multi_head_param* param = get_multi_head_param(emit);
    const struct tensor* input = get_ir_node_input(emit->origin, 0);
    if (input->dim_num != 3)
        return fail_emitting(emit, TENGINE_EINVAL, "input '%s' has rank %d, expected 3",
                             input->name, input->dim_num);
    if (param->do_rotary != 0 || param->rotary_embedding_dim != 0 ||
        param->past_present_share_buffer != 0)
        return fail_emitting(emit, TENGINE_ENOTSUP,
                             "do_rotary %d, rotary_embedding_dim %d, past_present_share_buffer %d: "
                             "expected 0",
                             param->do_rotary, param->rotary_embedding_dim,
                             param->past_present_share_buffer);
    return TENGINE_OK;
}

// Inputs: input, weights, bias, mask_index, past, attention_bias, past_sequence_length.
static int lower_attention(struct graph* graph, struct node* node)
{
    struct tensor* bias = get_ir_node_input(node, 2);
    emitter_t emit = start_emitting(graph, node);
    TENGINE_RETURN_IF_ERROR(check_projected(&emit));
    TENGINE_RETURN_IF_ERROR(refuse_input(&emit, 6, "past_sequence_length"));
    struct tensor* product =
        emit_op(&emit, "MatMul", 2, get_ir_node_input(node, 0), get_ir_node_input(node, 1));
    if (bias) product = emit_op(&emit, "Add", 2, product, bias);
    return finish_projected(&emit, product, 3, 4, 5);
}

// Inputs: input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point,
// weight_zero_point, past.
static int lower_qattention(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    TENGINE_RETURN_IF_ERROR(check_projected(&emit));
    struct tensor* product =
        emit_op(&emit, "com.microsoft.MatMulIntegerToFloat", 7, get_ir_node_input(node, 0),
                get_ir_node_input(node, 1), get_ir_node_input(node, 3), get_ir_node_input(node, 4),
                get_ir_node_input(node, 6), get_ir_node_input(node, 7), get_ir_node_input(node, 2));
    return finish_projected(&emit, product, 5, 8, -1);
}

#define LOWERED(least, most, most_outputs, fields, lower_function)                                \
    .version = 1, .until = 1, .min_input = least, .max_input = most, .min_output = 1,             \
    .max_output = most_outputs, OP_FIELDS(fields), .param_size = sizeof(struct multi_head_param), \
    .traits = OP_LEGACY | OP_SHAPED, .lower = lower_function

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(Attention, LOWERED(2, 7, 2, attention_fields, lower_attention)),
    MICROSOFT_ROW(MultiHeadAttention,
                  LOWERED(1, MULTI_HEAD_INPUTS, 4, multi_head_fields, lower_multi_head)),
    MICROSOFT_ROW(QAttention, LOWERED(5, 9, 2, attention_fields, lower_qattention)),
};

OPERATOR_TABLE(multi_head_ops, rows);

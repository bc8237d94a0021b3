// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention, DecoderMaskedMultiHeadAttention, Attention and QAttention of ONNX Runtime,
// lowered to Attention of ONNX. Their masks are finite numbers that are added to scores; Attention
// and QAttention compute queries, keys and values themselves, and have both halves of the cache in
// one tensor.
#include <stdbool.h>

#include "operator/shaped.h"
#include "operator/tengine/emit.h"

struct multi_head_param
{
    int num_heads;
    int unidirectional;
    float scale;
    float mask_filter_value;
    struct op_ints qkv_hidden_sizes;  // this and the rest: of Attention
    int do_rotary;
    int rotary_embedding_dim;
    int past_present_share_buffer;
    int output_qk;  // of DecoderMaskedMultiHeadAttention
};

#define FIELD(kind, member, ...) OP_FIELD(struct multi_head_param, kind, member, __VA_ARGS__)
#define SHARED_FIELDS                                                                            \
    FIELD(INT, num_heads, .required = 1, .minimum = 1, .maximum = INT32_MAX),                    \
        FIELD(INT, unidirectional, .number = 0, .maximum = 1), FIELD(FLOAT, scale, .number = 0), \
        FIELD(FLOAT, mask_filter_value, .number = -10000)

static const op_field_t multi_head_fields[] = {SHARED_FIELDS};
static const op_field_t decoder_fields[] = {
    FIELD(INT, num_heads, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    FIELD(FLOAT, scale, .number = 0),
    FIELD(FLOAT, mask_filter_value, .number = -10000),
    FIELD(INT, past_present_share_buffer, .number = 0),
    FIELD(INT, output_qk, .number = 0),
};
static const op_field_t attention_fields[] = {
    SHARED_FIELDS,
    FIELD(INTS, qkv_hidden_sizes, .minimum = 0, .maximum = INT32_MAX),
    FIELD(INT, do_rotary, .number = 0),
    FIELD(INT, rotary_embedding_dim, .number = 0),
    FIELD(INT, past_present_share_buffer, .number = 0),
};

static const struct multi_head_param* param_of(const emitter_t* emit)
{
    return emit->origin->op.param_mem;
}

// ---- masks ----

// Of a boolean `keep`, which has as many axes as the scores: 0 or the number for what is masked.
static struct tensor* emit_filter(emitter_t* emit, struct tensor* keep, const struct tensor* like)
{
    return emit_op(emit, "Where", 3, keep, emit_number(emit, 0, like),
                   emit_number(emit, param_of(emit)->mask_filter_value, like));
}

// Whether key 0 .. keys - 1 is before (or not before) the batch's position.
static struct tensor* emit_positions(emitter_t* emit, struct tensor* limits, int64_t batch,
                                     int64_t keys, const char* comparison)
{
    const int64_t dims[] = {batch, 1, 1, 1};
    struct tensor* range =
        emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, keys), emit_int(emit, 1));
    struct tensor* wide = emit_cast(emit, limits, TENGINE_DT_INT64);
    return emit_op(emit, comparison, 2, range, emit_reshape(emit, wide, dims, 4));
}

// (B): where keys end. (2 B): also where they begin.
static struct tensor* emit_limits(emitter_t* emit, struct tensor* mask, int64_t batch, int64_t keys)
{
    struct tensor* parts[2] = {mask, NULL};
    if (mask->elem_num != batch) {
        begin_op(emit, "Split", 1, mask);
        emit_attr_int(emit, "num_outputs", 2);
        end_op_with(emit, parts, 2);
    }
    struct tensor* keep = emit_positions(emit, parts[0], batch, keys, "Less");
    if (!parts[1]) return keep;
    return emit_op(emit, "And", 2, keep,
                   emit_positions(emit, parts[1], batch, keys, "GreaterOrEqual"));
}

// What is added to the scores for a mask of int32: (B), (2 B) where `takes_begins`, (B, T) or
// (B, S, T). NULL without one, and after a failure.
static struct tensor* emit_mask(emitter_t* emit, int index, bool takes_begins,
                                const int64_t sizes[3], const struct tensor* like)
{
    struct tensor* mask = get_ir_node_input(emit->origin, index);
    const int64_t batch = sizes[0], tokens = sizes[1], keys = sizes[2];
    if (!mask || emit->status < 0) return NULL;
    if (mask->dim_num == 1 && batch > 0 &&
        (mask->elem_num == batch || (takes_begins && mask->elem_num == 2 * batch)))
        return emit_filter(emit, emit_limits(emit, mask, batch, keys), like);
    const bool is_shared = mask->dim_num == 2;
    if ((!is_shared && mask->dim_num != 3) || mask->dims[0] != batch ||
        mask->dims[mask->dim_num - 1] != keys || (!is_shared && mask->dims[1] != tokens)) {
        fail_emitting(
            emit, TENGINE_ENOTSUP,
            "mask '%s' of rank %d and %lld values is not supported: expected %lld, %lld x "
            "%lld or %lld x %lld x %lld",
            mask->name, mask->dim_num, (long long)mask->elem_num, (long long)batch,
            (long long)batch, (long long)keys, (long long)batch, (long long)tokens,
            (long long)keys);
        return NULL;
    }
    const int64_t dims[] = {batch, 1, is_shared ? 1 : tokens, keys};
    struct tensor* keep = emit_cast(emit, mask, TENGINE_DT_BOOL);
    return emit_filter(emit, emit_reshape(emit, keep, dims, 4), like);
}

// The mask and the bias of scores, either of which may be absent.
static struct tensor* emit_sum(emitter_t* emit, struct tensor* mask, struct tensor* bias)
{
    return mask && bias ? emit_op(emit, "Add", 2, mask, bias) : mask ? mask : bias;
}

// ---- the attention itself ----

struct operands
{
    struct tensor *query, *key, *value, *mask, *past_key, *past_value;
    struct tensor* lengths;  // of the keys that are there, for each batch; or NULL
};

// Its result, and the present where it is wanted.
static void emit_attention(emitter_t* emit, const struct operands* operands, bool has_present,
                           struct tensor* out_results[3])
{
    const struct multi_head_param* param = param_of(emit);
    out_results[1] = out_results[2] = NULL;
    begin_op(emit, "Attention", operands->lengths ? 7 : 6, operands->query, operands->key,
             operands->value, operands->mask, operands->past_key, operands->past_value,
             operands->lengths);
    if (emit->status == TENGINE_OK && operands->query->dim_num == 3) {
        emit_attr_int(emit, "q_num_heads", param->num_heads);
        emit_attr_int(emit, "kv_num_heads", param->num_heads);
    }
    emit_attr_int(emit, "is_causal", param->unidirectional);
    emit_attr_float(emit, "scale", param->scale);
    end_op_with(emit, out_results, has_present ? 3 : 1);
}

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

// (B, S, N, parts, H) as `parts` tensors (B, S, N H).
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

// Query, key and value as tensors of rank three; key and value may have four, head by head.
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

// The biases of queries, keys and values lie in one list.
static void add_bias(emitter_t* emit, struct tensor* bias, struct operands* operands)
{
    if (!bias || emit->status < 0) return;
    const bool has_keys = operands->key->dim_num == 3;
    const int64_t hidden = operands->query->dims[2];
    const int64_t sizes[] = {hidden, has_keys ? operands->key->dims[2] : hidden,
                             has_keys ? operands->value->dims[2] : bias->elem_num - 2 * hidden};
    struct tensor* parts[3];
    begin_op(emit, "Split", 2, bias, emit_ints(emit, sizes, 3));
    end_op_with(emit, parts, 3);
    operands->query = emit_op(emit, "Add", 2, operands->query, parts[0]);
    if (!has_keys) return;
    operands->key = emit_op(emit, "Add", 2, operands->key, parts[1]);
    operands->value = emit_op(emit, "Add", 2, operands->value, parts[2]);
}

// (B, S, N H) as (B, N, S, H), and back.
static struct tensor* emit_heads(emitter_t* emit, struct tensor* tokens)
{
    static const int64_t order[] = {0, 2, 1, 3};
    const int heads = param_of(emit)->num_heads;
    if (emit->status < 0) return NULL;
    const int64_t dims[] = {tokens->dims[0], tokens->dims[1], heads, tokens->dims[2] / heads};
    return emit_transpose(emit, emit_reshape(emit, tokens, dims, 4), order, 4);
}

static struct tensor* emit_tokens(emitter_t* emit, struct tensor* heads)
{
    static const int64_t order[] = {0, 2, 1, 3};
    if (emit->status < 0) return NULL;
    const int64_t dims[] = {heads->dims[0], heads->dims[2],
                            (int64_t)heads->dims[1] * heads->dims[3]};
    return emit_reshape(emit, emit_transpose(emit, heads, order, 4), dims, 3);
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
    struct operands operands = {NULL};
    struct tensor* results[3] = {NULL};
    if (refuse_input(&emit, MULTI_HEAD_PAST_LENGTH, "past_sequence_length") < 0 ||
        refuse_input(&emit, MULTI_HEAD_INDIRECTION, "cache_indirection") < 0)
        return emit.status;
    if (get_ir_node_output(node, 3))
        return fail_emitting(&emit, TENGINE_ENOTSUP, "output 3, qk, is not supported");
    read_operands(&emit, &operands);
    add_bias(&emit, get_ir_node_input(node, MULTI_HEAD_BIAS), &operands);
    emit_multi_head_mask(&emit, &operands);
    const bool has_heads = emit.status == TENGINE_OK && operands.key->dim_num == 4;
    if (has_heads) operands.query = emit_heads(&emit, operands.query);
    emit_attention(&emit, &operands, get_ir_node_output(node, 1) || get_ir_node_output(node, 2),
                   results);
    if (has_heads) results[0] = emit_tokens(&emit, results[0]);
    return finish_emitting_list(&emit, results, 3);
}

// ---- DecoderMaskedMultiHeadAttention ----

enum decoder_input
{
    DECODER_QUERY,  // or all three in one
    DECODER_KEY,    // of one token; or, of cross attention, heads of all keys
    DECODER_VALUE,
    DECODER_MASK,
    DECODER_SCORES,
    DECODER_PAST_KEY,
    DECODER_PAST_VALUE,
    DECODER_PAST_LENGTH,
    DECODER_BEAM_WIDTH,  // says what DECODER_INDIRECTION is
    DECODER_INDIRECTION,
    DECODER_BIAS,
    DECODER_INPUTS
};

static void read_decoder_operands(emitter_t* emit, struct operands* operands)
{
    const struct node* node = emit->origin;
    operands->query = get_ir_node_input(node, DECODER_QUERY);
    operands->key = get_ir_node_input(node, DECODER_KEY);
    operands->value = get_ir_node_input(node, DECODER_VALUE);
    if (!operands->key && !operands->value && operands->query->dim_num == 3) {
        struct tensor* parts[3];
        begin_op(emit, "Split", 1, operands->query);
        emit_attr_int(emit, "axis", 2);
        emit_attr_int(emit, "num_outputs", 3);
        end_op_with(emit, parts, 3);
        operands->query = parts[0];
        operands->key = parts[1];
        operands->value = parts[2];
    }
    if (emit->status < 0) return;
    if (!operands->key || !operands->value || operands->query->dim_num != 3 ||
        operands->query->dims[1] != 1 || operands->key->dim_num != operands->value->dim_num ||
        (operands->key->dim_num != 3 && operands->key->dim_num != 4))
        fail_emitting(emit, TENGINE_EINVAL,
                      "ranks of query, key and value are %d, %d and %d, expected one token of rank "
                      "3, and 3 or 4 of both key and value",
                      operands->query->dim_num, operands->key ? operands->key->dim_num : 0,
                      operands->value ? operands->value->dim_num : 0);
    if (!get_ir_node_input(node, DECODER_PAST_KEY) != !get_ir_node_input(node, DECODER_PAST_VALUE))
        fail_emitting(emit, TENGINE_EINVAL, "past_key and past_value: one of them is missing");
}

// A mask tells itself how many keys it is for.
static void emit_decoder_mask(emitter_t* emit, struct operands* operands)
{
    const struct tensor* mask = get_ir_node_input(emit->origin, DECODER_MASK);
    if (emit->status < 0) return;
    const int64_t sizes[] = {operands->query->dims[0], 1,
                             mask && mask->dim_num > 0 ? mask->dims[mask->dim_num - 1] : 0};
    operands->mask = emit_sum(emit, emit_mask(emit, DECODER_MASK, false, sizes, operands->query),
                              get_ir_node_input(emit->origin, DECODER_SCORES));
}

// The past has room for the present: the token is written behind those that are there.
static void emit_shared_cache(emitter_t* emit, struct operands* operands)
{
    static const int64_t one[] = {1};
    const struct node* node = emit->origin;
    struct tensor* length = get_ir_node_input(node, DECODER_PAST_LENGTH);
    struct tensor* past_key = get_ir_node_input(node, DECODER_PAST_KEY);
    if (emit->status < 0) return;
    if (!length || length->elem_num != 1 || !past_key) {
        fail_emitting(emit, TENGINE_EINVAL,
                      "past_present_share_buffer needs past_key, past_value and "
                      "past_sequence_length, a number");
        return;
    }
    const int64_t batch = operands->query->dims[0];
    struct tensor* index = emit_reshape(emit, emit_cast(emit, length, TENGINE_DT_INT64), one, 1);
    index = emit_op(emit, "Expand", 2, index, emit_ints(emit, &batch, 1));
    operands->query = emit_heads(emit, operands->query);
    operands->key =
        emit_op(emit, "TensorScatter", 3, past_key, emit_heads(emit, operands->key), index);
    operands->value = emit_op(emit, "TensorScatter", 3, get_ir_node_input(node, DECODER_PAST_VALUE),
                              emit_heads(emit, operands->value), index);
    operands->lengths = emit_op(emit, "Add", 2, index, emit_int(emit, 1));
}

static int lower_decoder(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct operands operands = {NULL};
    struct tensor* results[3] = {NULL};
    if (refuse_input(&emit, DECODER_INDIRECTION, "cache_indirection") < 0) return emit.status;
    if (get_ir_node_output(node, 3))
        return fail_emitting(&emit, TENGINE_ENOTSUP, "output 3, qk, is not supported");
    read_decoder_operands(&emit, &operands);
    add_bias(&emit, get_ir_node_input(node, DECODER_BIAS), &operands);
    emit_decoder_mask(&emit, &operands);
    if (emit.status < 0) return emit.status;
    const bool is_cross = operands.key->dim_num == 4;
    const bool is_shared = !is_cross && param_of(&emit)->past_present_share_buffer != 0;
    const bool has_present = get_ir_node_output(node, 1) || get_ir_node_output(node, 2);
    if (is_cross && has_present)
        return fail_emitting(&emit, TENGINE_EINVAL, "cross attention has no present");
    if (is_cross) operands.query = emit_heads(&emit, operands.query);
    if (is_shared) emit_shared_cache(&emit, &operands);
    if (!is_cross && !is_shared) {
        operands.past_key = get_ir_node_input(node, DECODER_PAST_KEY);
        operands.past_value = get_ir_node_input(node, DECODER_PAST_VALUE);
    }
    emit_attention(&emit, &operands, has_present && !is_shared, results);
    if (is_cross || is_shared) results[0] = emit_tokens(&emit, results[0]);
    if (is_shared) {
        results[1] = operands.key;
        results[2] = operands.value;
    }
    return finish_emitting_list(&emit, results, 3);
}

// ---- Attention, QAttention ----

// Queries, keys and values, columns of one product.
static void split_columns(emitter_t* emit, struct tensor* product, struct operands* operands)
{
    const struct op_ints* given = &param_of(emit)->qkv_hidden_sizes;
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

// (2, B, N, P, H): keys, then values.
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

static struct tensor* emit_present(emitter_t* emit, struct tensor* const results[3])
{
    static const int64_t first[] = {0};
    struct tensor* key = emit_op(emit, "Unsqueeze", 2, results[1], emit_ints(emit, first, 1));
    struct tensor* value = emit_op(emit, "Unsqueeze", 2, results[2], emit_ints(emit, first, 1));
    begin_op(emit, "Concat", 2, key, value);
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

// From the product on. The inputs mask, past and scores are at these places.
static int finish_projected(emitter_t* emit, struct tensor* product, int mask, int past, int scores)
{
    struct operands operands = {NULL};
    struct tensor* results[3] = {NULL};
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
    emit_attention(emit, &operands, has_present, results);
    return finish_emitting(emit, 2, results[0], has_present ? emit_present(emit, results) : NULL);
}

static int check_projected(emitter_t* emit)
{
    const struct multi_head_param* param = param_of(emit);
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

// input, weights, bias, mask_index, past, attention_bias, past_sequence_length.
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

// input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point,
// past.
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
    MICROSOFT_ROW(DecoderMaskedMultiHeadAttention,
                  LOWERED(1, DECODER_INPUTS, 4, decoder_fields, lower_decoder)),
    MICROSOFT_ROW(MultiHeadAttention,
                  LOWERED(1, MULTI_HEAD_INPUTS, 4, multi_head_fields, lower_multi_head)),
    MICROSOFT_ROW(QAttention, LOWERED(5, 9, 2, attention_fields, lower_qattention)),
};

OPERATOR_TABLE(multi_head_ops, rows);

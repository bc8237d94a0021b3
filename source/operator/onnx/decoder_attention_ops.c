// SPDX-License-Identifier: Apache-2.0
// DecoderMaskedMultiHeadAttention of ONNX Runtime, lowered to Attention of ONNX: one token attends
// to those in a cache, which may differ between beams, or to the keys of an encoder.
#include "operator/onnx/multi_head.h"
#include "operator/row.h"
#include "operator/shaped.h"

#define FIELD(kind, member, ...) OP_FIELD(struct multi_head_param, kind, member, __VA_ARGS__)

static const op_field_t decoder_fields[] = {
    FIELD(INT, num_heads, .required = 1, .minimum = 1, .maximum = INT32_MAX),
    FIELD(FLOAT, scale, .number = 0),
    FIELD(FLOAT, mask_filter_value, .number = -10000),
    FIELD(INT, past_present_share_buffer, .number = 0),
    FIELD(INT, output_qk, .number = 0),
};
enum decoder_input
{
    DECODER_QUERY,  // or query, key and value packed
    DECODER_KEY,    // of one token; for cross attention, heads of all keys
    DECODER_VALUE,
    DECODER_MASK,
    DECODER_SCORES,
    DECODER_PAST_KEY,
    DECODER_PAST_VALUE,
    DECODER_PAST_LENGTH,
    DECODER_BEAM_WIDTH,  // the number of beams in DECODER_INDIRECTION
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

// With beams, the bias has a row for each sequence, repeated for its beams.
static struct tensor* read_decoder_scores(emitter_t* emit, int64_t batch)
{
    struct tensor* scores = get_ir_node_input(emit->origin, DECODER_SCORES);
    const struct tensor* beams = get_ir_node_input(emit->origin, DECODER_INDIRECTION);
    if (emit->status < 0 || !scores || !beams || scores->dim_num == 0 || scores->dims[0] == 1)
        return scores;
    struct tensor* range =
        emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, batch), emit_int(emit, 1));
    return emit_op(emit, "Gather", 2, scores,
                   emit_op(emit, "Div", 2, range, emit_int(emit, beams->dims[1])));
}

// The size of the mask is the number of keys that it covers.
static void emit_decoder_mask(emitter_t* emit, struct operands* operands)
{
    const struct tensor* mask = get_ir_node_input(emit->origin, DECODER_MASK);
    if (emit->status < 0) return;
    const int64_t sizes[] = {operands->query->dims[0], 1,
                             mask && mask->dim_num > 0 ? mask->dims[mask->dim_num - 1] : 0};
    operands->mask = emit_sum(emit, emit_mask(emit, DECODER_MASK, false, sizes, operands->query),
                              read_decoder_scores(emit, sizes[0]));
}

// ---- beams ----

// cache_indirection has, for each sequence, beam and token of the past, the beam of the sequence
// whose cache has the keys and values.
static int check_beams(emitter_t* emit, int64_t batch)
{
    const struct node* node = emit->origin;
    const struct tensor* beams = get_ir_node_input(node, DECODER_INDIRECTION);
    const struct tensor* past = get_ir_node_input(node, DECODER_PAST_KEY);
    int64_t width = 1;
    int number = 0;
    TENGINE_RETURN_IF_ERROR(read_int_input(node, DECODER_BEAM_WIDTH, &width, 1, &number));
    if (!beams)
        return width == 1
                   ? TENGINE_OK
                   : fail_emitting(emit, TENGINE_EINVAL, "beam_width %lld needs cache_indirection",
                                   (long long)width);
    if (!get_multi_head_param(emit)->past_present_share_buffer || !past || past->dim_num != 4)
        return fail_emitting(emit, TENGINE_EINVAL,
                             "cache_indirection needs past_present_share_buffer and past_key");
    if (beams->dim_num == 3 && (int64_t)beams->dims[0] * beams->dims[1] == batch &&
        beams->dims[2] == past->dims[2] && (number == 0 || width == beams->dims[1]))
        return TENGINE_OK;
    return fail_emitting(emit, TENGINE_EINVAL,
                         "cache_indirection '%s' has rank %d and %lld values, expected sequences x "
                         "beam_width x %d for a batch of %lld",
                         beams->name, beams->dim_num, (long long)beams->elem_num, past->dims[2],
                         (long long)batch);
}

// Emits, for each batch and row of the cache, the batch that has it: another beam of the same
// sequence. The entries of the present token's row and of later rows are not read.
static struct tensor* emit_beams(emitter_t* emit, int64_t batch, struct tensor* length)
{
    struct tensor* beams = get_ir_node_input(emit->origin, DECODER_INDIRECTION);
    if (emit->status < 0) return NULL;
    const int64_t width = beams->dims[1], rows = beams->dims[2];
    const int64_t column[] = {batch, 1}, table[] = {batch, rows}, places[] = {batch, 1, rows, 1};
    struct tensor* step = emit_int(emit, 1);
    struct tensor* own = emit_reshape(
        emit, emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, batch), step), column, 2);
    struct tensor* first = emit_op(
        emit, "Mul", 2, emit_op(emit, "Div", 2, own, emit_int(emit, width)), emit_int(emit, width));
    struct tensor* given =
        emit_op(emit, "Add", 2, first,
                emit_reshape(emit, emit_cast(emit, beams, TENGINE_DT_INT64), table, 2));
    struct tensor* range = emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, rows), step);
    struct tensor* is_past = emit_op(emit, "Less", 2, range, length);
    return emit_reshape(emit, emit_op(emit, "Where", 3, is_past, given, own), places, 4);
}

// Emits the cache as each beam sees it.
static struct tensor* emit_seen(emitter_t* emit, struct tensor* cache, struct tensor* places)
{
    if (emit->status < 0 || !places) return cache;
    int64_t dims[4];
    for (int i = 0; i < 4; ++i)
        dims[i] = cache->dim_num == 4 ? cache->dims[i] : 0;
    begin_op(emit, "GatherElements", 2, cache,
             emit_op(emit, "Expand", 2, places, emit_ints(emit, dims, 4)));
    emit_attr_int(emit, "axis", 0);
    return end_op(emit);
}

// ---- the cache that past and present share ----

// Writes the token behind those in the cache. *out_present: the cache with it; returns the tensor
// that is attended to.
static struct tensor* emit_written(emitter_t* emit, int past_index, struct tensor* token,
                                   struct tensor* index, struct tensor* places,
                                   struct tensor** out_present)
{
    struct tensor* past = get_ir_node_input(emit->origin, past_index);
    struct tensor* heads = emit_heads(emit, token);
    *out_present = emit_op(emit, "TensorScatter", 3, past, heads, index);
    if (!places) return *out_present;
    return emit_op(emit, "TensorScatter", 3, emit_seen(emit, past, places), heads, index);
}

// The past has room for the present, which becomes results 1 and 2. Returns the number of keys.
static struct tensor* emit_shared_cache(emitter_t* emit, struct operands* operands,
                                        struct tensor* results[MULTI_HEAD_OUTPUTS])
{
    static const int64_t one[] = {1};
    const struct node* node = emit->origin;
    struct tensor* length = get_ir_node_input(node, DECODER_PAST_LENGTH);
    if (emit->status < 0) return NULL;
    if (!length || length->elem_num != 1 || !get_ir_node_input(node, DECODER_PAST_KEY)) {
        fail_emitting(emit, TENGINE_EINVAL,
                      "past_present_share_buffer needs past_key, past_value and "
                      "past_sequence_length, a number");
        return NULL;
    }
    const int64_t batch = operands->query->dims[0];
    length = emit_reshape(emit, emit_cast(emit, length, TENGINE_DT_INT64), one, 1);
    struct tensor* index = emit_op(emit, "Expand", 2, length, emit_ints(emit, &batch, 1));
    struct tensor* places =
        get_ir_node_input(node, DECODER_INDIRECTION) ? emit_beams(emit, batch, length) : NULL;
    operands->query = emit_heads(emit, operands->query);
    operands->key = emit_written(emit, DECODER_PAST_KEY, operands->key, index, places,
                                 &results[MULTI_HEAD_PRESENT_KEY]);
    operands->value = emit_written(emit, DECODER_PAST_VALUE, operands->value, index, places,
                                   &results[MULTI_HEAD_PRESENT_VALUE]);
    operands->lengths = emit_op(emit, "Add", 2, index, emit_int(emit, 1));
    return emit_op(emit, "Add", 2, length, emit_int(emit, 1));
}

// ---- the decoder ----

static int check_decoder(emitter_t* emit, const struct operands* operands)
{
    const struct node* node = emit->origin;
    const bool has_present = get_ir_node_output(node, MULTI_HEAD_PRESENT_KEY) ||
                             get_ir_node_output(node, MULTI_HEAD_PRESENT_VALUE);
    if (emit->status < 0) return emit->status;
    if (operands->key->dim_num == 4 && has_present)
        return fail_emitting(emit, TENGINE_EINVAL, "cross attention has no present");
    if (get_ir_node_output(node, MULTI_HEAD_QK) && get_multi_head_param(emit)->output_qk == 0)
        return fail_emitting(emit, TENGINE_EINVAL, "output 3 exists only with output_qk 1");
    return check_beams(emit, operands->query->dims[0]);
}

// The token attends to keys of its own model, with or without a growing past.
static int lower_growing(emitter_t* emit, struct operands* operands)
{
    struct tensor* results[MULTI_HEAD_OUTPUTS] = {NULL};
    operands->past_key = get_ir_node_input(emit->origin, DECODER_PAST_KEY);
    operands->past_value = get_ir_node_input(emit->origin, DECODER_PAST_VALUE);
    emit_attention(emit, operands, count_attention_results(emit, true), results);
    return finish_emitting_list(emit, results, MULTI_HEAD_OUTPUTS);
}

// Cross attention: the keys are those of an encoder.
static int lower_crossing(emitter_t* emit, struct operands* operands)
{
    struct tensor* results[MULTI_HEAD_OUTPUTS] = {NULL};
    operands->query = emit_heads(emit, operands->query);
    emit_attention(emit, operands, count_attention_results(emit, false), results);
    results[0] = emit_tokens(emit, results[0]);
    return finish_emitting_list(emit, results, MULTI_HEAD_OUTPUTS);
}

// Cuts the scores down to the keys in use, out of all that the cache has room for.
static struct tensor* emit_used_scores(emitter_t* emit, struct tensor* scores, struct tensor* keys)
{
    static const int64_t begin[] = {0}, axis[] = {3};
    if (!scores) return NULL;
    return emit_op(emit, "Slice", 4, scores, emit_ints(emit, begin, 1), keys,
                   emit_ints(emit, axis, 1));
}

static int lower_sharing(emitter_t* emit, struct operands* operands)
{
    struct tensor* results[MULTI_HEAD_OUTPUTS] = {NULL};
    struct tensor* made[MULTI_HEAD_OUTPUTS] = {NULL};
    struct tensor* keys = emit_shared_cache(emit, operands, results);
    emit_attention(emit, operands, count_attention_results(emit, false), made);
    results[MULTI_HEAD_RESULT] = emit_tokens(emit, made[MULTI_HEAD_RESULT]);
    results[MULTI_HEAD_QK] = emit_used_scores(emit, made[MULTI_HEAD_QK], keys);
    return finish_emitting_list(emit, results, MULTI_HEAD_OUTPUTS);
}

static int lower_decoder(struct graph* graph, struct node* node)
{
    emitter_t emit = start_emitting(graph, node);
    struct operands operands = {0};
    read_decoder_operands(&emit, &operands);
    TENGINE_RETURN_IF_ERROR(check_decoder(&emit, &operands));
    add_operand_bias(&emit, get_ir_node_input(node, DECODER_BIAS), &operands);
    emit_decoder_mask(&emit, &operands);
    if (emit.status < 0) return emit.status;
    if (operands.key->dim_num == 4) return lower_crossing(&emit, &operands);
    return get_multi_head_param(&emit)->past_present_share_buffer ? lower_sharing(&emit, &operands)
                                                                  : lower_growing(&emit, &operands);
}

static const ir_method_t* const rows[] = {
    MICROSOFT_ROW(DecoderMaskedMultiHeadAttention, .version = 1, .until = 1, .min_input = 1,
                  .max_input = DECODER_INPUTS, .min_output = 1, .max_output = MULTI_HEAD_OUTPUTS,
                  OP_FIELDS(decoder_fields), .param_size = sizeof(struct multi_head_param),
                  .traits = OP_LEGACY | OP_SHAPED, .lower = lower_decoder),
};

OPERATOR_TABLE(decoder_attention_ops, rows);

// SPDX-License-Identifier: Apache-2.0
// The contract is in multi_head.h.
#include "operator/onnx/multi_head.h"

#include "operator/onnx/attention_param.h"

// ---- masks ----

// Emits the addend for a boolean `keep`, which has the rank of the scores: 0, or the given number
// if masked.
static struct tensor* emit_filter(emitter_t* emit, struct tensor* keep, const struct tensor* like)
{
    return emit_op(emit, "Where", 3, keep, emit_number(emit, 0, like),
                   emit_number(emit, get_multi_head_param(emit)->mask_filter_value, like));
}

// Emits whether each of keys 0..keys-1 is before (or not before) the batch's position.
static struct tensor* emit_positions(emitter_t* emit, struct tensor* limits, int64_t batch,
                                     int64_t keys, const char* comparison)
{
    const int64_t dims[] = {batch, 1, 1, 1};
    struct tensor* range =
        emit_op(emit, "Range", 3, emit_int(emit, 0), emit_int(emit, keys), emit_int(emit, 1));
    struct tensor* wide = emit_cast(emit, limits, TENGINE_DT_INT64);
    return emit_op(emit, comparison, 2, range, emit_reshape(emit, wide, dims, 4));
}

// The mask is (B): where keys end; or (2 B): also where they begin.
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

struct tensor* emit_mask(emitter_t* emit, int index, bool takes_begins, const int64_t sizes[3],
                         const struct tensor* like)
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

struct tensor* emit_sum(emitter_t* emit, struct tensor* mask, struct tensor* bias)
{
    return mask && bias ? emit_op(emit, "Add", 2, mask, bias) : mask ? mask : bias;
}

// ---- operands ----

void add_operand_bias(emitter_t* emit, struct tensor* bias, struct operands* operands)
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

struct tensor* emit_heads(emitter_t* emit, struct tensor* tokens)
{
    static const int64_t order[] = {0, 2, 1, 3};
    const int heads = get_multi_head_param(emit)->num_heads;
    if (emit->status < 0) return NULL;
    const int64_t dims[] = {tokens->dims[0], tokens->dims[1], heads, tokens->dims[2] / heads};
    return emit_transpose(emit, emit_reshape(emit, tokens, dims, 4), order, 4);
}

struct tensor* emit_tokens(emitter_t* emit, struct tensor* heads)
{
    static const int64_t order[] = {0, 2, 1, 3};
    if (emit->status < 0) return NULL;
    const int64_t dims[] = {heads->dims[0], heads->dims[2],
                            (int64_t)heads->dims[1] * heads->dims[3]};
    return emit_reshape(emit, emit_transpose(emit, heads, order, 4), dims, 3);
}

// ---- the attention itself ----

void emit_attention(emitter_t* emit, const struct operands* operands, int result_num,
                    struct tensor* out_results[MULTI_HEAD_OUTPUTS])
{
    const struct multi_head_param* param = get_multi_head_param(emit);
    begin_op(emit, "Attention", operands->lengths ? 7 : 6, operands->query, operands->key,
             operands->value, operands->mask, operands->past_key, operands->past_value,
             operands->lengths);
    if (emit->status == TENGINE_OK && operands->query->dim_num == 3) {
        emit_attr_int(emit, "q_num_heads", param->num_heads);
        emit_attr_int(emit, "kv_num_heads", param->num_heads);
    }
    emit_attr_int(emit, "is_causal", param->unidirectional);
    emit_attr_float(emit, "scale", param->scale);
    if (result_num > MULTI_HEAD_QK) emit_attr_int(emit, "qk_matmul_output_mode", ATTENTION_MASKED);
    end_op_with(emit, out_results, result_num);
}

int count_attention_results(const emitter_t* emit, bool has_own_present)
{
    const struct node* node = emit->origin;
    if (get_ir_node_output(node, MULTI_HEAD_QK)) return MULTI_HEAD_OUTPUTS;
    const bool has_present = get_ir_node_output(node, MULTI_HEAD_PRESENT_KEY) ||
                             get_ir_node_output(node, MULTI_HEAD_PRESENT_VALUE);
    return has_own_present && has_present ? MULTI_HEAD_QK : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Parts of the attentions of ONNX Runtime that are lowered to Attention of ONNX, in
// multi_head_ops.c and decoder_attention_ops.c: operands, masks, the attention itself. All
// functions use an emitter (tengine/emit.h), and do nothing after a failure.
#pragma once

#include <stdbool.h>

#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

struct multi_head_param
{
    int num_heads;
    int unidirectional;
    float scale;
    float mask_filter_value;
    struct op_ints qkv_hidden_sizes;  // this and the following: Attention's
    int do_rotary;
    int rotary_embedding_dim;
    int past_present_share_buffer;
    int output_qk;  // DecoderMaskedMultiHeadAttention's
};

struct operands
{
    struct tensor *query, *key, *value, *mask, *past_key, *past_value;
    struct tensor* lengths;  // the number of valid keys of each batch; or NULL
};

enum multi_head_output
{
    MULTI_HEAD_RESULT,
    MULTI_HEAD_PRESENT_KEY,
    MULTI_HEAD_PRESENT_VALUE,
    MULTI_HEAD_QK,  // the scores before the softmax, with bias and mask
    MULTI_HEAD_OUTPUTS
};

static inline const struct multi_head_param* get_multi_head_param(const emitter_t* emit)
{
    return (const struct multi_head_param*)emit->origin->op.param_mem;
}

// Emits the tensor that is added to the scores for a mask of int32: (B), (2 B) if `takes_begins`,
// (B, T) or (B, S, T), for B, S, T of `sizes`. NULL without a mask, and after a failure.
struct tensor* emit_mask(emitter_t* emit, int index, bool takes_begins, const int64_t sizes[3],
                         const struct tensor* like);

// Emits the sum of the mask and the bias of scores; either may be absent.
struct tensor* emit_sum(emitter_t* emit, struct tensor* mask, struct tensor* bias);

// Adds to queries, keys and values their biases, which are in one list; NULL: none.
void add_operand_bias(emitter_t* emit, struct tensor* bias, struct operands* operands);

// Emit (B, S, N H) as (B, N, S, H), and back.
struct tensor* emit_heads(emitter_t* emit, struct tensor* tokens);
struct tensor* emit_tokens(emitter_t* emit, struct tensor* heads);

// Emits the attention and its first `result_num` results: the result itself, the present, the
// scores.
void emit_attention(emitter_t* emit, const struct operands* operands, int result_num,
                    struct tensor* out_results[MULTI_HEAD_OUTPUTS]);

// Returns the number of results that the node has; the present is the attention's or comes from
// another node.
int count_attention_results(const emitter_t* emit, bool has_own_present);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Parameters and inputs of Attention, and the meaning of a node (attention_ops.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct attention_param
{
    int is_causal;
    int q_num_heads;  // q_num_heads and kv_num_heads: for tensors of rank three
    int kv_num_heads;
    float scale;            // factor of scores; 0: 1 / sqrt(elements of a head)
    float softcap;          // 0: scores are not capped
    int softmax_precision;  // ONNX's number of a type, 0: the query's
    int qk_matmul_output_mode;
    int left_window_size;  // keys before and after its position that a query sees; -1: all
    int right_window_size;
};

enum attention_input
{
    ATTENTION_QUERY,
    ATTENTION_KEY,
    ATTENTION_VALUE,
    ATTENTION_MASK,
    ATTENTION_PAST_KEY,
    ATTENTION_PAST_VALUE,
    ATTENTION_LENGTHS,  // nonpad_kv_seqlen: keys of each batch that are not padding
    ATTENTION_INPUTS
};

enum attention_output
{
    ATTENTION_RESULT,
    ATTENTION_PRESENT_KEY,
    ATTENTION_PRESENT_VALUE,
    ATTENTION_SCORES,
    ATTENTION_OUTPUTS
};

// The meaning of the scores in output ATTENTION_SCORES.
enum attention_mode
{
    ATTENTION_RAW,
    ATTENTION_CAPPED,
    ATTENTION_MASKED,
    ATTENTION_NORMALIZED
};

struct attention_form
{
    int64_t batch, tokens, heads, key_heads;
    int64_t past, fresh;   // keys of the past; keys that come with the node
    int64_t depth, width;  // elements of a query and a key, and of a value
    bool tokens_first;  // (batch, tokens, heads, elements); else (batch, heads, tokens, elements)
};

// Reads the meaning of a node with inputs of known shapes. EINVAL, with the values: shapes and
// parameters contradict each other.
int read_attention(const struct node* node, struct attention_form* out_form);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Parameters and inputs of GroupQueryAttention (group_query_ops.c).
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct group_query_param
{
    int num_heads;     // heads of the query
    int kv_num_heads;  // those of keys and values; each serves num_heads / kv_num_heads of the
                       // query's
    float scale;       // that of scores; 0: 1 / sqrt(elements of a head)
    float softcap;     // 0: scores are not capped
    int do_rotary;
    int rotary_interleaved;
    int local_window_size;  // keys that a query sees, its own included; -1: all up to its own
    int smooth_softmax;     // adds a key with the score 0 and the value 0
    int causal;
    int qk_output;  // output 3: 1 scores, 2 their softmax
    // The next members are refused unless they have their defaults.
    char* k_quant_type;
    char* v_quant_type;
    int kv_cache_bit_width;
    int sliding_window_cache;
    float qk_norm_epsilon;  // for norm weights, which are refused
};

enum group_query_input
{
    GROUP_QUERY_QUERY,
    GROUP_QUERY_KEY,  // absent, as the value is, if the query has all three
    GROUP_QUERY_VALUE,
    GROUP_QUERY_PAST_KEY,
    GROUP_QUERY_PAST_VALUE,
    GROUP_QUERY_LAST_KEY,  // seqlens_k: the index of each batch's last key
    GROUP_QUERY_TOTAL,     // total_sequence_length: keys of the longest batch
    GROUP_QUERY_COS,
    GROUP_QUERY_SIN,
    GROUP_QUERY_POSITIONS,
    GROUP_QUERY_BIAS,  // added to the scores
    GROUP_QUERY_SINK,  // one more score for each head, of a key with the value 0
    GROUP_QUERY_REFUSED,
    GROUP_QUERY_INPUTS = 16
};

enum group_query_output
{
    GROUP_QUERY_RESULT,
    GROUP_QUERY_PRESENT_KEY,
    GROUP_QUERY_PRESENT_VALUE,
    GROUP_QUERY_SCORES,
    GROUP_QUERY_OUTPUTS
};

// Returns the elements of a head, for a node whose infer_shape has passed.
int get_group_query_depth(const struct node* node);

TENGINE_EXTERN_C_END

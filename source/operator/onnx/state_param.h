// SPDX-License-Identifier: Apache-2.0
// Parameters and inputs of the operators of state_ops.c, and the meaning of their nodes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct tensor_scatter_param
{
    int axis;
    char* mode;  // linear, circular
};

struct causal_conv_param
{
    char* activation;  // none, silu, swish
    int ndim;          // ONNX Runtime's: spatial dimensions
};

enum causal_conv_input
{
    CAUSAL_CONV_INPUT,
    CAUSAL_CONV_WEIGHT,
    CAUSAL_CONV_BIAS,
    CAUSAL_CONV_PAST,
    CAUSAL_CONV_INPUTS
};

struct linear_attention_param
{
    int q_num_heads;
    int kv_num_heads;
    float scale;        // factor of results; 0: 1 / sqrt(elements of a key)
    char* update_rule;  // linear, gated, delta, gated_delta
    int chunk_size;     // a hint for speed; results do not depend on it
};

enum linear_attention_input
{
    LINEAR_QUERY,
    LINEAR_KEY,
    LINEAR_VALUE,
    LINEAR_PAST,
    LINEAR_DECAY,
    LINEAR_BETA,
    LINEAR_INPUTS
};

struct linear_attention_form
{
    int64_t batch, tokens, heads, key_heads;
    int64_t depth, width;         // elements of a query and a key, and of a value
    bool has_decay, has_beta;     // depend on the update rule
    int64_t decay_num, beta_num;  // values for a token: for each head, each element of keys; or one
};

// Reads the meaning of a node with inputs of known shapes. EINVAL, with the values: shapes and
// parameters contradict each other.
int read_linear_attention(const struct node* node, struct linear_attention_form* out_form);

TENGINE_EXTERN_C_END

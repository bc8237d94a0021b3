// SPDX-License-Identifier: Apache-2.0
// The parameters of RotaryEmbedding, of ONNX and of ONNX Runtime, and the meaning of a node of
// either (rotary_ops.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct rotary_param
{
    int interleaved;
    int num_heads;
    int rotary_embedding_dim;
    float scale;  // this and the following: ONNX Runtime's
    int is_packed_batching;
};

struct rotary_form
{
    // numbers of the node's inputs; the last may be absent
    int cosine_input, sine_input, position_input;
    int batch, sequence, heads, head_size;
    int half;          // pairs of a head that are rotated
    bool heads_first;  // (batch, heads, sequence, size); else (batch, sequence, heads, size)
    // The positions of tokens select rows of cosines and sines; else these have a row for each
    // token: (batch, sequence, half).
    bool has_positions;
    bool is_offset;  // the position is one number, that of the first token of each sequence
};

// Reads the meaning of a node with inputs of known shapes. EINVAL, with the values: shapes and
// parameters contradict each other.
int read_rotary(const struct node* node, struct rotary_form* out_form);

TENGINE_EXTERN_C_END

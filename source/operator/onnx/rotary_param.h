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
    float scale;  // this and the next: ONNX Runtime's
    int is_packed_batching;
};

struct rotary_form
{
    int cosine_input, sine_input, position_input;  // the node's; the last may be absent
    int batch, sequence, heads, head_size;
    int half;          // pairs of a head that are rotated
    bool heads_first;  // (batch, heads, sequence, size); else (batch, sequence, heads, size)
    // Rows of cosines and sines are found by the positions of tokens; else they are those of the
    // tokens themselves, (batch, sequence, half).
    bool has_positions;
    bool is_offset;  // one position, that of the first token of each sequence
};

// The meaning of a node with inputs of known shapes. EINVAL, with the values, for shapes and
// parameters that do not go together.
int read_rotary(const struct node* node, struct rotary_form* out_form);

TENGINE_EXTERN_C_END

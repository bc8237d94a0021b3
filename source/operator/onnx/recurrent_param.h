// SPDX-License-Identifier: Apache-2.0
// Parameters of LSTM, GRU and RNN and their meaning for shape inference (recurrent_ops.c).
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct recurrent_param
{
    struct op_floats activation_alpha;
    struct op_floats activation_beta;
    struct op_strings activations;
    float clip;       // 0: none
    float cell_clip;  // ClippedLSTM; 0: none
    char* direction;
    int hidden_size;
    int layout;               // 0: sequence x batch x ..., 1: batch x sequence x ...
    int input_forget;         // LSTM
    int linear_before_reset;  // GRU
};

enum recurrent_activation
{
    RECURRENT_RELU,
    RECURRENT_TANH,
    RECURRENT_SIGMOID,
    RECURRENT_AFFINE,
    RECURRENT_LEAKY_RELU,
    RECURRENT_THRESHOLDED_RELU,
    RECURRENT_SCALED_TANH,
    RECURRENT_HARD_SIGMOID,
    RECURRENT_ELU,
    RECURRENT_SOFTSIGN,
    RECURRENT_SOFTPLUS
};

struct recurrent_function
{
    enum recurrent_activation kind;
    float alpha;
    float beta;
};

enum
{
    RECURRENT_MAX_FUNCTIONS = 3
};

// The sizes of a node.
struct recurrent_shape
{
    int sequence, batch, input, hidden;
    int directions;     // 1 or 2
    int first_reverse;  // whether direction 0 runs backwards
    int gates;          // LSTM 4 (i o f c), GRU 3 (z r h), RNN 1
    struct recurrent_function functions[2][RECURRENT_MAX_FUNCTIONS];  // per direction: f, g, h
};

// Finds the sizes of a node whose inputs have shapes. Fails on everything that the specification
// forbids, except shapes of optional inputs.
TENGINE_MUST_USE int resolve_recurrent_shape(const struct node* node,
                                             struct recurrent_shape* out_shape);

// Checks the values of sequence_lens in a run; NULL: it is absent. ERANGE: beyond the sequence.
TENGINE_MUST_USE int check_recurrent_lengths(const struct node* node,
                                             const struct recurrent_shape* shape,
                                             const struct tensor* lengths);

TENGINE_EXTERN_C_END

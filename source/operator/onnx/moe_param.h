// SPDX-License-Identifier: Apache-2.0
// Parameters and inputs of MoE (moe_ops.c).
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct moe_param
{
    char* activation_type;
    float activation_alpha, activation_beta;  // for swiglu
    float swiglu_limit;                       // FLT_MAX: none
    int k;
    int normalize_routing_weights;
    int swiglu_fusion;
    int use_sparse_mixer;
};

enum moe_input
{
    MOE_INPUT,
    MOE_ROUTER,
    MOE_FC1_WEIGHTS,
    MOE_FC1_BIAS,
    MOE_FC2_WEIGHTS,
    MOE_FC2_BIAS,
    MOE_FC3_WEIGHTS,
    MOE_FC3_BIAS,
    MOE_INPUTS
};

enum moe_activation
{
    MOE_RELU,
    MOE_GELU,
    MOE_SILU,
    MOE_IDENTITY,
    MOE_SWIGLU
};

// The source of the factor of a gated activation.
enum moe_gate
{
    MOE_NO_GATE,
    MOE_GATE_BESIDE,  // every second row of FC1
    MOE_GATE_AFTER,   // the second half of FC1's rows
    MOE_GATE_FC3
};

struct moe_shape
{
    int64_t tokens;
    int experts;
    int hidden;  // elements of a token
    int inner;   // elements of an expert, between its two products
    int chosen;  // experts that a token passes through
    enum moe_activation activation;
    enum moe_gate gate;
};

// Reads the sizes of a node that has been inferred.
void resolve_moe_shape(const struct node* node, struct moe_shape* out_shape);

TENGINE_EXTERN_C_END

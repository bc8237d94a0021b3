// SPDX-License-Identifier: Apache-2.0
// The parameter of SkipLayerNormalization and SkipSimplifiedLayerNormalization (skip_norm_ops.c).
#pragma once

struct skip_norm_param
{
    float epsilon;
};

// Inputs and outputs of both. The simplified one has no beta: its bias is at beta's place.
enum skip_norm_input
{
    SKIP_NORM_INPUT,
    SKIP_NORM_SKIP,
    SKIP_NORM_GAMMA,
    SKIP_NORM_BETA,
    SKIP_NORM_BIAS,
    SKIP_NORM_SIMPLIFIED_BIAS = SKIP_NORM_BETA
};
enum skip_norm_output
{
    SKIP_NORM_RESULT,
    SKIP_NORM_MEAN,
    SKIP_NORM_INVERSE,
    SKIP_NORM_SUM
};

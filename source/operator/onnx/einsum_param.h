// SPDX-License-Identifier: Apache-2.0
// Einsum's equation, and the nested loop that it describes (einsum_ops.c).
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct einsum_param
{
    char* equation;
};

enum
{
    EINSUM_MAX_INPUTS = 16,
    EINSUM_LETTERS = 52,
    EINSUM_MAX_LABELS = EINSUM_LETTERS + MAX_SHAPE_DIM_NUM  // letters and dimensions under "..."
};

// One loop per label: first those of the output, in its order, then those summed over.
struct einsum_plan
{
    int loop_num;
    int output_rank;
    int64_t sizes[EINSUM_MAX_LABELS];
    // The stride of an input per step of a loop, in elements; 0 if the input lacks the label.
    int64_t strides[EINSUM_MAX_INPUTS][EINSUM_MAX_LABELS];
    // The loop of each axis of an input.
    int8_t axes[EINSUM_MAX_INPUTS][MAX_SHAPE_DIM_NUM];
};

// Parses the equation and checks it against the shapes of the inputs. EINVAL, with a message.
TENGINE_MUST_USE int plan_einsum(const struct node* node, struct einsum_plan* out_plan);

TENGINE_EXTERN_C_END

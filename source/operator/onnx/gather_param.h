// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in gather_ops.c.
#pragma once

#include "operator/operator.h"

// Gather and GatherElements.
struct gather_param
{
    int axis;
};

struct gather_nd_param
{
    int batch_dims;
};

// ScatterElements and ScatterND (which has no axis).
struct scatter_param
{
    int axis;
    char* reduction;  // none, add, mul, min, max
};

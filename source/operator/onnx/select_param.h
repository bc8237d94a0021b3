// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in select_ops.c.
#pragma once

#include <limits.h>

#include "operator/operator.h"

// Compress and Unique without axis work on the flattened input.
#define SELECT_AXIS_ABSENT INT_MIN

struct compress_param
{
    int axis;
};

struct unique_param
{
    int axis;
    int sorted;
};

struct one_hot_param
{
    int axis;
};

struct non_max_suppression_param
{
    int center_point_box;  // 0: boxes are y1 x1 y2 x2, 1: x y width height
};

// SPDX-License-Identifier: Apache-2.0
// Parameters of Concat and Split, see join_ops.c.
#pragma once

#include "operator/operator.h"

struct concat_param
{
    int axis;
};

struct split_param
{
    int axis;
    struct op_ints split;  // an input from opset 13 on
    int num_outputs;       // 0: not given
};

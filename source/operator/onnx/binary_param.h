// SPDX-License-Identifier: Apache-2.0
// Parameters of element-wise operators with several inputs; their rows are in binary_ops.c.
#pragma once

#include "operator/operator.h"

struct mod_param
{
    int fmod;
};

struct bit_shift_param
{
    char* direction;
};

// Broadcasting as an attribute, opsets below 7.
struct legacy_broadcast_param
{
    int broadcast;
    int axis;  // dimension of input 0 that matches dimension 0 of input 1; -1: the last ones
               // match
    struct op_ints consumed_inputs;  // a hint of opset 1, without meaning
};

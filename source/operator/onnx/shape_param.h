// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in shape_ops.c and constant_ops.c.
#pragma once

#include <limits.h>

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct reshape_param
{
    int allowzero;  // 1: a 0 in the new shape means 0, not "as in the input"
};

struct flatten_param
{
    int axis;
};

// Squeeze and Unsqueeze; an input from opset 13 on.
struct squeeze_param
{
    struct op_ints axes;
};

struct dropout_param
{
    float ratio;  // an input from opset 12 on
    int seed;     // DROPOUT_SEED_ABSENT: every run in training starts from the clock
};

#define DROPOUT_SEED_ABSENT INT_MIN

struct shape_param
{
    int start;
    int end;  // SHAPE_END_ABSENT: up to the last dimension
};

#define SHAPE_END_ABSENT INT_MAX

// Exactly one of these is given.
struct constant_param
{
    struct op_tensor value;
    float value_float;
    struct op_floats value_floats;
    int value_int;
    struct op_ints value_ints;
    char* value_string;
    struct op_strings value_strings;
};

// Reads the tensor of a Constant node. `data` points into the node's parameters or to *out_scalar,
// which the caller provides.
int read_constant(const struct node* node, struct op_tensor* out_value, int64_t* out_scalar);

struct constant_of_shape_param
{
    struct op_tensor value;
};

struct range_param
{
    int stash_type;  // ONNX's number of the type in which floats of 16 bits are counted and added
};

struct eye_like_param
{
    int dtype;  // ONNX's number of the type; 0: as the input
    int k;
};

TENGINE_EXTERN_C_END

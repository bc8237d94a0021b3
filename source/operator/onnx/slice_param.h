// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in slice_ops.c, and the meaning of their inputs for a given shape.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Inputs from opset 10 on.
struct slice_param
{
    struct op_ints starts;
    struct op_ints ends;
    struct op_ints axes;
};

// The elements start, start + step, ... (`length` of them) of one axis.
struct slice_range
{
    int64_t start;
    int64_t step;
    int64_t length;
};

// Computes a range for every axis of input 0. OP_SHAPE_LATER while an input has no data.
int resolve_slice(const struct node* node, struct slice_range out_ranges[MAX_SHAPE_DIM_NUM]);

struct center_crop_pad_param
{
    struct op_ints axes;  // absent: the first ones, as many as the shape has
};

struct pad_param
{
    char* mode;           // constant, reflect, edge, wrap
    struct op_ints pads;  // inputs from opset 11 on
    float value;
};

// Computes the elements added before and after every axis of input 0; negative: removed.
// OP_SHAPE_LATER while an input has no data.
int resolve_pads(const struct node* node, int64_t out_before[MAX_SHAPE_DIM_NUM],
                 int64_t out_after[MAX_SHAPE_DIM_NUM]);

struct reverse_sequence_param
{
    int batch_axis;
    int time_axis;
};

struct trilu_param
{
    int upper;
};

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Parameters of the operators in resize_ops.c and grid_ops.c, and the meaning of Resize's inputs
// for a given shape.
#pragma once

#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

struct resize_param
{
    char* mode;  // nearest, linear, cubic
    char* coordinate_transformation_mode;
    char* nearest_mode;
    char* keep_aspect_ratio_policy;  // "stretch", "not_larger", "not_smaller"; for sizes
    float cubic_coeff_a;
    float extrapolation_value;  // for positions outside the input in tf_crop_and_resize
    int exclude_outside;
    int antialias;
    struct op_ints axes;  // absent: all
};

// The resizing of one axis.
struct resize_axis
{
    double scale;      // output length / input length
    double length;     // of the output, before it is rounded down to `size`
    int64_t size;      // of the output
    double roi_begin;  // part of the input that is used, 0 to 1; tf_crop_and_resize only
    double roi_end;
    int identity;  // 1: the axis is copied unchanged
};

// Computes an entry for every axis of input 0. OP_SHAPE_LATER while an input has no data.
int resolve_resize(const struct node* node, struct resize_axis out_axes[MAX_SHAPE_DIM_NUM]);

// Parameters of Upsample of opset 7 (scales is an attribute) and 9 (an input); lowered to Resize.
struct upsample_param
{
    char* mode;
    struct op_floats scales;
};

struct affine_grid_param
{
    int align_corners;
};

struct grid_sample_param
{
    char* mode;          // linear, nearest, cubic; up to opset 19 bilinear, nearest, bicubic
    char* padding_mode;  // zeros, border, reflection
    int align_corners;
};

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Parameters of the pools over regions of interest (roi_ops.c).
#pragma once

#include "operator/operator.h"

struct roi_pool_param
{
    struct op_ints pooled_shape;
    float spatial_scale;
};

struct roi_align_param
{
    char* mode;
    char* coordinate_transformation_mode;
    int output_height;
    int output_width;
    int sampling_ratio;  // samples per bin and axis; 0: one for each pixel of the bin
    float spatial_scale;
};

// SPDX-License-Identifier: Apache-2.0
// Parameters of Tengine's operators on regions of interest (roi_ops.c). Kernels:
// device/cpu/reference/window/region_pool.cc.
#pragma once

#include "operator/operator.h"

struct tm_roipooling_param
{
    int pooled_h;
    int pooled_w;
    float spatial_scale;
};

struct tm_roialign_param
{
    int pooled_width;
    int pooled_height;
    float spatial_scale;
};

struct tm_psroipooling_param
{
    int pooled_w;
    int pooled_h;
    float spatial_scale;
    int output_dim;
};

struct tm_spatialtransformer_param
{
    int sampler_type;      // 1: bilinear
    int transformer_type;  // 0: affine
    int shape_size;
    struct op_ints target_shape;  // height, width
};

// SPDX-License-Identifier: Apache-2.0
// Parameters and inputs of DeformConv (deform_conv_ops.c).
#pragma once

#include "operator/onnx/window.h"

TENGINE_EXTERN_C_BEGIN

struct deform_conv_param
{
    struct window_param window;
    int group;
    int offset_group;
};

enum deform_conv_input
{
    DEFORM_INPUT,
    DEFORM_WEIGHT,
    DEFORM_OFFSET,
    DEFORM_BIAS,
    DEFORM_MASK,
    DEFORM_INPUTS
};

TENGINE_MUST_USE int resolve_deform_window(const struct node* node, struct window* out_window);

TENGINE_EXTERN_C_END

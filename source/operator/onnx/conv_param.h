// SPDX-License-Identifier: Apache-2.0
// Parameters of Conv, ConvTranspose, ConvInteger and QLinearConv (conv_ops.c).
#pragma once

#include "operator/onnx/window.h"

TENGINE_EXTERN_C_BEGIN

struct conv_param
{
    struct window_param window;
    int group;
    struct op_ints output_padding;  // ConvTranspose only
    struct op_ints output_shape;
};

// Compute the window of a forward convolution whose weight is input `weight_index` (QLinearConv 3,
// else 1), and that of ConvTranspose. Shapes of input and weight are known.
TENGINE_MUST_USE int resolve_conv_window(const struct node* node, int weight_index,
                                         struct window* out_window);
TENGINE_MUST_USE int resolve_conv_transpose_window(const struct node* node,
                                                   struct window* out_window);

TENGINE_EXTERN_C_END

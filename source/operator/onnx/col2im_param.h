// SPDX-License-Identifier: Apache-2.0
// Parameters of Col2Im, and its windows (col2im_ops.c).
#pragma once

#include "operator/onnx/window.h"

TENGINE_EXTERN_C_BEGIN

struct col2im_param
{
    struct op_ints dilations, pads, strides;
};

// Computes the windows of a node: `input` of an axis is the image's size, `output` the number of
// windows. OP_SHAPE_LATER: the shapes of image and block are not known; EINVAL, with the values:
// they contradict each other.
TENGINE_MUST_USE int resolve_col2im(const struct node* node, struct window* out_window);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// The common part of convolutions and pools: tensors N x C x H x W, and N x C x L as images of one
// row.
#pragma once

#include "device/acl/builder.h"
#include "operator/onnx/window.h"

namespace tengine::acl {

// The tensor with its two or one spatial axes as rows and columns; `dims` lead, as N and C, or the
// weight's channels.
TensorInfo image_info(const tensor& tensor);

// Columns and rows of a window over one or two axes; those of one axis are columns.
struct ImageWindow
{
    window_axis x, y;
};

// False, and the node is refused, when the window has another number of axes.
bool read_image_window(Builder& builder, const window& window, ImageWindow* out_window);

// Channels are the third dimension of images; output channels the fourth of weights.
TensorInfo with_dimension(TensorInfo info, size_t dimension, int size);
// `number` channels from `first` on as a separate tensor.
ITensor* take_channels(Builder& builder, ITensor* image, int first, int number);

arm_compute::PadStrideInfo to_pad_stride(const ImageWindow& window);

}  // namespace tengine::acl

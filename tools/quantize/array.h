// SPDX-License-Identifier: Apache-2.0
// Arrays of other tools, converted for an input of another type or order.
#pragma once

#include <string>

#include "image_input.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

// `array` as the input takes it; `origin` names its file. Floats become the input's floats, whole
// numbers its whole numbers if they fit. int8 or uint8 for an input of floats are pixels: (value -
// mean) x scale, by channel if the shape determines the axis of channels. [N, H, W, C] becomes [N,
// C, H, W], or the other way round, if only that order matches an input with 1 or 3 channels.
// Throws Failure, which states the accepted arrays.
Tensor adapt_array(Tensor array, const Tensor& input, const tengine_image_settings& settings,
                   const std::string& origin);

}  // namespace tengine::tools

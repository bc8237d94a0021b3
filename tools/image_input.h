// SPDX-License-Identifier: Apache-2.0
// Pictures as input. They are read by examples/image.c, so that this program and the example show a
// network the same numbers.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// One number for all channels, or one for each of red, green, blue.
struct ImageValues
{
    std::vector<float> mean = {0.0f};
    std::vector<float> scale = {1.0f / 255.0f};
};

// Fills `tensor`, fp32 of shape 1x<1 or 3>xHxW, with the picture (PNG, JPEG, BMP, PGM, PPM) resized
// to HxW. Throws Failure: another type or shape, a file that is no picture.
void read_picture(const std::string& path, const ImageValues& values, Tensor* tensor);

}  // namespace tengine::tools

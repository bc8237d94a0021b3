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

// Whether the content of a file begins as a picture does.
bool is_picture(const std::string& content);

// The picture (PNG, JPEG, BMP, PGM, PPM) resized to an input of this type and shape, which must be
// fp32 and 1x<1 or 3>xHxW. Where the shape has -1 the batch is 1, and height and width are the
// picture's own. Throws Failure: another type or shape, a file that is not a picture.
Tensor decode_picture(const std::string& content, int data_type, const std::vector<int>& shape,
                      const ImageValues& values);

// The same of a file, for a tensor that has its type and shape.
void read_picture(const std::string& path, const ImageValues& values, Tensor* tensor);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// Pictures as input. examples/image.c reads them, so that this program and the example feed a
// network the same values.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// The conversion of pixels to numbers, and of a picture of another size to the input's.
struct ImageValues
{
    // One number for all channels, or one for each of red, green, blue.
    std::vector<float> mean = {0.0f};
    std::vector<float> scale;  // empty: 1/255, or 1 for an input of int8 or uint8
    int fit = 0;               // an image_fit of examples/image.h
    bool is_bgr = false;
};

// A factor such as "0.00392" or "1/255", or three with commas between them. Throws Misuse, which
// names `option`.
std::vector<float> parse_factors(const std::string& option, const std::string& text);

// The image_fit of this name: "stretch", "crop" or "letterbox". Throws Misuse.
int parse_fit(const std::string& text);

// Whether the content of a file begins as a picture does.
bool is_picture(const std::string& content);

// The picture (PNG, JPEG, BMP, PGM, PPM) resized to an input of this type and shape: floats or
// bytes, 1x<1 or 3>xHxW or 1xHxWx<1 or 3>. Where the shape has -1 the batch is 1, and height and
// width are the picture's own. Throws Failure: another type or shape, a file that is not a picture.
Tensor decode_picture(const std::string& content, int data_type, const std::vector<int>& shape,
                      const ImageValues& values);

// The same of a file, for a tensor that has its type and shape.
void read_picture(const std::string& path, const ImageValues& values, Tensor* tensor);

}  // namespace tengine::tools

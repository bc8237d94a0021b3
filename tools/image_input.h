// SPDX-License-Identifier: Apache-2.0
// Pictures as input: the settings of the command line, and tensors from files. tengine/image.h
// computes the values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tengine/image.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

// The settings of pictures on a command line. Those of a file come first.
struct ImageValues
{
    std::string model;                  // its path; the file beside it is read
    std::string file;                   // --preprocess: read instead
    std::vector<std::string> settings;  // --picture: KEY=VALUE
    bool is_bgr = false;                // --bgr
    std::vector<std::function<void(tengine_image_settings*)>> changes;  // other options
};

// Throws Failure: a file that cannot be read, a faulty setting.
tengine_image_settings settle(const ImageValues& values);

// Factors such as "0.00392" or "1/255", one for all channels, or three with commas between them.
// Throws Misuse, which names `option`, or Failure for another count.
std::vector<float> parse_factors(const std::string& option, const std::string& text);

// The TENGINE_IMAGE_* of this name: "stretch", "crop" or "letterbox". Throws Misuse.
int parse_fit(const std::string& text);

// Whether the content of a file begins as a picture does.
bool is_picture(const std::string& content);

// The picture (PNG, JPEG, BMP, PGM, PPM) as an input of this type and shape: floats or bytes,
// 1x<1 or 3>xHxW or 1xHxWx<1 or 3>. Where the shape has -1 the batch is 1, and height and width are
// those of the settings, or the picture's own. Throws Failure: another type or shape, a file that
// is not a picture.
Tensor decode_picture(const std::string& content, int data_type, const std::vector<int>& shape,
                      const tengine_image_settings& settings);

// The same of a file, for a tensor that has its type and shape.
void read_picture(const std::string& path, const tengine_image_settings& settings, Tensor* tensor);

}  // namespace tengine::tools

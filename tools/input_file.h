// SPDX-License-Identifier: Apache-2.0
// A file or standard input as the data of one input, or as the expected data of an output.
#pragma once

#include <string>
#include <vector>

#include "image_input.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

// The known properties of the expected tensor.
struct WantedTensor
{
    std::string name;        // of the array in an .npz file; a single array may have any name
    int data_type = 0;       // for raw elements
    int picture_type = 0;    // fp32 also if int8 or uint8 represent real numbers
    std::vector<int> shape;  // for raw elements and pictures, -1: free
    bool has_rank = false;   // false: the shape is unknown
};

// The ending of the path determines the format: .npy, ONNX tensor .pb, .npz, raw .bin, or else a
// picture. For "-", standard input, the first bytes identify .npy, .npz and pictures; anything else
// is raw. The number of raw elements determines one free dimension; a picture is a batch of 1, and
// keeps its own size if the input's is free. The type and shape that a file states are not compared
// with `wanted`. Throws Failure, which names the file.
Tensor read_input_file(const std::string& path, const WantedTensor& wanted,
                       const ImageValues& image_values);

}  // namespace tengine::tools

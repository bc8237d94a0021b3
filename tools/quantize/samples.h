// SPDX-License-Identifier: Apache-2.0
// The data on which the model is calibrated and compared: samples from files or random numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "image_input.h"
#include "input_shape.h"
#include "tensor_file/tensor.h"

namespace tengine::tools {

struct DataOptions
{
    std::vector<std::string> data;  // DIR, NAME=DIR or FILE.npz
    int random = 0;                 // samples of random numbers; 0: none
    uint64_t seed = 0;
    ImageValues image_values;
};

// A tensor for each input of the model, in its order.
using Sample = std::vector<Tensor>;

struct SampleSet
{
    size_t number = 0;
    std::function<Sample(size_t index)> read;  // throws Failure
};

// `inputs`: names, types and shapes of the model's inputs, the shapes as pictures and random
// numbers take them. Throws Failure: no data or two kinds of it, a folder without files, folders
// with different numbers of files, an array that matches no input.
//   DIR       a file a sample, in the order of their paths, also in folders below: .npy, .pb or a
//             picture. For several inputs: a folder for each below it, of the input's name, or
//             NAME=DIR for each.
//   FILE.npz  an array for each input, of its name (with one input: of any); its first axis counts
//             samples, and the input's first dimension is the number of samples of a run.
//             Arrays of another type or order: array.h.
//   random    floats from 0 to 1, integers 0 or 1.
//
// Dimensions that the model leaves free are given, or as the samples have them: read_sample_shapes.
SampleSet open_samples(const DataOptions& options, const std::vector<Tensor>& inputs);

// --shape arguments, "x=1x3x48x320", for the inputs that leave a dimension free and whose first
// sample is an array that fits what they declare; the first axis of one sample of an .npz is 1, or
// as declared. Pictures have one if their settings have a size, random numbers have none. Throws
// Failure as open_samples does.
std::vector<std::string> read_sample_shapes(const DataOptions& options,
                                            const std::vector<DeclaredShape>& inputs);

}  // namespace tengine::tools

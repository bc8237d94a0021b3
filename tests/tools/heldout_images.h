// SPDX-License-Identifier: Apache-2.0
// The pictures of handwritten digits that the shipped network was not trained on, for the tests of
// its accuracy in other precisions.
#pragma once

#include <string>

#include "tensor_file/tensor.h"

namespace tengine::program {

constexpr int kHeldoutImages = 382;

// To calibrate with: all of them, but on an emulated processor, where they take minutes.
#ifdef TENGINE_EMULATED
constexpr int kCalibrationImages = 100;
#else
constexpr int kCalibrationImages = kHeldoutImages;
#endif

// Writes the last `number` pictures, as "image", to a file in `folder` and returns its path. Among
// the last hundred are some that the network takes for another digit.
std::string write_heldout_images(const std::string& folder, int number);

// How many of all pictures have their greatest of `scores`, [382,10], at the right digit.
int count_right(const tools::Tensor& scores);

}  // namespace tengine::program

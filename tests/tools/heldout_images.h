// SPDX-License-Identifier: Apache-2.0
// The pictures of handwritten digits that were not in the training set of the shipped network, for
// the tests of its accuracy in other precisions.
#pragma once

#include <string>

#include "tensor_file/tensor.h"

namespace tengine::program {

constexpr int kHeldoutImages = 382;

// For calibration: all of them, except on an emulated processor, where they take minutes.
#ifdef TENGINE_EMULATED
constexpr int kCalibrationImages = 100;
#else
constexpr int kCalibrationImages = kHeldoutImages;
#endif

// Writes the last `number` pictures, as "image", to a file in `folder` and returns its path. The
// network misreads some of the last hundred.
std::string write_heldout_images(const std::string& folder, int number);

// Returns the number of pictures whose largest of `scores`, [382,10], is at the right digit.
int count_right(const tools::Tensor& scores);

}  // namespace tengine::program

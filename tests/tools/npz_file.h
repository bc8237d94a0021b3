// SPDX-License-Identifier: Apache-2.0
// Writes .npz files as numpy.savez does.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::program {

// Returns a zip file with each tensor, not compressed, as <name>.npy.
std::string encode_npz(const std::vector<tools::Tensor>& tensors);

}  // namespace tengine::program

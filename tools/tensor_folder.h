// SPDX-License-Identifier: Apache-2.0
// Tensors in a folder, a file .npy for each.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// The names of the tensors' files, which differ.
std::vector<std::string> name_files(const std::vector<Tensor>& tensors);

// Writes the tensors, and makes the folder. Returns the paths. Throws Failure.
std::vector<std::string> write_tensors(const std::string& folder,
                                       const std::vector<Tensor>& tensors);

}  // namespace tengine::tools

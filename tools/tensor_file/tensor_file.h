// SPDX-License-Identifier: Apache-2.0
// Tensors in files, by the ending of the name: .npy (npy.h) and .pb (tensor_proto.h). The machine
// must be little-endian, as both formats are.
#pragma once

#include <string>

#include "tensor_file/tensor.h"

namespace tengine::tools {

bool has_ending(const std::string& path, const std::string& ending);

// The whole file. Throws Failure if it cannot be read.
std::string read_file(const std::string& path);

// Replaces the file. Throws Failure if it cannot be written.
void write_file(const std::string& path, const std::string& content);

// Throw Failure, which names the file, for every file that cannot be read, is damaged, or holds
// what Tensor cannot.
Tensor read_tensor(const std::string& path);
void write_tensor(const std::string& path, const Tensor& tensor);

}  // namespace tengine::tools

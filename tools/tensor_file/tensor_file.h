// SPDX-License-Identifier: Apache-2.0
// Tensors in files, by the ending of the name: .npy (npy.h), .pb (tensor_proto.h) and, if type and
// shape are known, raw bytes. Files of several tensors: npz.h. The machine must be little-endian,
// as all formats are.
#pragma once

#include <string>
#include <vector>

#include "tensor_file/tensor.h"

namespace tengine::tools {

bool has_ending(const std::string& path, const std::string& ending);

// The whole file, or all of standard input for "-", which is read once and then remembered. Throws
// Failure if it cannot be read, or is a folder, a pipe or a device.
std::string read_file(const std::string& path);

// Throws Failure for a folder, a pipe or a device.
void check_is_file(const std::string& path);

// Replaces the file, as tengine_file_replace() does. Throws Failure if it cannot be written.
void write_file(const std::string& path, const std::string& content);
// The same for a name in a folder that the user did not give, as tengine_file_put() does. Returns
// the path.
std::string put_file(const std::string& folder, const std::string& name,
                     const std::string& content);

// Throw Failure, which names the file, for every file that cannot be read, is damaged, or contains
// data that Tensor cannot represent.
Tensor read_tensor(const std::string& path);
void write_tensor(const std::string& path, const Tensor& tensor);
// With put_file().
std::string put_tensor(const std::string& folder, const std::string& name, const Tensor& tensor);

// The elements as in memory, without a header. Throws Failure if these are not the bytes of the
// shape. One dimension may be -1: the number of bytes determines it.
Tensor decode_raw(const std::string& content, int data_type, const std::vector<int>& shape);

}  // namespace tengine::tools

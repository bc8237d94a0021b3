// SPDX-License-Identifier: Apache-2.0
// ONNX's TensorProto as a file, the form of ONNX's test data. In a build without protobuf,
// tensor_proto_absent.cc replaces it and both functions throw.
#pragma once

#include <string>

#include "tensor_file/tensor.h"

namespace tengine::tools {

// Throws Failure: damaged, elements that are strings or complex, data in another file.
Tensor decode_tensor_proto(const std::string& content);

std::string encode_tensor_proto(const Tensor& tensor);

}  // namespace tengine::tools

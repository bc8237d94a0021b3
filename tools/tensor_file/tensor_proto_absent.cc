// SPDX-License-Identifier: Apache-2.0
// Replaces tensor_proto.cc in a build without protobuf or without the ONNX serializer.
#include "tensor_file/failure.h"
#include "tensor_file/tensor_proto.h"

namespace tengine::tools {
namespace {

constexpr char kReason[] = "this program was built without protobuf, which .pb files need";

}  // namespace

Tensor decode_tensor_proto(const std::string&)
{
    throw Failure(kReason);
}

std::string encode_tensor_proto(const Tensor&)
{
    throw Failure(kReason);
}

}  // namespace tengine::tools

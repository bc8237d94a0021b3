// SPDX-License-Identifier: Apache-2.0
// The declarations of a model's inputs and outputs: their type and shape.
#pragma once

#include <string>

#include "onnx/onnx.pb.h"
#include "tengine/defines.h"
#include "tengine/error.h"

namespace tengine {

struct DeclaredTensor
{
    int data_type = 0;                          // TENGINE_DT_*
    int dim_num = -1;                           // -1: no shape is declared
    int dims[MAX_SHAPE_DIM_NUM] = {};           // -1: symbolic or missing
    const char* names[MAX_SHAPE_DIM_NUM] = {};  // of symbolic dims, else ""; owned by the message
};

// Whether the type has any content; PyTorch writes empty types.
inline bool is_type_given(const ::onnx::ValueInfoProto& value)
{
    return value.type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET;
}

// Both fail for maps, sparse tensors and values with such elements; `owner` names the value in
// messages. A sequence or an optional value (TENGINE_DT_SEQUENCE) has no shape. The type is
// TENGINE_DT_UNKNOWN if the file does not give that of a tensor.
TENGINE_MUST_USE int read_value_type(const ::onnx::TypeProto& type, const std::string& owner,
                                     int* out_data_type);

TENGINE_MUST_USE int read_value_info(const ::onnx::ValueInfoProto& value, const std::string& owner,
                                     DeclaredTensor* out_declared);

}  // namespace tengine

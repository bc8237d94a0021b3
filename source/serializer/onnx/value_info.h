// SPDX-License-Identifier: Apache-2.0
// What a model declares of its inputs and outputs: that they are tensors, their type and shape.
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
    const char* names[MAX_SHAPE_DIM_NUM] = {};  // of symbolic ones, else ""; the message's
};

// Fails for sequences, maps, optional and sparse values. `owner` names the value in sentences.
TENGINE_MUST_USE int check_is_tensor(const ::onnx::ValueInfoProto& value, const std::string& owner);

TENGINE_MUST_USE int read_value_info(const ::onnx::ValueInfoProto& value, const std::string& owner,
                                     DeclaredTensor* out_declared);

}  // namespace tengine

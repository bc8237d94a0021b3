// SPDX-License-Identifier: Apache-2.0
// Writes the quantised model: the float model with QuantizeLinear and DequantizeLinear pairs.
#pragma once

#include <map>
#include <onnx/onnx.pb.h>
#include <string>
#include <vector>

#include "quantize/range.h"
#include "quantize/selection.h"

namespace tengine::tools {

struct QdqModel
{
    ::onnx::ModelProto model;
    // Of each quantised activation, the tensor that holds what is left of it in `model`.
    std::map<std::string, std::string> dequantized;
};

// What units read goes through a pair behind its producer; a node that is in float and reads what
// another one in float wrote goes on reading that. An output of the model that a unit writes is
// quantised like any other and keeps its name. Weights and biases become int8 and int32 constants
// with a DequantizeLinear: symmetric, weights with values from -127 to 127 in one scale or, with
// `per_channel`, one for each output channel; biases in the scale of the input times the weights'.
// A weight's scale is enlarged where the bias would not fit 31 bits. `quantizations` must have
// every tensor of the units. Throws Failure: `per_channel` with an opset before 13.
QdqModel write_qdq_model(const ::onnx::ModelProto& model, const std::vector<QuantizedUnit>& units,
                         const std::map<std::string, Quantization>& quantizations,
                         bool per_channel);

}  // namespace tengine::tools

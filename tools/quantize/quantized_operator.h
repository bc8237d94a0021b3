// SPDX-License-Identifier: Apache-2.0
// The operators that compute in int8, as a table. Which nodes do is chosen in selection.h.
#pragma once

#include <onnx/onnx.pb.h>
#include <string>
#include <vector>

#include "quantize/onnx_model.h"

namespace tengine::tools {

// What an operator does with int8.
enum class QuantizedRole
{
    kWeighted,     // multiplies by input 1, which is usually constant; input 2 is the bias
    kArithmetic,   // computes new values, with a scale of their own
    kActivation,   // the same, but is worth it only behind a quantised node
    kFunction,     // of one tensor, element by element; worth it as the former (expression.h)
    kPassThrough,  // moves or selects values, with one scale on both sides; worth it as the former
};

struct QuantizedOperator
{
    const char* name;
    QuantizedRole role;
    int data_inputs;        // the first so many inputs are data; 0: all are
    bool takes_activation;  // a Relu or Clip behind it becomes part of it
};

// Null: an operator for floats only.
const QuantizedOperator* find_quantized_operator(const ::onnx::NodeProto& node);

// Whether attributes and constants are such that there is an integer form: no factors in a Gemm,
// means over all spatial axes, the nearest value in a Resize, zeros around in a Pad.
bool suits_int8(const ::onnx::GraphProto& graph, const GraphIndex& index,
                const ::onnx::NodeProto& node);

std::vector<std::string> data_inputs(const ::onnx::NodeProto& node, const QuantizedOperator& op);
// MaxPool's indices and what else is not data come second; a Split has nothing but data.
std::vector<std::string> data_outputs(const ::onnx::NodeProto& node);

}  // namespace tengine::tools

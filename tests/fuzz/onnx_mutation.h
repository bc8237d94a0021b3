// SPDX-License-Identifier: Apache-2.0
// Changes an ONNX model as a faulty program that writes such models could: the result is still a
// ModelProto, and often a valid model. For onnx_fuzz.cc; the fuzzer itself changes bytes.
#pragma once

#include <onnx/onnx.pb.h>
#include <random>

namespace tengine::test {

// Makes one change in one of the model's graphs or functions: an operator, an attribute, the
// tensors that a node reads, the order and number of nodes, a constant, an input, an output, an
// opset; or one of onnx_structure.h.
void mutate_model(std::mt19937* engine, ::onnx::ModelProto* model);

}  // namespace tengine::test

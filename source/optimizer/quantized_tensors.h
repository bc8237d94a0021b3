// SPDX-License-Identifier: Apache-2.0
// Two ways to say that a tensor is quantised. In Tengine's dialect the tensor itself is of int8,
// uint8 or int32 and has scales and zero points; nodes compute with the values these stand for. In
// ONNX there are DequantizeLinear and QuantizeLinear nodes around float ones.
#pragma once

#include "optimizer/pass.h"

namespace tengine {

// Tengine's way to ONNX's, for all Tengine nodes that are to be lowered. A run that asks for no
// precision of its own then has that of the model.
int say_quantization_in_nodes(graph& graph);

// ONNX's way to Tengine's, around Tengine nodes: QuantizeLinear behind one, and behind an input of
// the graph that nobody else reads, DequantizeLinear before one. Others stay.
int say_quantization_in_tensors(graph& graph);

}  // namespace tengine

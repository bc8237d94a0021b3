// SPDX-License-Identifier: Apache-2.0
// Two ways to say that a tensor is quantised. In Tengine's dialect the tensor itself is of int8,
// uint8 or int32 and has scales and zero points; nodes compute with the values these stand for. In
// ONNX there are DequantizeLinear and QuantizeLinear nodes around float ones.
#pragma once

#include "optimizer/pass.h"

namespace tengine {

// quantization_in_nodes.cc: Tengine's way to ONNX's, for all Tengine nodes that are to be lowered.
// A run that asks for no precision of its own then has that of the model.
int insert_qdq_nodes(graph& graph);

// quantization_in_tensors.cc: ONNX's way to Tengine's, around Tengine nodes: QuantizeLinear after
// one, or after an input of the graph without other readers; DequantizeLinear before one. Others
// stay.
int fold_qdq_nodes(graph& graph);

// ---- what these and activations.cc need ----

// A Tengine node that is one only until it is lowered, or since it was raised.
bool speaks_tengine(const node* node);

bool is_quantized(const struct tensor& tensor);
const float* scales_of(const struct tensor& tensor);
const int* zero_points_of(const struct tensor& tensor);

// What a clamp (ReLU, ReLU6, ReLU1, Clip) reads, when a Tengine node computes it and nothing else
// reads it; null otherwise. Before a clamp, rounding to the steps of its result changes nothing,
// because it is monotone: Q(clamp(x)) = Q(clamp(DQ(Q(x)))) for any x and one Q. So what goes into
// it can be said to be quantised like its result, which Tengine Lite needs of every tensor, or to
// be in float, which lets a device clamp where it requantises.
struct tensor* find_clamped(const node& node);

}  // namespace tengine

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

// quantization_in_tensors.cc: ONNX's way to Tengine's. An int8 or uint8 tensor becomes a quantised
// one where its producer and readers allow it: a QuantizeLinear after a Tengine node, or none,
// DequantizeLinear nodes with the same scale before Tengine nodes, and Tengine nodes that only move
// elements to and from such tensors. Then these QuantizeLinear and DequantizeLinear go; else all of
// them stay, and nothing else of the tensor changes. So do those at the graph's inputs and outputs
// of floats, unless the context's option model.integer_io is 1. Those that stay are a warning.
int fold_qdq_nodes(graph& graph);

// moved_tensors.cc: a step of it, for the tensors that raising has made.
int quantise_moved_tensors(graph& graph);

// ---- what these and activations.cc need ----

// A Tengine node that is one only until it is lowered, or since it was raised.
bool speaks_tengine(const node* node);

// There are readers, all of them such, and the tensor is not an output of the graph.
bool is_read_by_tengine_only(const graph& graph, const struct tensor& tensor);

bool is_quantized(const struct tensor& tensor);
// int8 or uint8.
bool is_byte_type(int data_type);
// A Tengine node that gives elements of its inputs as they are, in other places: quantised elements
// move as their values do, if all its tensors are quantised alike.
bool moves_bytes(const node* node);
const float* scales_of(const struct tensor& tensor);
const int* zero_points_of(const struct tensor& tensor);
// Gives `tensor` the type, the scales and the zero points of `like`.
int quantise_like(struct tensor& tensor, const struct tensor& like);

// The input of a clamp (ReLU, ReLU6, ReLU1, Clip), when a Tengine node computes it and nothing else
// reads it; null otherwise. Before a clamp, rounding to the steps of its result changes nothing,
// because it is monotone: Q(clamp(x)) = Q(clamp(DQ(Q(x)))) for any x and one Q. So its input can be
// said to be quantised like its result, which Tengine Lite needs of every tensor, or to
// be in float, which lets a device clamp where it requantises.
struct tensor* find_clamped(const node& node);
// The node is a clamp, or has one as its field `activation`.
bool ends_with_clamp(const node& node);

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// Two representations of quantised tensors. In the dialects of Tengine and TensorFlow Lite the
// tensor itself is int8, uint8 or int32 and has scales and zero points, and nodes compute with the
// real values. In ONNX, DequantizeLinear and QuantizeLinear nodes surround float nodes.
#pragma once

#include "optimizer/pass.h"

namespace tengine {

// quantization_in_nodes.cc: converts Tengine's representation to ONNX's, for all nodes of Tengine's
// and TensorFlow Lite's operators that are lowered. A run without a precision of its own then has
// the model's.
int insert_qdq_nodes(graph& graph);

// quantization_in_tensors.cc: converts ONNX's representation to Tengine's. An int8 or uint8 tensor
// becomes a quantised one if its producer and readers allow it: a QuantizeLinear after a Tengine
// node, or none; DequantizeLinear nodes with the same scale before Tengine nodes; and Tengine nodes
// that only move elements to and from such tensors. These QuantizeLinear and DequantizeLinear are
// then removed; else all of them stay, and the tensor does not change. Those at the graph's float
// inputs and outputs stay, too, unless the context's option model.integer_io is 1. A warning lists
// those that stay.
int fold_qdq_nodes(graph& graph);

// moved_tensors.cc: a step of fold_qdq_nodes(), for tensors that raising has made.
int quantise_moved_tensors(graph& graph);

// Whether the model has the property precision.rounding, as a quantised .tflite and the files that
// are written of it: these compute in integers by themselves, in any representation.
bool states_rounding(const graph& graph);

// ---- what these and activations.cc need ----

// Whether the node has Tengine's operator, which lowering replaces or raising has made.
bool speaks_tengine(const node* node);

// Whether the node's operator has the real values of quantised tensors, and is lowered: that of
// such a node, or TensorFlow Lite's.
bool reads_quantized(const node& node);

// Whether all readers are nodes of Tengine's, there is one at least, and the tensor is not an
// output of the graph.
bool is_read_by_tengine_only(const graph& graph, const struct tensor& tensor);

bool is_quantized(const struct tensor& tensor);
// int8 or uint8
bool is_byte_type(int data_type);
// Whether a Tengine node only moves elements of its inputs. It does so for quantised elements, too,
// if all its tensors have the same quantisation.
bool moves_bytes(const node* node);
const float* scales_of(const struct tensor& tensor);
const int* zero_points_of(const struct tensor& tensor);
// Gives `tensor` the type, the scales and the zero points of `like`.
int quantise_like(struct tensor& tensor, const struct tensor& like);

// The input of a clamp (ReLU, ReLU6, ReLU1, Clip), if a Tengine node computes it and it has no
// other reader; else null. Rounding before a clamp to the steps of its result changes nothing,
// because rounding is monotone: Q(clamp(x)) = Q(clamp(DQ(Q(x)))) for any x and one Q. So the input
// may be quantised like the result, as Tengine Lite requires, or be float, which lets a device
// clamp where it requantises.
struct tensor* find_clamped(const node& node);
// Whether the node is a clamp, or has one as its field `activation`.
bool ends_with_clamp(const node& node);

}  // namespace tengine

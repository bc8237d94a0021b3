// SPDX-License-Identifier: Apache-2.0
// The treatment of each operator in int8 and uint8, as one table: whether a quantiser puts pairs
// around it (selection.h), and the rule that makes an integer node of one with pairs (fuser.h).
#pragma once

#include "optimizer/precision/fuser.h"

namespace tengine {

// A quantiser's treatment of the nodes of an operator.
enum class QuantizedRole
{
    kNone,         // stays in float
    kWeighted,     // multiplies by input 1, which is usually constant; input 2 is the bias
    kArithmetic,   // computes new values, with a scale of their own
    kActivation,   // the same, but only after a quantised node
    kFunction,     // one tensor, element by element; only after a quantised node (expression.h)
    kPassThrough,  // moves or selects values, with the same scale; only after a quantised node
};

struct QuantizedOperator
{
    const char* name;  // ONNX's
    FuseRule rule;
    QuantizedRole role = QuantizedRole::kNone;
    int data_inputs = 1;            // the first inputs that are data; 0: all are
    bool takes_activation = false;  // a Relu or Clip after it becomes part of it
};

// Null: an operator for floats only.
const QuantizedOperator* find_quantized_operator(const node& node);

// ---- conditions on attributes and constants without which there is no integer form ----

// Whether there are no factors and A is not transposed.
bool is_plain_gemm(const node& gemm);
// Whether values are copied, and only from inside the input.
bool takes_nearest(const node& resize);
// Whether values are interpolated, along two axes at most, and only inside the input.
bool takes_between(const node& resize);
// Whether a quantiser takes the node, by these conditions and further ones: means over all spatial
// axes, zeros as padding, and a BatchNormalization with constants.
bool suits_quantization(const node& node);

// The inputs that are data, null for an absent one. The indices of MaxPool are not data; a Split
// has only data.
Vector<tensor*> list_data_inputs(const node& node, const QuantizedOperator& op);
Vector<tensor*> list_data_outputs(const node& node);

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// The fate of each operator in int8 and uint8, as one table: whether a quantiser puts pairs
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
    kActivation,   // the same, but is worth it only after a quantised node
    kFunction,     // one tensor, element by element; worth it as the former (expression.h)
    kPassThrough,  // moves or selects values, with one scale on both sides; worth it as the former
};

struct QuantizedOperator
{
    const char* name;  // ONNX's
    FuseRule rule;
    QuantizedRole role = QuantizedRole::kNone;
    int data_inputs = 1;            // the first so many inputs are data; 0: all are
    bool takes_activation = false;  // a Relu or Clip after it becomes part of it
};

// Null: an operator for floats only.
const QuantizedOperator* find_quantized_operator(const node& node);

// ---- conditions on attributes and constants without which there is no integer form ----

// Neither factors nor a transposed A.
bool is_plain_gemm(const node& gemm);
// Takes values as they are, and none from outside of the input.
bool takes_nearest(const node& resize);
// Takes those between two, along no more than two axes, and none from outside of the input.
bool takes_between(const node& resize);
// All of these for the node of a quantiser: also means over all spatial axes, zeros around in a
// Pad, and a BatchNormalization with constants.
bool suits_quantization(const node& node);

// The tensors that are data, null where an input is left out. The indices of MaxPool are no data; a
// Split has nothing but data.
Vector<tensor*> list_data_inputs(const node& node, const QuantizedOperator& op);
Vector<tensor*> list_data_outputs(const node& node);

}  // namespace tengine

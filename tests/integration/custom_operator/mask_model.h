// SPDX-License-Identifier: Apache-2.0
// Small networks on pictures, in ONNX, with a masking node between convolutions.
#pragma once

#include <string>

#include "mask_kind.h"

namespace tengine {

enum class Elements
{
    kFloat,
    kBytes,      // QLinearConv, and the masking node's are int8
    kQuantised,  // float operators between QuantizeLinear and DequantizeLinear
};

struct MaskModel
{
    const MaskKind& kind;  // the kind of its masking node
    bool is_twin;          // whether equivalent operators of ONNX replace the node
    // the producer of the masking node's input: Conv, Concat, MaxPool or Resize
    const char* before = "Conv";
    const char* after = "Conv";  // its reader: one of these, or None, which is the graph
    Elements elements = Elements::kFloat;
    // The node whose body the network is: If, Loop, or Decided, an If with a constant condition.
    const char* body = "";
};

// Input "x", 1 x 6 x 9 x 11, and with a body "on", bool; output "y", float. The masking node is
// "mask".
std::string make_mask_model(const MaskModel& model);

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// Small networks of pictures, in ONNX, with a masking node between convolutions.
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
    const MaskKind& kind;         // whose node is in it
    bool is_twin;                 // operators of ONNX that do the same are in its place
    const char* before = "Conv";  // what the masking node reads: Conv, Concat, MaxPool or Resize
    const char* after = "Conv";   // what reads it: these, or None, which is the graph
    Elements elements = Elements::kFloat;
    // The node whose body the network is: If, Loop, or Decided, an If whose condition is constant.
    const char* body = "";
};

// Input "x", 1 x 6 x 9 x 11, and with a body "on", bool; output "y", float. The masking node is
// "mask".
std::string make_mask_model(const MaskModel& model);

}  // namespace tengine

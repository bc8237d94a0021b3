// SPDX-License-Identifier: Apache-2.0
// Small ONNX models as strings, a statement a line:
//     in x float 2,3              an input; "-" is the shape of a scalar, "seq:float" a sequence
//     const w int64 2 = 1 2       an initializer; of small types the values are bytes
//     sparse s 2,3 = 1:5 4:7      index and value of what is not 0
//     out y z
//     domain:Type x _ -> y : axis=1 perm=1,0 scale=0.5 mode='a' names='a','b' alpha=@slope
//                                 a node; "_" is an input that is absent, "@" an attribute of the
//                                 function; "float:0.5,1" is a tensor
//     body then_branch            begins a graph of the node above, which "end" ends
//     function Name a b -> c      begins a function of the domain "local"
#pragma once

#include <onnx/onnx.pb.h>
#include <string>

namespace tengine::test {

// Parses a string without mistakes. The model has IR version 8, opset 24 and the newest of the
// other domains.
::onnx::ModelProto parse_onnx_text(const std::string& text);

}  // namespace tengine::test

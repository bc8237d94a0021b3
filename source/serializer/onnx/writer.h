// SPDX-License-Identifier: Apache-2.0
// A graph in source form as an ONNX file. Its nodes are ONNX's, or of domains that become custom
// ones in the file ("tengine" for what ONNX has no operator for).
#pragma once

#include <string>

#include "tengine/error.h"

struct graph;

namespace tengine {

struct ModelFrame;

// TENGINE_ELIMIT when the file would be larger than a protobuf message can be, TENGINE_EIO when it
// cannot be written; no file is left then. `frame` is that of the model the graph was made of, or
// null.
TENGINE_MUST_USE int save_onnx_file(const struct graph& graph, const ModelFrame* frame,
                                    const char* path);

}  // namespace tengine

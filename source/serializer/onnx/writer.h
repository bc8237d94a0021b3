// SPDX-License-Identifier: Apache-2.0
// A graph in source form as an ONNX file. Its nodes are ONNX's, or of domains that become custom
// ones in the file ("tengine" where ONNX has no operator).
#pragma once

#include <string>

#include "tengine/error.h"

struct graph;

namespace tengine {

struct ModelFrame;

// Weights are written first, to a file of their own as external_writer.h says. TENGINE_ELIMIT when
// the rest exceeds the size of a protobuf message, TENGINE_EIO when a file cannot be written; no
// model is left then. `frame` is that of the model the graph was made of, or null.
TENGINE_MUST_USE int save_onnx_file(const struct graph& graph, const ModelFrame* frame,
                                    const char* path);

}  // namespace tengine

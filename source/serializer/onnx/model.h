// SPDX-License-Identifier: Apache-2.0
// The steps of loading an ONNX model: splitting its bytes (wire.h), checking, building
// (graph_import.h).
#pragma once

#include <memory>
#include <string>

#include "serializer/onnx/model_files.h"
#include "serializer/onnx/model_frame.h"
#include "serializer/onnx/wire.h"
#include "tengine/ir.h"

namespace tengine {

// Fill the empty `graph`. Constants may lie in `files`, which must outlive it. May throw
// std::bad_alloc and exceptions of protobuf; the serializer's entries turn that into a status.
TENGINE_MUST_USE int load_onnx_file(struct graph* graph, const std::string& path, ModelFiles* files,
                                    std::shared_ptr<const ModelFrame>* out_frame);
// The caller owns `bytes`; a model without a file cannot have external data.
TENGINE_MUST_USE int load_onnx_bytes(struct graph* graph, Bytes bytes,
                                     std::shared_ptr<const ModelFrame>* out_frame);

}  // namespace tengine

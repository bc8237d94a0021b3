// SPDX-License-Identifier: Apache-2.0
// The contents of an ONNX model that a graph does not hold: functions, declared shapes, and the
// attributes that its nodes list, in order. A copy that the library has changed is written with
// them, so that the shapes of results are not lost (writer.h). A graph that a program has loaded is
// written without, since the program may have changed it in any way. metadata.h has the producer
// and the documentation, which are always written.
#pragma once

#include <memory>
#include <onnx/onnx.pb.h>
#include <string>
#include <unordered_map>
#include <vector>

#include "serializer/onnx/graph_import.h"

namespace tengine {

// The message lies in an arena, as those of OnnxModel do.
struct ModelFrame
{
    google::protobuf::Arena arena;
    // Its graph has neither nodes nor initialisers, nor inputs that are initialisers.
    ::onnx::ModelProto& model = *make_message<::onnx::ModelProto>(&arena);
    std::unordered_map<std::string, std::vector<std::string>> attributes;  // by the node's name
};

// `graph` is the one that the model was imported to, `node_names` has the names of its nodes there.
std::shared_ptr<const ModelFrame> make_model_frame(const OnnxModel& model,
                                                   const std::vector<std::string>& node_names,
                                                   const graph& graph);

}  // namespace tengine

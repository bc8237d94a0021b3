// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself, between ONNX's messages and graph/metadata.h.
#pragma once

#include "onnx/onnx.pb.h"
#include "tengine/error.h"

struct graph;
struct ir_metadata;
struct node;

namespace tengine {

// Moves the statements of a model and its graph, except for the graph's name, to `graph`. ENOMEM.
TENGINE_MUST_USE int take_metadata(::onnx::ModelProto* model, ::onnx::GraphProto* model_graph,
                                   struct graph* graph);
// Adds the documentation of a node, which became `node`, if it has any. ENOMEM.
TENGINE_MUST_USE int take_node_metadata(const ::onnx::NodeProto& proto, const struct node& node,
                                        struct ir_metadata* metadata);

// Sets all except for the versions, which are those of the written file; without `metadata` the
// producer is this library.
void write_metadata(const struct ir_metadata* metadata, ::onnx::ModelProto* model);

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// Translates a graph of ONNX Runtime to one of the library: node by node, with the names,
// attributes and constants of the original.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph_view.h"
#include "settings.h"
#include "tengine/c_api.h"

namespace tengine::provider {

using GraphPointer = std::shared_ptr<void>;  // a graph_t

struct BuiltGraph
{
    GraphPointer graph;
    std::vector<std::string> node_names;  // by node of the view; "": not in the graph
};

// The reason why the library cannot build a node at all, on any device; "" when it can. Nothing is
// logged.
std::string judge_node(const GraphView& view, const ViewedNode& node);

// A graph of the nodes whose `chosen` is true. Tensors that other nodes write become inputs, and
// tensors that other nodes or the host read become outputs. With `lends_constants` the graph uses
// the host's constants in place, and must not outlive the host's call; else it copies them. Throws
// Failure.
BuiltGraph build_graph(const GraphView& view, const std::vector<bool>& chosen,
                       const Settings& settings, bool lends_constants);

}  // namespace tengine::provider

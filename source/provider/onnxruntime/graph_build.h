// SPDX-License-Identifier: Apache-2.0
// From a graph of ONNX Runtime to one of the library: node by node, with the names, attributes and
// constants of the original.
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
    std::vector<std::string> node_names;  // those of the view's nodes; "": not in the graph
};

// Why the library cannot have a node at all, whatever the device; "" when it can. Nothing is
// logged.
std::string judge_node(const GraphView& view, const ViewedNode& node);

// A graph of the nodes whose `chosen` is true. Tensors that others write become inputs, and tensors
// that others or the host read become outputs. With `lends_constants` the graph reads constants
// where the host has them, and must not outlive the host's call; else it has copies. Throws
// Failure.
BuiltGraph build_graph(const GraphView& view, const std::vector<bool>& chosen,
                       const Settings& settings, bool lends_constants);

}  // namespace tengine::provider

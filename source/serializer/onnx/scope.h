// SPDX-License-Identifier: Apache-2.0
// New names for the values of nodes that move to another graph: those of a function
// (functions.h), and of a graph that is an attribute (flex_attention.h).
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "onnx/onnx.pb.h"
#include "tengine/error.h"

namespace tengine {

// New names by old ones, for the source of moved nodes, and for a graph of one of these nodes,
// which has names of its own.
struct Scope
{
    const std::string& prefix;
    const std::string& unknown_prefix;  // for names that neither this scope nor an outer one has
    const Scope* outer;
    std::unordered_map<std::string, std::string> names;

    std::string find(const std::string& name) const;
    void add(const std::string& name) { names.emplace(name, prefix + name); }
};

// Gets the bytes of each new name before it is written; an error ends the renaming.
using Charge = std::function<int(size_t bytes)>;

// Renames inputs and outputs, and the names in graphs that are attributes.
TENGINE_MUST_USE int rename_node(const Scope& scope, const Charge& charge, ::onnx::NodeProto* node);

// Gives all names of the graph the prefix of `outer`, the scope around it.
TENGINE_MUST_USE int rename_graph(const Scope& outer, const Charge& charge,
                                  ::onnx::GraphProto* graph);

}  // namespace tengine

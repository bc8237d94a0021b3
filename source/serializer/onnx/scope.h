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

// The meaning of names in the source of moved nodes, and in a graph of one of these nodes, which
// has names of its own.
struct Scope
{
    const std::string& prefix;
    const std::string& unknown_prefix;  // for names that neither this scope nor one around it has
    const Scope* outer;
    std::unordered_map<std::string, std::string> names;

    std::string find(const std::string& name) const;
    void add(const std::string& name) { names.emplace(name, prefix + name); }
};

// Told the bytes of each new name before it is written; an error ends the renaming.
using Charge = std::function<int(size_t bytes)>;

// Renames inputs and outputs, and the names in graphs that are attributes.
TENGINE_MUST_USE int rename_node(const Scope& scope, const Charge& charge, ::onnx::NodeProto* node);

// All that the graph has is called with the prefix of `outer`, where it lies.
TENGINE_MUST_USE int rename_graph(const Scope& outer, const Charge& charge,
                                  ::onnx::GraphProto* graph);

}  // namespace tengine

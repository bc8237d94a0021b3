// SPDX-License-Identifier: Apache-2.0
// The operator that a node means: the opset version of its domain selects the description in the
// registry (operator/registry.h). One error lists all unknown operators.
#pragma once

#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tengine/error.h"

struct context;

namespace tengine {

// Versions by domain ("" is ONNX's own), as the model imports them.
using Opsets = std::map<std::string, int>;

// The opsets that nodes use.
struct Imports
{
    Opsets model;
    // Nodes of functions that import other versions.
    std::list<Opsets> functions;
    std::unordered_map<const ::onnx::NodeProto*, const Opsets*> by_node;

    const Opsets& of(const ::onnx::NodeProto& node) const
    {
        const auto own = by_node.find(&node);
        return own == by_node.end() ? model : *own->second;
    }
};

// "" for "ai.onnx", too.
std::string normal_domain(const std::string& domain);

struct OperatorId
{
    int type;         // of get_op_type()
    int version;      // the opset the node is written for
    bool is_unknown;  // not described here: it becomes a node "Generic"
};

// TENGINE_EFORMAT for a domain imported in two versions or an invalid version.
TENGINE_MUST_USE int collect_opsets(
    const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& list, Opsets* out_opsets);

// One entry per node. Custom operators are those of `context` and of the process. TENGINE_EOPERATOR
// lists every (domain, type, opset) of a known domain that has no description, with its nodes and,
// where the operator has a description for other opsets, these; `names` are the nodes'.
// TENGINE_ENOTSUP: ONNX's own domain in an opset newer than any known.
TENGINE_MUST_USE int resolve_operators(const ::onnx::GraphProto& graph, const Imports& imports,
                                       const struct context* context,
                                       const std::vector<std::string>& names,
                                       std::vector<OperatorId>* out_operators);

}  // namespace tengine

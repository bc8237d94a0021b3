// SPDX-License-Identifier: Apache-2.0
// The operator that a node means: its domain's opset version picks the description in the registry
// (operator/registry.h). The unknown ones are collected, so that one error tells all of it.
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

// Domain ("" is ONNX's own) to the version the model imports.
using Opsets = std::map<std::string, int>;

// The opsets that nodes bind to.
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

// "" for "ai.onnx" as well.
std::string normal_domain(const std::string& domain);

struct OperatorId
{
    int type;         // as get_op_type() gives it
    int version;      // the opset the node is written for
    bool is_unknown;  // not described here: it becomes a node "Generic"
};

// TENGINE_EFORMAT for a domain imported in two versions or an invalid version.
TENGINE_MUST_USE int collect_opsets(
    const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& list, Opsets* out_opsets);

// One entry per node. Custom operators are those of `context` and of the process.
// TENGINE_EOPERATOR lists every (domain, type, opset) of a known domain that
// has no description, with nodes and, where the operator has one for other opsets, the change;
// `names` are the nodes'. TENGINE_ENOTSUP: ONNX's own domain in an opset newer than any known.
TENGINE_MUST_USE int resolve_operators(const ::onnx::GraphProto& graph, const Imports& imports,
                                       const struct context* context,
                                       const std::vector<std::string>& names,
                                       std::vector<OperatorId>* out_operators);

}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// Which operator a node means: its domain's opset version picks the description in the registry
// (operator/registry.h). What is not known is collected, so that one error tells all of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnx/onnx.pb.h"
#include "tengine/error.h"

struct context;

namespace tengine {

// Domain ("" is ONNX's own) to the version the model imports.
using Opsets = std::map<std::string, int>;

struct OperatorId
{
    int type;         // as get_op_type() gives it
    int version;      // the opset the node is written for
    bool is_unknown;  // not described here: it becomes a node "Generic"
};

// TENGINE_EFORMAT for a domain imported in two versions or an invalid version.
TENGINE_MUST_USE int collect_opsets(const ::onnx::ModelProto& model, Opsets* out_opsets);

// One entry per node. Custom operators are those of `context` and of the process.
// TENGINE_EOPERATOR lists every (domain, type, opset) of a known domain that
// has no description, with nodes and, where the operator has one for other opsets, what changed;
// `names` are the nodes'. TENGINE_ENOTSUP: ONNX's own domain in an opset newer than any known.
TENGINE_MUST_USE int resolve_operators(const ::onnx::GraphProto& graph, const Opsets& opsets,
                                       const struct context* context,
                                       const std::vector<std::string>& names,
                                       std::vector<OperatorId>* out_operators);

}  // namespace tengine

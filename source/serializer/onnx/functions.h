// SPDX-License-Identifier: Apache-2.0
// Functions of a model (ModelProto.functions). Before the graph is built, each call is replaced by
// the nodes of the function's body, so that later steps and saved files have no functions. Nodes
// and inner values are named as the call, with a "/" before their own name. Nodes use the versions
// that their function imports, and else the model's.
#pragma once

#include "serializer/onnx/graph_import.h"

namespace tengine {

// A call to a function with the name of an operator of this library, or of a custom operator
// registered for `context` or the process, stays a node. TENGINE_EFORMAT: two functions with one
// name, or an invalid import. TENGINE_EGRAPH: a function that calls itself, that has fewer inputs
// or outputs than a call, or that does not compute an output. TENGINE_ENOTSUP: a list of graphs
// passed as an attribute, or a graph as the default of one. TENGINE_ELIMIT: calls that are nested
// too deeply or expand to too many bytes.
TENGINE_MUST_USE int expand_functions(OnnxModel* model, const struct context* context);

}  // namespace tengine

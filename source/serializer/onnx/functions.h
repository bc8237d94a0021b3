// SPDX-License-Identifier: Apache-2.0
// Functions of a model (ModelProto.functions): before the graph is built, every call of one becomes
// the nodes of its body, so that nothing after it knows of functions, and saved files have none.
// Nodes and inner values are called as the call with a "/" before their own name. Nodes bind to the
// versions that their function imports, and else to the model's.
#pragma once

#include "serializer/onnx/graph_import.h"

namespace tengine {

// A function that bears the name of an operator of this library, or of a custom operator registered
// for `context` or the process, stays a node. TENGINE_EFORMAT: two functions of one name, or an
// invalid import. TENGINE_EGRAPH: a function that calls itself, one with fewer inputs or outputs
// than a call, one that does not compute an output. TENGINE_ENOTSUP: a list of graphs handed over
// as an attribute, a graph as the default of one. TENGINE_ELIMIT: calls nested too deeply, or that
// become too much.
TENGINE_MUST_USE int expand_functions(OnnxModel* model, const struct context* context);

}  // namespace tengine

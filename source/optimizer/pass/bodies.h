// SPDX-License-Identifier: Apache-2.0
// Nodes of control flow in execution graphs.
#pragma once

#include "tengine/ir.h"

namespace tengine {

// Copies the bodies of a source node for the node, since their inputs belong to one execution
// graph.
int copy_bodies(node& node);

// Copies constants, types and shapes of the node's inputs to its bodies. The types of their
// results, and the shapes that are the same in each run, become those of the node's outputs.
int infer_bodies(node& node);

// Whether an If has a constant condition. The other function replaces it by the nodes of the
// branch, which are appended to the graph.
bool is_decided(const node& node);
int take_branch(graph& graph, node& node);

}  // namespace tengine

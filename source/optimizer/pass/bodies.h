// SPDX-License-Identifier: Apache-2.0
// Nodes of control flow in execution graphs.
#pragma once

#include "tengine/ir.h"

namespace tengine {

// A node's own copies of the bodies of a source node, shared until here: their inputs are those of
// one execution graph.
int copy_bodies(node& node);

// Constants, types and shapes of the node's inputs become those of its bodies, and the types of
// their results, with the shapes where each run has the same, become those of the node's outputs.
int infer_bodies(node& node);

// An If whose condition is constant: the nodes of the branch take its place, appended to the graph,
// and the node is gone.
bool is_decided(const node& node);
int take_branch(graph& graph, node& node);

}  // namespace tengine

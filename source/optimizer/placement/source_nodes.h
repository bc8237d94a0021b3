// SPDX-License-Identifier: Apache-2.0
// Nodes that stay as the model's file has them, because a device knows TensorFlow Lite's operators
// (allocator.keep). If the default device computes such a node after all, the graph of its part is
// lowered when it is detached.
#pragma once

#include "optimizer/pass.h"

namespace tengine {

// Whether a device of the graph may choose nodes, and the model has TensorFlow Lite's operators.
bool may_keep_source_nodes(const graph& source);
// Lets the devices choose, in the copy of the source graph before any pass. `plain`: the model in
// float, which has the shapes of the run; NULL: it could not be made, and the model's shapes hold.
int keep_source_nodes(graph& execution, const graph* plain);
// Whether a device has chosen the node.
bool is_kept(const node& node);
// Whether the graph of a part has nodes that are to be lowered.
bool has_source_nodes(const graph& part);

}  // namespace tengine

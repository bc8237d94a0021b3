// SPDX-License-Identifier: Apache-2.0
// Nodes with a kernel of the program's own (operator/custom_kernel.h) in execution graphs.
#pragma once

#include "optimizer/graph/extent.h"
#include "tengine/ir.h"

namespace tengine {

// Whether a source node's kernel is to run it. One that refused the node is left out until
// accept_kernels(), and so are all after refuse_kernels(), for graphs that are not run.
bool has_willing_kernel(const node& source);
// Whether an execution graph has a node that such a kernel runs.
bool has_custom_nodes(const graph& execution);
int count_willing_kernels(const graph& source, const Extent& extent);
void accept_kernels(const graph& source, const Extent& extent);
void refuse_kernels(const graph& source);

// The node "tengine.Custom" that stands for a source node; unconnected.
int add_custom_node(const node& source, graph& target, node** out_node);

// Types and shapes of the outputs: types by the operator the node stands for or, where that is not
// known or the tensors are quantised, as the source graph's tensors have them; shapes by the
// kernel, or else by the operator. Then the kernel is asked whether it takes the node.
// OP_SHAPE_LATER: shapes are known at run time only.
int infer_custom_node(node& node);

}  // namespace tengine

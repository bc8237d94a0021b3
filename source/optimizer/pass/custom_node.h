// SPDX-License-Identifier: Apache-2.0
// Nodes with a kernel of the program's own (operator/custom/custom_kernel.h) in execution graphs.
#pragma once

#include "optimizer/graph/extent.h"
#include "tengine/ir.h"

namespace tengine {

// Whether a source node's kernel runs it. False for a node that its kernel has refused, until
// accept_kernels(), and for all after refuse_kernels(), for graphs that are not run.
bool has_willing_kernel(const node& source);
// Whether an execution graph has a node that such a kernel runs.
bool has_custom_nodes(const graph& execution);
int count_willing_kernels(const graph& source, const Extent& extent);
void accept_kernels(const graph& source, const Extent& extent);
void refuse_kernels(const graph& source);

// The node "tengine.Custom" that stands for a source node; unconnected.
int add_custom_node(const node& source, graph& target, node** out_node);

// Infers types and shapes of the outputs. Types come from the operator that the node stands for or,
// if it is not known or tensors are quantised, from the source graph's tensors; shapes from the
// kernel, or else from the operator. Then the kernel accepts or refuses the node. OP_SHAPE_LATER:
// shapes are known at run time only.
int infer_custom_node(node& node);

}  // namespace tengine

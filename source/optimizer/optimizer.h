// SPDX-License-Identifier: Apache-2.0
// From source graph to execution graph: the fixed list of passes (pipeline.cc).
#pragma once

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// A copy of `source` that shares its constants, taken through all passes: ONNX operators of the
// newest opset, shapes, folded constants, parts with their devices, memory between parts. The
// source is not changed. *out_graph is to be destroyed with destroy_ir_graph() before the source.
int create_execution_graph(const struct graph* source, const ir_run_options_t* options,
                           struct graph** out_graph);

// The default split: fills graph->subgraph_list and the nodes' subgraph_idx from the devices of
// the graph's context (see split.cc).
int split_graph_node_to_sub_graph(struct graph* graph);

#ifdef __cplusplus
}
#endif

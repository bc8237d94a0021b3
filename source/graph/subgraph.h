// SPDX-License-Identifier: Apache-2.0
// Parts of an execution graph, each run by one device.
#pragma once

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

void init_ir_subgraph(struct graph* graph, ir_subgraph_t* subgraph, int index);

// Appends an empty part for `device` to graph->subgraph_list; NULL when out of memory.
ir_subgraph_t* create_ir_subgraph(struct graph* graph, struct device* device);

// Frees it; its device_graph goes through the device's release_graph.
void release_ir_subgraph(struct graph* ir_graph, ir_subgraph_t* ir_subgraph);
void release_ir_subgraph_list(struct graph* graph);

// Fills input and output tensor lists, wait counts and the tensors' subgraph lists of every part
// from the nodes' subgraph_idx.
int connect_ir_subgraphs(struct graph* graph);

#ifdef __cplusplus
}
#endif

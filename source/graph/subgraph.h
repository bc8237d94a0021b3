// SPDX-License-Identifier: Apache-2.0
// Parts of an execution graph, each run by one device. How one is made: tengine/device.h.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

void init_ir_subgraph(struct graph* graph, struct subgraph* subgraph, int index);

// Frees it (NULL is allowed); its device_graph goes through the device's release_graph.
void release_ir_subgraph(struct graph* ir_graph, struct subgraph* ir_subgraph);
void release_ir_subgraph_list(struct graph* graph);

// The group of a part of an execution graph (ir_verdict_t): that of its nodes which have one; 0
// when none has.
int get_ir_subgraph_group(const struct subgraph* part);

// Fills input and output tensor lists, wait counts and the tensors' subgraph lists of every part
// from the nodes' subgraph_idx.
int connect_ir_subgraphs(struct graph* graph);
// The same for the lists and count of one part only, so that taking a large part to pieces does not
// look at the whole graph for each piece.
int list_ir_boundary_tensors(struct subgraph* part);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Parts of an execution graph, each run by one device. How one is made: tengine/device.h.
#pragma once

#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

void init_ir_subgraph(struct graph* graph, struct subgraph* subgraph, int index);

// Frees a part (NULL is allowed); the device's release_graph frees its device_graph.
void release_ir_subgraph(struct graph* ir_graph, struct subgraph* ir_subgraph);
void release_ir_subgraph_list(struct graph* graph);

// The group of a part of an execution graph (ir_verdict_t): the group of its nodes that have one; 0
// when none has.
int get_ir_subgraph_group(const struct subgraph* part);

// Computes the input and output tensor lists and wait counts of all parts, and the tensors'
// subgraph lists, from the nodes' subgraph_idx.
int connect_ir_subgraphs(struct graph* graph);
// Computes the lists and the count of one part only, so that splitting a large part does not visit
// the whole graph for each piece.
int list_ir_boundary_tensors(struct subgraph* part);

TENGINE_EXTERN_C_END

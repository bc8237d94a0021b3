// SPDX-License-Identifier: Apache-2.0
// Which devices the user wants for which nodes: rules in the order they were given; for each node
// the last rule that fits it counts.
#pragma once

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// "conv*": nodes by name, with * for any characters and ? for one; "op:Softmax": by operator.
typedef struct ir_affinity
{
    char* nodes;
    char* devices;  // "A,B": only these; "!A": any but these
} ir_affinity_t;

// Appends a rule to graph->affinity. ENOENT when no node of the graph fits `nodes`; EINVAL for an
// empty or mixed list. Whether the devices exist is the caller's to check.
int add_ir_graph_affinity(struct graph* graph, const char* nodes, const char* devices);
int copy_ir_graph_affinity(const struct graph* from, struct graph* to);
void release_ir_graph_affinity(struct graph* graph);

// The devices text of the rule for a node, NULL when none fits. A node of an execution graph is
// known by its own name and operator and by those of the model's node it stands for, which
// `source` is if there is one.
const char* find_ir_node_affinity(const struct graph* graph, const struct node* node,
                                  const struct node* source);
// Whether a devices text lets `device` have the node, and whether it names it.
bool allows_ir_affinity(const char* devices, const char* device);
bool names_ir_affinity(const char* devices, const char* device);

#ifdef __cplusplus
}
#endif

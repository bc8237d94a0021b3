// SPDX-License-Identifier: Apache-2.0
// Nodes and tensors by their names, in constant time: a hash table of indices, which the first
// look-up in a large list creates and later ones extend. Hostile names may have the same hash.
#pragma once

#include "graph/core.h"

TENGINE_EXTERN_C_BEGIN

// The first node (tensor) of this name; -1: none.
int find_ir_node_name(const struct graph* graph, const char* name);
int find_ir_tensor_name(const struct graph* graph, const char* name);

// Invalidates the index; called by functions that remove, renumber or rename nodes or tensors.
// Appended ones are found without it.
#ifdef TENGINE_MINIMAL
static inline void forget_ir_names(struct graph* graph)
{
    (void)graph;
}
#else
void forget_ir_names(struct graph* graph);
#endif

TENGINE_EXTERN_C_END

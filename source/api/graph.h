// SPDX-License-Identifier: Apache-2.0
// Graphs that functions of the C API make of other graphs.
#pragma once

#include "api/handle.h"

// The handle of `graph`, a changed copy of that of `parent`. The graph enters the table, with its
// parent's context and format. The function owns the graph: after a failure it is destroyed, and
// NULL is returned.
graph_t give_graph(struct graph* graph, const api_graph_t* parent);

// Fills an empty graph with an entry of the parent's file, and makes it one of its entries. Such a
// graph is not in the table; the second function destroys it. After a failure it is destroyed.
TENGINE_MUST_USE int create_entry_graph(struct graph* parent, int entry, struct graph** out_graph);
void destroy_entry_graph(struct graph* graph);

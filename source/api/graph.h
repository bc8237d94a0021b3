// SPDX-License-Identifier: Apache-2.0
// Graphs that functions of the C API make of others.
#pragma once

#include "api/handle.h"

// The handle of `graph`, a changed copy of that of `parent`, with its entry in the table and the
// context and the format of that one. Takes the graph over: after a failure it is gone, and NULL
// returned.
graph_t give_graph(struct graph* graph, const api_graph_t* parent);

// SPDX-License-Identifier: Apache-2.0
// Custom kernels of a graph's nodes: their end with a preparation or with the graph.
#pragma once

#include "api/handle.h"

TENGINE_EXTERN_C_BEGIN

// Calls postrun of the prepared kernels that no plan uses any more: after the preparation of a
// graph, successful or not, and after its end. Reports the first failure.
int finish_graph_kernels(const api_graph_t* owner);

// Removes all kernels; none of them is prepared.
void release_graph_kernels(const struct graph* graph);

TENGINE_EXTERN_C_END

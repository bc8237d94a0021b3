// SPDX-License-Identifier: Apache-2.0
// Custom kernels of a graph's nodes, as far as the graph's life concerns them.
#pragma once

#include "api/handle.h"

TENGINE_EXTERN_C_BEGIN

// postrun of the kernels that are prepared and that no plan uses any more: after the preparation of
// a graph, successful or not, and after its end. Reports the first failure.
int finish_graph_kernels(const api_graph_t* owner);

// Takes all kernels off; nothing is prepared.
void release_graph_kernels(const struct graph* graph);

TENGINE_EXTERN_C_END

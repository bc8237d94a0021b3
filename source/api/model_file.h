// SPDX-License-Identifier: Apache-2.0
// The files that a graph was loaded from, while it lives.
#pragma once

#include "graph/graph.h"

// TENGINE_EIO when one that is mapped has changed in place since.
TENGINE_MUST_USE int check_model_files(const struct graph* graph);

// TENGINE_EINVAL when `path` is one of them, by whatever name.
TENGINE_MUST_USE int check_spares_model(const struct graph* graph, const char* path,
                                        const char* function);

// SPDX-License-Identifier: Apache-2.0
// The files that a graph was loaded from, while it lives.
#pragma once

#include "graph/graph.h"

// TENGINE_EIO when one that is mapped has changed in place since.
TENGINE_MUST_USE int check_model_files(const struct graph* graph);

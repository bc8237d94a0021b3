// SPDX-License-Identifier: Apache-2.0
// The files that a graph was loaded from.
#pragma once

#include "graph/graph.h"

// TENGINE_EIO when a mapped file has changed in place since it was loaded.
TENGINE_MUST_USE int check_model_files(const struct graph* graph);

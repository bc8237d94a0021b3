// SPDX-License-Identifier: Apache-2.0
// The cost of running a graph, for tests that run unreviewed graphs.
#pragma once

#include <cstdint>

struct graph;

namespace tengine::test {

// Returns the bytes of all tensors of the execution graph plus a share of its multiplications,
// without allocating a run. -1 if it cannot be prepared; then an error is set.
int64_t measure_run(graph* source);

}  // namespace tengine::test

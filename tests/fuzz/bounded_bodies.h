// SPDX-License-Identifier: Apache-2.0
// A model may be a Loop without an end, which is the program's business. Fuzz targets let bodies
// run a number of times, then a run fails.
#pragma once

struct graph;

namespace tengine::test {

// The graph must be prepared.
void bound_bodies(struct graph* source);

}  // namespace tengine::test

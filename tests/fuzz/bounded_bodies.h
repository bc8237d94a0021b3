// SPDX-License-Identifier: Apache-2.0
// A model may be an endless Loop, which is the program's responsibility. Fuzz targets limit the
// number of body runs; after it a run fails.
#pragma once

struct graph;

namespace tengine::test {

// The graph must be prepared.
void bound_bodies(struct graph* source);

}  // namespace tengine::test

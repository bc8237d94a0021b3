// SPDX-License-Identifier: Apache-2.0
// Buckets (tengine/bucket.h) with the models of the suite: each axis of each input becomes shorter,
// and the shapes of the test are the bucket.
#pragma once

#include <functional>

#include "tengine/c_api.h"

namespace tengine::conformance {

struct PaddingCounts
{
    int exact = 0;       // requests that ran in the bucket
    int not_exact = 0;   // those that the library prepared for their own shapes
    int other_bits = 0;  // exact ones with results whose last bits differ, by the kernels' choice
};

// Compares each request that runs in the bucket with a graph of its own shapes, and with one of the
// bucket's shapes whose padding is NaN. Throws tools::Failure for results that differ.
void check_padding(graph_t graph, const std::function<void()>& compare, PaddingCounts* counts);

}  // namespace tengine::conformance

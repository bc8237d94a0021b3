// SPDX-License-Identifier: Apache-2.0
// The search for the layers that have to stay in float.
#pragma once

#include "calibration/comparison.h"

namespace tengine::calibration {

struct RankedLayer
{
    Layer layer;
    double decibels = 0;  // the outputs' when this layer alone is quantised
    bool is_float = false;
};

// Returns the layers with the largest effect of their own to float, as many in that order as a
// bisection finds necessary, and then returns to int8 those that the bound, in percent of the
// decisions, allows. The order is that of the first kOrderSamples samples; the bound holds on all
// samples. `request` quantises all of `layers`; those that stand alone are ranked, the one with the
// largest effect first. TENGINE_ERANGE: the bound is exceeded with one layer in int8.
class Search
{
  public:
    static constexpr int64_t kOrderSamples = 8;

    Search(graph_t graph, const Request& request, double max_drop)
        : graph_(graph), request_(request), max_drop_(max_drop)
    {
    }

    // `in_float`: the graph to compare with.
    TENGINE_MUST_USE int run(GraphPointer in_float, const Samples& samples,
                             const Vector<Layer>& layers, int threads);

    const Vector<RankedLayer>& ranked() const { return ranked_; }

  private:
    TENGINE_MUST_USE int rank(const Reference& reference, const Vector<Layer>& layers);
    TENGINE_MUST_USE int measure_drop(const Reference& reference, double* out_drop);
    TENGINE_MUST_USE int bisect(const Reference& reference);
    TENGINE_MUST_USE int return_layers(const Reference& reference);

    graph_t graph_;
    Request request_;
    double max_drop_;
    Vector<RankedLayer> ranked_;
};

// Names of the layers that stay in float.
Set<String> names_in_float(const Vector<RankedLayer>& ranked);

}  // namespace tengine::calibration

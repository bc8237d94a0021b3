// SPDX-License-Identifier: Apache-2.0
// Runs the float model on all samples and counts the values of its tensors.
#pragma once

#include "calibration/convolution.h"
#include "calibration/histogram.h"
#include "calibration/network.h"

namespace tengine::calibration {

struct Observation
{
    Map<String, Histogram> histograms;
    Set<String> not_finite;  // with an infinite value or NaN in a sample: without a range
    Map<String, ChannelMean> means;
    int64_t sample_number = 0;
};

// Counts the values of those of `tensors`, inputs of the graph or results of its nodes, that are
// fp32 and not empty, and takes the means of those that are also in `averaged`; the results become
// outputs of the graph.
TENGINE_MUST_USE int observe(graph_t graph, const Vector<String>& tensors,
                             const Set<String>& averaged, const SampleSource& samples, int threads,
                             Observation* out_observation);

}  // namespace tengine::calibration

// SPDX-License-Identifier: Apache-2.0
// Runs the float model on all samples and counts the values of its tensors.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "quantize/histogram.h"
#include "quantize/samples.h"
#include "tengine/c_api.h"

namespace tengine::tools {

using ShowProgress = std::function<void(int done, int total)>;

struct Calibration
{
    std::map<std::string, Histogram> histograms;
    std::set<std::string> not_finite;  // with an infinite value or NaN in a sample: without a range
};

// Counts the values of those of `tensors`, inputs of the graph or results of its nodes, that are
// fp32 and not empty; the results become outputs of the graph. Throws Failure: the model does not
// run.
Calibration calibrate(graph_t graph, const std::vector<std::string>& tensors,
                      const SampleSet& samples, int threads, const ShowProgress& show);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// Counts values. The contract is in calibration.h.
#include "quantize/calibration.h"

#include "quantize/network.h"
#include "tensor_file/failure.h"

namespace tengine::tools {

std::map<std::string, Histogram> calibrate(graph_t graph, const std::vector<std::string>& tensors,
                                           const SampleSet& samples, int threads,
                                           const ShowProgress& show)
{
    Network network(graph, tensors, threads);
    std::map<std::string, Histogram> histograms;
    for (size_t i = 0; i < samples.number; ++i) {
        const Sample sample = samples.read(i);
        network.run(sample);
        for (const std::string& tensor : tensors) {
            const FloatView view = network.view(tensor);
            if (!view.values || view.number == 0) continue;
            if (!histograms[tensor].add(view.values, view.number))
                throw Failure("sample " + std::to_string(i) + ": tensor '" + tensor +
                              "' has values that are not finite, which have no range");
        }
        show(static_cast<int>(i) + 1, static_cast<int>(samples.number));
    }
    return histograms;
}

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// Counts values. The contract is in calibration.h.
#include "quantize/calibration.h"

#include "quantize/masked_scores.h"
#include "quantize/network.h"

namespace tengine::tools {

Calibration calibrate(graph_t graph, const std::vector<std::string>& tensors,
                      const SampleSet& samples, int threads, const ShowProgress& show)
{
    MaskedScores scores(graph);
    Network network(graph, tensors, threads);
    Calibration calibration;
    for (size_t i = 0; i < samples.number; ++i) {
        const Sample sample = samples.read(i);
        network.run(sample);
        for (const std::string& tensor : tensors) {
            FloatView view = network.view(tensor);
            if (!view.values || view.number == 0) continue;
            view = scores.for_range(tensor, view);
            if (!calibration.histograms[tensor].add(view.values, view.number))
                calibration.not_finite.insert(tensor);
        }
        show(static_cast<int>(i) + 1, static_cast<int>(samples.number));
    }
    for (const std::string& tensor : calibration.not_finite)
        calibration.histograms.erase(tensor);
    return calibration;
}

}  // namespace tengine::tools

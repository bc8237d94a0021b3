// SPDX-License-Identifier: Apache-2.0
// Counts values. The contract is in observation.h.
#include "calibration/observation.h"

#include "calibration/failure.h"
#include "calibration/masked_scores.h"

namespace tengine::calibration {

int observe(graph_t graph, const Vector<String>& tensors, const Set<String>& averaged,
            const SampleSource& samples, int threads, Observation* out_observation)
{
    MaskedScores scores(graph);
    Network network(graph, threads);
    TENGINE_RETURN_IF_ERROR(network.show(tensors));
    for (int64_t i = 0;; ++i) {
        Sample sample;
        bool is_end;
        TENGINE_RETURN_IF_ERROR(samples.read(i, &sample, &is_end));
        if (is_end) break;
        TENGINE_RETURN_IF_ERROR(network.run(sample));
        for (const String& tensor : tensors) {
            FloatView view;
            TENGINE_RETURN_IF_ERROR(network.view(tensor, &view));
            if (!view.values || view.number == 0) continue;
            view = scores.for_range(tensor, view);
            if (!out_observation->histograms[tensor].add(view.values, view.number))
                out_observation->not_finite.insert(tensor);
            if (averaged.count(tensor) != 0)
                out_observation->means[tensor].add(view.values, view.shape);
        }
        out_observation->sample_number = i + 1;
        TENGINE_RETURN_IF_ERROR(samples.show_progress(i + 1, 0));
    }
    for (const String& tensor : out_observation->not_finite)
        out_observation->histograms.erase(tensor);
    if (out_observation->sample_number > 0) return TENGINE_OK;
    return fail(TENGINE_EINVAL, "read_sample gave no samples: ranges come from running samples");
}

}  // namespace tengine::calibration

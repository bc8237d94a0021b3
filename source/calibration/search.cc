// SPDX-License-Identifier: Apache-2.0
// Ranks, bisects, returns. The contract is in search.h.
#include "calibration/search.h"

#include "base/sort.hpp"
#include "calibration/failure.h"

namespace tengine::calibration {

Set<String> names_in_float(const Vector<RankedLayer>& ranked)
{
    Set<String> names;
    for (const RankedLayer& entry : ranked)
        if (entry.is_float) names.insert(entry.layer.name());
    return names;
}

int Search::rank(const Reference& reference, const Vector<Layer>& layers)
{
    const auto number = static_cast<int64_t>(layers.size());
    int64_t done = 0;
    Request request = request_;
    for (const Layer& layer : layers) {
        TENGINE_RETURN_IF_ERROR(reference.samples().source.show_progress(++done, number));
        if (!layer.stands_alone) continue;
        request.only = &layer.name();
        QuantizedGraph quantized;
        Comparison alone;
        TENGINE_RETURN_IF_ERROR(quantize_graph(graph_, request, &quantized));
        TENGINE_RETURN_IF_ERROR(reference.compare(quantized.graph.get(), kOrderSamples, &alone));
        ranked_.push_back({layer, alone.whole.decibels(), false});
    }
    sort_stably(ranked_,
                [](const RankedLayer& a, const RankedLayer& b) { return a.decibels < b.decibels; });
    return TENGINE_OK;
}

int Search::measure_drop(const Reference& reference, double* out_drop)
{
    const Set<String> in_float = names_in_float(ranked_);
    Request request = request_;
    request.in_float = &in_float;
    QuantizedGraph quantized;
    Comparison comparison;
    TENGINE_RETURN_IF_ERROR(quantize_graph(graph_, request, &quantized));
    TENGINE_RETURN_IF_ERROR(
        reference.compare(quantized.graph.get(), reference.samples().number, &comparison));
    *out_drop = comparison.decisions.drop();
    return TENGINE_OK;
}

// Finds by bisection the smallest number of layers that must be in float.
int Search::bisect(const Reference& reference)
{
    const auto set_float = [this](size_t number) {
        for (size_t i = 0; i < ranked_.size(); ++i)
            ranked_[i].is_float = i < number;
    };
    size_t least = 0;
    size_t most = ranked_.size() - 1;
    set_float(most);
    double drop;
    TENGINE_RETURN_IF_ERROR(measure_drop(reference, &drop));
    if (drop > max_drop_)
        return fail(TENGINE_ERANGE,
                    "max_drop %g cannot be reached: with '%s' as the only node in int8, %g %% of "
                    "the decisions differ from float",
                    max_drop_, ranked_.back().layer.name().c_str(), drop);
    while (least < most) {
        const size_t middle = least + (most - least) / 2;
        set_float(middle);
        TENGINE_RETURN_IF_ERROR(measure_drop(reference, &drop));
        if (drop <= max_drop_) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    set_float(most);
    return TENGINE_OK;
}

// The effect of several layers is not the sum of their effects, so some of those in float may be
// returned to int8: those with the smallest effect are tried first.
int Search::return_layers(const Reference& reference)
{
    const auto number = static_cast<int64_t>(ranked_.size());
    for (size_t i = ranked_.size(); i-- > 0;) {
        TENGINE_RETURN_IF_ERROR(
            reference.samples().source.show_progress(number - static_cast<int64_t>(i), number));
        if (!ranked_[i].is_float) continue;
        ranked_[i].is_float = false;
        double drop;
        TENGINE_RETURN_IF_ERROR(measure_drop(reference, &drop));
        ranked_[i].is_float = drop > max_drop_;
    }
    return TENGINE_OK;
}

int Search::run(GraphPointer in_float, const Samples& samples, const Vector<Layer>& layers,
                int threads)
{
    Reference reference(std::move(in_float), samples, threads);
    TENGINE_RETURN_IF_ERROR(reference.record());
    TENGINE_RETURN_IF_ERROR(rank(reference, layers));
    TENGINE_RETURN_IF_ERROR(bisect(reference));
    return return_layers(reference);
}

}  // namespace tengine::calibration

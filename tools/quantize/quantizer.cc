// SPDX-License-Identifier: Apache-2.0
// Calibrate, choose, write. The contract is in quantizer.h.
#include "quantize/quantizer.h"

#include <algorithm>

#include "tensor_file/failure.h"
#include "text.h"

namespace tengine::tools {

Quantizer::Quantizer(const FloatModel& model, const SampleSet& samples,
                     const QuantizeOptions& options, const ShowProgress& show)
    : model_(model), samples_(samples), options_(options)
{
    set_scales(options.scales);
    request_.keep_float = options.keep_float;
    const std::vector<std::string> tensors = model.tensors_to_calibrate(request_);
    const GraphPointer in_float = model.in_float();
    Calibration calibration = calibrate(in_float.get(), tensors, samples, options.threads, show);
    for (const auto& [tensor, histogram] : calibration.histograms)
        request_.ranges[tensor] = choose_range(histogram, options.method, options.percentile);
    not_finite_ = std::move(calibration.not_finite);
    QuantizedModel quantized = model.quantize(request_);
    kept_ = std::move(quantized.kept);
    layers_ = std::move(quantized.layers);
    if (layers_.empty()) throw Failure("there is nothing to quantise: " + find_cause());
}

void Quantizer::set_scales(const WeightScales& scales)
{
    request_.per_tensor = scales.per_tensor;
    request_.unsigned_activations = scales.unsigned_activations;
}

QuantizationRequest Quantizer::request_with(const WeightScales& scales) const
{
    QuantizationRequest request = request_;
    request.per_tensor = scales.per_tensor;
    request.unsigned_activations = scales.unsigned_activations;
    return request;
}

std::string Quantizer::find_cause() const
{
    if (!kept_.empty()) return "--keep-float keeps every node in float";
    const std::string type = model_.float_type();
    if (not_finite_.empty() && !type.empty() && type != "fp32")
        return "the model is " + type + ": expected fp32, from which it was made";
    if (not_finite_.empty()) return "no node has an int8 form" + model_.bodies_in_float();
    return "tensor '" + *not_finite_.begin() + "' has values that are not finite";
}

std::set<std::string> Quantizer::float_nodes() const
{
    std::set<std::string> names = kept_;
    for (const ChosenNode& node : chosen_)
        if (node.is_float) names.insert(node.name);
    return names;
}

QuantizedModel Quantizer::quantize() const
{
    const std::set<std::string> in_float = float_nodes();
    QuantizationRequest request = request_;
    request.takes = [&](const QuantizedLayer& layer) { return in_float.count(layer.name) == 0; };
    return model_.quantize(request);
}

void Quantizer::order_nodes(const Reference& reference, const ShowProgress& show)
{
    int done = 0;
    QuantizationRequest request = request_;
    for (const QuantizedLayer& layer : layers_) {
        show(++done, static_cast<int>(layers_.size()));
        if (!layer.stands_alone) continue;
        request.takes = [&](const QuantizedLayer& other) { return other.name == layer.name; };
        const QuantizedModel quantized = model_.quantize(request);
        const Comparison alone = reference.compare(quantized.graph.get(), kOrderSamples);
        chosen_.push_back(
            {layer.name, layer.op.substr(0, layer.op.find('+')), alone.whole.decibels(), false});
    }
    std::stable_sort(chosen_.begin(), chosen_.end(), [](const ChosenNode& a, const ChosenNode& b) {
        return a.decibels < b.decibels;
    });
}

double Quantizer::measure_drop(const Reference& reference) const
{
    const QuantizedModel quantized = quantize();
    return reference.compare(quantized.graph.get(), reference.sample_number()).decisions.drop();
}

// Finds by bisection the smallest number of nodes that must be in float.
void Quantizer::bisect(const Reference& reference)
{
    const auto set_float = [this](size_t number) {
        for (size_t i = 0; i < chosen_.size(); ++i)
            chosen_[i].is_float = i < number;
    };
    size_t least = 0;
    size_t most = chosen_.size() - 1;
    set_float(most);
    const double drop = measure_drop(reference);
    if (drop > *options_.max_drop)
        throw Failure("--max-drop " + number_text(*options_.max_drop) +
                      " cannot be reached: with '" + chosen_.back().name +
                      "' as the only node in int8, " + number_text(drop) +
                      " % of the decisions differ from float");
    while (least < most) {
        const size_t middle = least + (most - least) / 2;
        set_float(middle);
        if (measure_drop(reference) <= *options_.max_drop) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    set_float(most);
}

// The effect of several nodes is not the sum of their effects, so some of those in float may be
// returned to int8: those with the smallest effect are tried first.
void Quantizer::return_nodes(const Reference& reference, const ShowProgress& show)
{
    const int number = static_cast<int>(chosen_.size());
    for (size_t i = chosen_.size(); i-- > 0;) {
        show(number - static_cast<int>(i), number);
        if (!chosen_[i].is_float) continue;
        chosen_[i].is_float = false;
        chosen_[i].is_float = measure_drop(reference) > *options_.max_drop;
    }
}

void Quantizer::search(const ShowProgress& show)
{
    if (!options_.max_drop) return;
    const Reference reference(model_.in_float(), samples_, options_.threads);
    order_nodes(reference, show);
    bisect(reference);
    return_nodes(reference, show);
}

}  // namespace tengine::tools

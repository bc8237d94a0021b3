// SPDX-License-Identifier: Apache-2.0
// Calibrate, choose, write. The contract is in quantizer.h.
#include "quantize/quantizer.h"

#include <algorithm>

#include "tensor_file/failure.h"
#include "text.h"

namespace tengine::tools {
namespace {

// Others are quantised only in the company of these.
bool stands_alone(const QuantizedUnit& unit)
{
    return unit.op->role == QuantizedRole::kWeighted || unit.op->role == QuantizedRole::kArithmetic;
}

}  // namespace

Quantizer::Quantizer(const ::onnx::ModelProto& model, const SampleSet& samples,
                     const QuantizeOptions& options, const ShowProgress& show)
    : model_(model),
      samples_(samples),
      options_(options),
      index_(model.graph()),
      kept_(match_nodes(model.graph(), options.keep_float))
{
    const std::vector<std::string> tensors = tensors_to_calibrate(model.graph(), index_, kept_);
    histograms_ = calibrate(model, tensors, samples, options.threads, show);
    for (const auto& [tensor, histogram] : histograms_)
        ranges_[tensor] = choose_range(histogram, options.method, options.percentile);
    units_ = select_units(model.graph(), index_, histograms_, kept_);
    if (units_.empty())
        throw Failure("there is nothing to quantise: " +
                      std::string(kept_.empty() ? "no node is one that int8 is for"
                                                : "--keep-float keeps every node in float"));
}

QdqModel Quantizer::write(const std::vector<QuantizedUnit>& units) const
{
    return write_qdq_model(model_, units, quantize_tensors(model_.graph(), index_, units, ranges_),
                           options_.per_channel);
}

std::set<std::string> Quantizer::float_nodes() const
{
    std::set<std::string> names = kept_;
    for (const ChosenNode& node : chosen_)
        if (node.is_float) names.insert(node.name);
    return names;
}

std::vector<QuantizedUnit> Quantizer::select() const
{
    return select_units(model_.graph(), index_, histograms_, float_nodes());
}

void Quantizer::order_nodes(const Reference& reference, const ShowProgress& show)
{
    int done = 0;
    for (const QuantizedUnit& unit : units_) {
        show(++done, static_cast<int>(units_.size()));
        if (!stands_alone(unit)) continue;
        const ::onnx::NodeProto& node = model_.graph().node(unit.nodes[0]);
        const Comparison alone = reference.compare(write({unit}).model, kOrderSamples);
        chosen_.push_back({node.name(), node.op_type(), alone.whole.decibels(), false});
    }
    std::stable_sort(chosen_.begin(), chosen_.end(), [](const ChosenNode& a, const ChosenNode& b) {
        return a.decibels < b.decibels;
    });
}

double Quantizer::measure_drop(const Reference& reference) const
{
    return reference.compare(write(select()).model, reference.sample_number()).decisions.drop();
}

// Bisects for the least number of harmful nodes that have to be in float.
void Quantizer::search(const Reference& reference)
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

// The harm of several nodes is not the sum of what each does alone, so some of those in float need
// not be: the least harmful are tried first.
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

QdqModel Quantizer::quantize(const ShowProgress& show)
{
    if (options_.max_drop) {
        const Reference reference(model_, samples_, options_.threads);
        order_nodes(reference, show);
        search(reference);
        return_nodes(reference, show);
        units_ = select();
    }
    quantizations_ = quantize_tensors(model_.graph(), index_, units_, ranges_);
    return write_qdq_model(model_, units_, quantizations_, options_.per_channel);
}

}  // namespace tengine::tools

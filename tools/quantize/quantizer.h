// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation of one model, step by step, and the search for the nodes that have to
// stay in float. quantize_report.h prints the results.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quantize/comparison.h"
#include "quantize/float_model.h"

namespace tengine::tools {

// Kinds of weights and activations that devices may refuse.
struct WeightScales
{
    bool per_tensor = false;
    bool unsigned_activations = false;
};

struct QuantizeOptions
{
    RangeMethod method = RangeMethod::kMinMax;
    double percentile = kDefaultPercentile;
    WeightScales scales;
    std::vector<std::string> keep_float;  // patterns of nodes' names
    std::optional<double> max_drop;       // percent of decisions that may differ
    int threads = 1;
};

// One line of the chosen map.
struct ChosenNode
{
    std::string name;
    std::string op;
    double decibels = 0;  // the outputs' when this node alone is quantised
    bool is_float = false;
};

class Quantizer
{
  public:
    // Calibrates `model`, which must outlive the object. All functions throw Failure.
    Quantizer(const FloatModel& model, const SampleSet& samples, const QuantizeOptions& options,
              const ShowProgress& show);

    // The request for all nodes, with these scales.
    QuantizationRequest request_with(const WeightScales& scales) const;
    void set_scales(const WeightScales& scales);

    // Chooses the nodes in int8. Without a bound: all nodes except kept ones. With a bound: returns
    // the nodes with the largest effect of their own to float, as many in that order as a bisection
    // finds necessary, and then returns to int8 those that the bound allows. The order is that of
    // the first kOrderSamples samples; the bound holds on all samples. Throws Failure if no node
    // can be in int8.
    void search(const ShowProgress& show);

    // The model with the nodes that search() has chosen.
    QuantizedModel quantize() const;

    const std::vector<ChosenNode>& chosen() const { return chosen_; }  // empty without a bound
    // Names of the nodes that stay in float by request or for the bound.
    std::set<std::string> float_nodes() const;
    // Tensors with values that are not finite. Nodes that read or compute them stay in
    // float.
    const std::set<std::string>& not_finite() const { return not_finite_; }

    static constexpr size_t kOrderSamples = 8;

  private:
    std::string find_cause() const;  // the reason why no node is quantised
    void order_nodes(const Reference& reference, const ShowProgress& show);
    double measure_drop(const Reference& reference) const;
    void bisect(const Reference& reference);
    void return_nodes(const Reference& reference, const ShowProgress& show);

    const FloatModel& model_;
    const SampleSet& samples_;
    QuantizeOptions options_;
    QuantizationRequest request_;
    std::set<std::string> kept_, not_finite_;
    std::vector<QuantizedLayer> layers_;  // that could be quantised
    std::vector<ChosenNode> chosen_;      // the one with the largest effect first
};

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
#include "calibration/report.h"

#include <cstdio>
#include <limits>

namespace tengine::calibration {
namespace {

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

// The search's result for a node of a ranked layer.
struct Rank
{
    int place;
    double decibels;
    bool is_first;  // of the layer's nodes
    bool is_float;
};

Map<String, Rank> rank_nodes(const Vector<RankedLayer>& ranked)
{
    Map<String, Rank> ranks;
    for (size_t i = 0; i < ranked.size(); ++i)
        for (const String& node : ranked[i].layer.nodes)
            ranks.emplace(node, Rank{static_cast<int>(i), ranked[i].decibels,
                                     &node == &ranked[i].layer.name(), ranked[i].is_float});
    return ranks;
}

// Why a node stays in float.
struct Reason
{
    int code = TENGINE_FLOAT_NOT;
    String text;
};

Reason find_reason(const Node& node, const Rank* rank, const QuantizedGraph& present)
{
    if (present.kept.count(node.name) != 0)
        return {TENGINE_FLOAT_REQUESTED, "keep_float matches it"};
    if (rank && rank->is_float) {
        char text[96];
        std::snprintf(text, sizeof text,
                      "the search has returned it: with it alone in int8 the outputs have %.1f dB",
                      rank->decibels);
        return {TENGINE_FLOAT_DROP, text};
    }
    if (!node.not_finite.empty())
        return {TENGINE_FLOAT_NOT_FINITE,
                "tensor '" + node.not_finite + "' has values that are not finite"};
    return {TENGINE_FLOAT_NO_FORM, "it has no form in int8 at its place"};
}

void add_nodes(const Findings& findings, Report* report)
{
    const Map<String, Rank> ranks = rank_nodes(findings.ranked);
    Set<String> quantized;
    for (const Layer& layer : findings.present.layers)
        quantized.insert(layer.nodes.begin(), layer.nodes.end());
    report->texts.reserve(findings.nodes.size());
    for (const Node& node : findings.nodes) {
        const auto found = ranks.find(node.name);
        const Rank* rank = found == ranks.end() ? nullptr : &found->second;
        const bool has_place = rank && rank->is_first;
        Reason reason;
        if (quantized.count(node.name) == 0) reason = find_reason(node, rank, findings.present);
        report->texts.push_back(std::move(reason.text));
        report->nodes.push_back({node.name.c_str(), node.op.c_str(), reason.code,
                                 report->texts.back().c_str(), has_place ? rank->place : -1,
                                 has_place ? rank->decibels : kNoFigure});
    }
}

void add_layers(const Findings& findings, Report* report)
{
    for (const Layer& layer : findings.present.layers) {
        const int number = static_cast<int>(layer.nodes.size());
        report->layers.push_back(
            {layer.name().c_str(), layer.op.c_str(), layer.tensor.c_str(), number});
        report->summary.quantized_node_number += number;
    }
}

double find_decibels(const Map<String, Noise>& noise, const String& tensor)
{
    const auto found = noise.find(tensor);
    return found == noise.end() ? kNoFigure : found->second.decibels();
}

// Tensors that were observed, and constants that were quantised.
void add_tensors(const Findings& findings, Report* report)
{
    Map<String, tengine_calibrated_tensor> tensors;
    for (const auto& [name, observed] : findings.observed) {
        tengine_calibrated_tensor& tensor = tensors[name];
        tensor.method = observed.is_finite ? name_of(observed.method) : "";
        tensor.is_finite = observed.is_finite ? 1 : 0;
        tensor.low = observed.range.low;
        tensor.high = observed.range.high;
        tensor.least = observed.least;
        tensor.greatest = observed.greatest;
        tensor.name = name.c_str();
    }
    for (const auto& [name, quantization] : findings.present.quantizations) {
        tengine_calibrated_tensor& tensor = tensors[name];
        const bool is_constant = !tensor.name;
        if (is_constant) tensor.method = "";
        if (is_constant) tensor.is_finite = 1;
        tensor.name = name.c_str();
        tensor.is_quantized = 1;
        tensor.scale = quantization.scale;
        tensor.zero_point = quantization.zero_point;
    }
    for (auto& [name, tensor] : tensors) {
        tensor.snr_db = find_decibels(findings.comparison.tensors, name);
        report->tensors.push_back(tensor);
    }
}

}  // namespace

Report make_report(const Calibration& calibration)
{
    const Findings& findings = calibration.findings();
    const Comparison& comparison = findings.comparison;
    Report report;
    add_nodes(findings, &report);
    add_layers(findings, &report);
    add_tensors(findings, &report);
    for (const auto& [name, noise] : comparison.outputs)
        report.outputs.push_back({name.c_str(), noise.decibels()});
    tengine_calibration_summary& summary = report.summary;
    summary.sample_number = findings.sample_number;
    summary.folded_batch_norm_number = findings.folded_batch_norm_number;
    summary.node_number = static_cast<int>(report.nodes.size());
    summary.layer_number = static_cast<int>(report.layers.size());
    summary.tensor_number = static_cast<int>(report.tensors.size());
    summary.output_number = static_cast<int>(report.outputs.size());
    summary.per_channel = calibration.request().scales.per_channel;
    summary.unsigned_activations = calibration.request().scales.unsigned_activations;
    summary.thread_number = comparison.threads;
    summary.decision_number = comparison.decisions.number;
    summary.same_decision_number = comparison.decisions.same;
    summary.label_number = comparison.accuracy.number;
    summary.right_in_float_number = comparison.accuracy.right_in_float;
    summary.right_quantized_number = comparison.accuracy.right_in_int8;
    return report;
}

}  // namespace tengine::calibration

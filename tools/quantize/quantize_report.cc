// SPDX-License-Identifier: Apache-2.0
// Prints the report. The contract is in quantize_report.h.
#include "quantize/quantize_report.h"

#include <cmath>
#include <cstdio>

#include "quantize/device_choice.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {
namespace {

// Without any noise: "exact".
std::string decibel_text(double decibels)
{
    if (std::isinf(decibels) && decibels > 0) return "exact";
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", decibels);
    return text;
}

// JSON has no infinity.
Json decibel_json(double decibels)
{
    return std::isfinite(decibels) ? Json(decibels) : Json(nullptr);
}

// The name of a file; null where none was written.
Json name_json(const std::string& name)
{
    return name.empty() ? Json(nullptr) : Json(name);
}

double percent(size_t right, const Accuracy& accuracy)
{
    return 100.0 * static_cast<double>(right) / static_cast<double>(accuracy.number);
}

// Null without labels.
Json accuracy_json(const Accuracy& accuracy)
{
    if (accuracy.number == 0) return nullptr;
    return {{"labels", accuracy.number},
            {"float_percent", percent(accuracy.right_in_float, accuracy)},
            {"int8_percent", percent(accuracy.right_in_int8, accuracy)}};
}

void print_chosen(const std::vector<ChosenNode>& chosen)
{
    std::vector<std::vector<std::string>> rows = {{"computes in", "operator", ">dB alone", "node"}};
    for (const ChosenNode& node : chosen)
        rows.push_back(
            {node.is_float ? "float" : "int8", node.op, decibel_text(node.decibels), node.name});
    std::printf("\n%s", table_text(rows, terminal_style({"operator", "node"})).c_str());
}

void print_not_finite(const std::set<std::string>& tensors)
{
    std::printf(
        "\nin float    nodes that read or compute tensors with values that are not finite: %s%s\n",
        tensors.begin()->c_str(),
        tensors.size() > 1 ? (" and " + std::to_string(tensors.size() - 1) + " more").c_str() : "");
}

}  // namespace

std::vector<ReportedLayer> describe_layers(const QuantizedModel& quantized,
                                           const Comparison& comparison)
{
    std::vector<ReportedLayer> layers;
    for (const QuantizedLayer& layer : quantized.layers)
        layers.push_back({layer.name, layer.op, layer.tensor,
                          quantized.quantizations.at(layer.tensor),
                          comparison.tensors.at(layer.tensor).decibels()});
    return layers;
}

void print_report(const QuantizeReport& report)
{
    std::printf("samples     %zu\n", report.samples);
    std::printf("threads     %d\n", report.comparison.threads);
    if (report.counts.folded > 0)
        std::printf("folded      %d BatchNormalization into the Conv before\n",
                    report.counts.folded);
    std::printf("quantised   %d of %d nodes\n", report.quantized_nodes, report.counts.nodes);
    std::printf("scales      %s%s\n\n", scales_text(report.scales).c_str(),
                report.scales_reason.empty() ? "" : ("; " + report.scales_reason).c_str());
    std::vector<std::vector<std::string>> rows = {
        {"operator", ">dB", ">scale", ">zero point", "result", "node"}};
    for (const ReportedLayer& layer : report.layers)
        rows.push_back({layer.op, decibel_text(layer.decibels),
                        number_text(layer.quantization.scale),
                        std::to_string(layer.quantization.zero_point), layer.tensor, layer.name});
    std::printf("%s", table_text(rows, terminal_style({"operator", "result", "node"})).c_str());
    if (!report.chosen.empty()) print_chosen(report.chosen);
    if (!report.not_finite.empty()) print_not_finite(report.not_finite);
    std::printf("\n");
    for (const auto& [name, noise] : report.comparison.outputs)
        std::printf("output      %s  %s dB\n", visible_text(name).c_str(),
                    decibel_text(noise.decibels()).c_str());
    const Decisions& decisions = report.comparison.decisions;
    std::printf("decisions   %zu of %zu as in float, %s %% differ\n", decisions.same,
                decisions.number, number_text(decisions.drop()).c_str());
    const Accuracy& accuracy = report.comparison.accuracy;
    if (accuracy.number > 0)
        std::printf("accuracy    %s %% in float, %s %% in int8, of %zu labels\n",
                    decimal_text(percent(accuracy.right_in_float, accuracy), 2).c_str(),
                    decimal_text(percent(accuracy.right_in_int8, accuracy), 2).c_str(),
                    accuracy.number);
    if (!report.hint.empty()) std::printf("try         %s\n", report.hint.c_str());
    for (const std::string& path : {report.table, report.output})
        if (!path.empty()) std::printf("wrote       %s\n", path.c_str());
}

Json to_json(const QuantizeReport& report)
{
    Json layers = Json::array();
    for (const ReportedLayer& layer : report.layers)
        layers.push_back({{"name", layer.name},
                          {"operator", layer.op},
                          {"tensor", layer.tensor},
                          {"scale", layer.quantization.scale},
                          {"zero_point", layer.quantization.zero_point},
                          {"snr_db", decibel_json(layer.decibels)}});
    Json tensors = Json::object();
    for (const auto& [name, noise] : report.comparison.tensors)
        tensors[name] = decibel_json(noise.decibels());
    Json outputs = Json::object();
    for (const auto& [name, noise] : report.comparison.outputs)
        outputs[name] = decibel_json(noise.decibels());
    Json chosen = Json::array();
    for (const ChosenNode& node : report.chosen)
        chosen.push_back({{"name", node.name},
                          {"operator", node.op},
                          {"precision", node.is_float ? "float" : "int8"},
                          {"alone_snr_db", decibel_json(node.decibels)}});
    Json not_finite = Json::array();
    for (const std::string& tensor : report.not_finite)
        not_finite.push_back(tensor);
    const Decisions& decisions = report.comparison.decisions;
    return {{"version", 1},
            {"model", report.model},
            {"output", name_json(report.output)},
            {"table", name_json(report.table)},
            {"method", report.method},
            {"per_channel", !report.scales.per_tensor},
            {"activations", report.scales.unsigned_activations ? "uint8" : "int8"},
            {"scales_reason", name_json(report.scales_reason)},
            {"hint", name_json(report.hint)},
            {"samples", report.samples},
            {"threads", report.comparison.threads},
            {"folded_batch_norms", report.counts.folded},
            {"nodes", report.counts.nodes},
            {"quantized_nodes", report.quantized_nodes},
            {"layers", layers},
            {"tensor_snr_db", tensors},
            {"output_snr_db", outputs},
            {"decisions", decisions.number},
            {"same_decisions", decisions.same},
            {"drop_percent", decisions.drop()},
            {"accuracy", accuracy_json(report.comparison.accuracy)},
            {"chosen", chosen},
            {"not_finite", not_finite}};
}

}  // namespace tengine::tools

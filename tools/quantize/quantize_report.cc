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

double percent(int64_t part, int64_t whole)
{
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Null without labels.
Json accuracy_json(const tengine_calibration_summary& summary)
{
    if (summary.label_number == 0) return nullptr;
    return {{"labels", summary.label_number},
            {"float_percent", percent(summary.right_in_float_number, summary.label_number)},
            {"int8_percent", percent(summary.right_quantized_number, summary.label_number)}};
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

double QuantizeReport::drop() const
{
    const int64_t number = summary.decision_number;
    return number == 0 ? 0 : percent(number - summary.same_decision_number, number);
}

NodeCounts count_nodes(const Calibration& calibration)
{
    const tengine_calibration_summary summary = calibration.summary();
    return {summary.folded_batch_norm_number, summary.node_number, summary.quantized_node_number};
}

std::vector<ReportedLayer> describe_layers(const Calibration& calibration)
{
    std::map<std::string, tengine_calibrated_tensor> tensors;
    for (const tengine_calibrated_tensor& tensor : calibration.tensors())
        tensors[tensor.name] = tensor;
    std::vector<ReportedLayer> layers;
    for (const tengine_calibrated_layer& layer : calibration.layers()) {
        const tengine_calibrated_tensor& tensor = tensors[layer.tensor];
        layers.push_back(
            {layer.name, layer.op, layer.tensor, tensor.scale, tensor.zero_point, tensor.snr_db});
    }
    return layers;
}

void add_findings(const Calibration& calibration, QuantizeReport* report)
{
    report->summary = calibration.summary();
    report->scales = {report->summary.per_channel == TENGINE_PER_TENSOR,
                      report->summary.unsigned_activations != 0};
    report->counts = count_nodes(calibration);
    report->layers = describe_layers(calibration);
    std::map<int, ChosenNode> chosen;  // by rank
    for (const tengine_calibrated_node& node : calibration.nodes())
        if (node.rank >= 0)
            chosen[node.rank] = {node.name, node.op, node.alone_snr_db,
                                 node.reason != TENGINE_FLOAT_NOT};
    for (const auto& [rank, node] : chosen)
        report->chosen.push_back(node);
    for (const tengine_calibrated_tensor& tensor : calibration.tensors()) {
        if (!tensor.is_finite) report->not_finite.insert(tensor.name);
        if (tensor.is_quantized && tensor.method[0] != '\0')
            report->tensor_decibels[tensor.name] = tensor.snr_db;
    }
    for (const tengine_calibrated_output& output : calibration.outputs())
        report->output_decibels[output.name] = output.snr_db;
}

void print_report(const QuantizeReport& report)
{
    const tengine_calibration_summary& summary = report.summary;
    std::printf("samples     %lld\n", static_cast<long long>(summary.sample_number));
    std::printf("threads     %d\n", summary.thread_number);
    if (report.counts.folded > 0)
        std::printf("folded      %d BatchNormalization into the Conv before\n",
                    report.counts.folded);
    std::printf("quantised   %d of %d nodes\n", report.counts.quantized, report.counts.nodes);
    std::printf("scales      %s%s\n\n", scales_text(report.scales).c_str(),
                report.scales_reason.empty() ? "" : ("; " + report.scales_reason).c_str());
    std::vector<std::vector<std::string>> rows = {
        {"operator", ">dB", ">scale", ">zero point", "result", "node"}};
    for (const ReportedLayer& layer : report.layers)
        rows.push_back({layer.op, decibel_text(layer.decibels), number_text(layer.scale),
                        std::to_string(layer.zero_point), layer.tensor, layer.name});
    std::printf("%s", table_text(rows, terminal_style({"operator", "result", "node"})).c_str());
    if (!report.chosen.empty()) print_chosen(report.chosen);
    if (!report.not_finite.empty()) print_not_finite(report.not_finite);
    std::printf("\n");
    for (const auto& [name, decibels] : report.output_decibels)
        std::printf("output      %s  %s dB\n", visible_text(name).c_str(),
                    decibel_text(decibels).c_str());
    std::printf("decisions   %lld of %lld as in float, %s %% differ\n",
                static_cast<long long>(summary.same_decision_number),
                static_cast<long long>(summary.decision_number),
                number_text(report.drop()).c_str());
    const int64_t labels = summary.label_number;
    if (labels > 0)
        std::printf("accuracy    %s %% in float, %s %% in int8, of %lld labels\n",
                    decimal_text(percent(summary.right_in_float_number, labels), 2).c_str(),
                    decimal_text(percent(summary.right_quantized_number, labels), 2).c_str(),
                    static_cast<long long>(labels));
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
                          {"scale", layer.scale},
                          {"zero_point", layer.zero_point},
                          {"snr_db", decibel_json(layer.decibels)}});
    Json tensors = Json::object();
    for (const auto& [name, decibels] : report.tensor_decibels)
        tensors[name] = decibel_json(decibels);
    Json outputs = Json::object();
    for (const auto& [name, decibels] : report.output_decibels)
        outputs[name] = decibel_json(decibels);
    Json chosen = Json::array();
    for (const ChosenNode& node : report.chosen)
        chosen.push_back({{"name", node.name},
                          {"operator", node.op},
                          {"precision", node.is_float ? "float" : "int8"},
                          {"alone_snr_db", decibel_json(node.decibels)}});
    Json not_finite = Json::array();
    for (const std::string& tensor : report.not_finite)
        not_finite.push_back(tensor);
    const tengine_calibration_summary& summary = report.summary;
    return {{"version", 1},
            {"model", report.model},
            {"output", name_json(report.output)},
            {"table", name_json(report.table)},
            {"method", report.method},
            {"per_channel", !report.scales.per_tensor},
            {"activations", report.scales.unsigned_activations ? "uint8" : "int8"},
            {"scales_reason", name_json(report.scales_reason)},
            {"hint", name_json(report.hint)},
            {"samples", summary.sample_number},
            {"threads", summary.thread_number},
            {"folded_batch_norms", report.counts.folded},
            {"nodes", report.counts.nodes},
            {"quantized_nodes", report.counts.quantized},
            {"layers", layers},
            {"tensor_snr_db", tensors},
            {"output_snr_db", outputs},
            {"decisions", summary.decision_number},
            {"same_decisions", summary.same_decision_number},
            {"drop_percent", report.drop()},
            {"accuracy", accuracy_json(summary)},
            {"chosen", chosen},
            {"not_finite", not_finite}};
}

}  // namespace tengine::tools

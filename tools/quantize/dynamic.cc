// SPDX-License-Identifier: Apache-2.0
#include "quantize/dynamic.h"

#include <cstdio>

#include "terminal.h"
#include "text.h"

namespace tengine::tools {

DynamicModel quantize_dynamically(const FloatModel& model, const QuantizeOptions& options)
{
    Calibration calibration(model, options);
    calibration.run({}, nullptr);
    DynamicModel made = {calibration.quantize(), {}};
    made.report.counts = count_nodes(calibration);
    made.report.layers = describe_layers(calibration);
    std::map<std::string, std::string> operators;
    for (const tengine_calibrated_node& node : calibration.nodes())
        if (node.reason != TENGINE_FLOAT_NOT) operators[node.name] = node.op;
    for (const auto& [name, op] : operators)
        ++made.report.in_float[op];
    return made;
}

void print_report(const DynamicReport& report)
{
    if (report.counts.folded > 0)
        std::printf("folded      %d BatchNormalization into the Conv before\n",
                    report.counts.folded);
    std::printf("quantised   %zu of %d nodes, to the range that they read in each run\n",
                report.layers.size(), report.counts.nodes);
    std::string in_float;
    for (const auto& [op, number] : report.in_float)
        in_float += (in_float.empty() ? "" : ", ") + std::to_string(number) + " " + op;
    if (!in_float.empty()) std::printf("in float    %s\n", in_float.c_str());
    std::vector<std::vector<std::string>> rows = {{"operator", "result", "node"}};
    for (const ReportedLayer& layer : report.layers)
        rows.push_back({layer.op, layer.tensor, layer.name});
    std::printf("\n%s\nwrote       %s\n",
                table_text(rows, terminal_style({"result", "node"})).c_str(),
                report.output.c_str());
}

Json to_json(const DynamicReport& report)
{
    Json layers = Json::array();
    for (const ReportedLayer& layer : report.layers)
        layers.push_back({{"name", layer.name}, {"operator", layer.op}, {"tensor", layer.tensor}});
    return {{"version", 1},
            {"model", report.model},
            {"output", report.output},
            {"method", "dynamic"},
            {"folded_batch_norms", report.counts.folded},
            {"nodes", report.counts.nodes},
            {"quantized_nodes", report.layers.size()},
            {"layers", layers},
            {"in_float", report.in_float}};
}

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
#include "quantize/dynamic.h"

#include <cstdio>

#include "tensor_file/failure.h"
#include "terminal.h"
#include "text.h"

namespace tengine::tools {

DynamicModel quantize_dynamically(const FloatModel& model,
                                  const std::vector<std::string>& keep_float)
{
    QuantizationRequest request;
    request.dynamic = true;
    request.keep_float = keep_float;
    QuantizedModel quantized = model.quantize(request);
    const std::string type = model.float_type();
    if (quantized.layers.empty() && !type.empty() && type != "fp32")
        throw Failure("there is nothing to quantise: the model is " + type +
                      ": expected fp32, from which it was made");
    if (quantized.layers.empty())
        throw Failure("there is nothing to quantise: no MatMul or Gemm " +
                      std::string(quantized.kept.empty() ? "multiplies"
                                                         : "that --keep-float leaves multiplies") +
                      " by a constant matrix" + model.bodies_in_float());
    DynamicModel made = {std::move(quantized.graph), {}};
    made.report.counts = model.count_nodes();
    made.report.layers = std::move(quantized.layers);
    std::map<std::string, std::string> operators = model.list_operators();
    for (const QuantizedLayer& layer : made.report.layers)
        operators.erase(layer.name);
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
    for (const QuantizedLayer& layer : report.layers)
        rows.push_back({layer.op, layer.tensor, layer.name});
    std::printf("\n%s\nwrote       %s\n",
                table_text(rows, terminal_style({"result", "node"})).c_str(),
                report.output.c_str());
}

Json to_json(const DynamicReport& report)
{
    Json layers = Json::array();
    for (const QuantizedLayer& layer : report.layers)
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

// SPDX-License-Identifier: Apache-2.0
// The report of `tengine quantize` about its work, as text and as JSON; docs/quantize.md describes
// it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "json_file.h"
#include "quantize/comparison.h"
#include "quantize/quantizer.h"

namespace tengine::tools {

struct ReportedLayer
{
    std::string name;
    std::string op;      // "Conv+Relu" with its activation
    std::string tensor;  // its first result
    Quantization quantization;
    double decibels = 0;  // that result's
};

struct QuantizeReport
{
    std::string model;
    std::string output;  // "": none was written, likewise `table`
    std::string table;
    std::string method;
    WeightScales scales;
    std::string scales_reason;  // the reason for these; "": they are as requested
    std::string hint;           // options to try when many decisions differ; "": they do not
    size_t samples = 0;
    NodeCounts counts;
    int quantized_nodes = 0;
    std::vector<ReportedLayer> layers;
    std::vector<ChosenNode> chosen;
    std::set<std::string> not_finite;
    Comparison comparison;
};

std::vector<ReportedLayer> describe_layers(const QuantizedModel& quantized,
                                           const Comparison& comparison);

void print_report(const QuantizeReport& report);
Json to_json(const QuantizeReport& report);

}  // namespace tengine::tools

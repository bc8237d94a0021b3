// SPDX-License-Identifier: Apache-2.0
// The report of `tengine quantize` about its work, as text and as JSON; docs/quantize.md describes
// it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "json_file.h"
#include "quantize/calibration.h"

namespace tengine::tools {

struct ReportedLayer
{
    std::string name;
    std::string op;      // "Conv+Relu" with its activation
    std::string tensor;  // its first result
    float scale = 0;     // that result's, as the next ones
    int zero_point = 0;
    double decibels = 0;
};

// A layer in the order of the search.
struct ChosenNode
{
    std::string name;
    std::string op;
    double decibels = 0;  // the outputs' when this node alone is quantised
    bool is_float = false;
};

struct NodeCounts
{
    int folded = 0;  // batch normalisations, into convolutions
    int nodes = 0;   // after that
    int quantized = 0;
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
    NodeCounts counts;
    std::vector<ReportedLayer> layers;
    std::vector<ChosenNode> chosen;
    std::set<std::string> not_finite;
    std::map<std::string, double> tensor_decibels, output_decibels;
    tengine_calibration_summary summary = {};

    // Percent of decisions that differ.
    double drop() const;
};

NodeCounts count_nodes(const Calibration& calibration);
std::vector<ReportedLayer> describe_layers(const Calibration& calibration);
// Everything that a calibration has found.
void add_findings(const Calibration& calibration, QuantizeReport* report);

void print_report(const QuantizeReport& report);
Json to_json(const QuantizeReport& report);

}  // namespace tengine::tools

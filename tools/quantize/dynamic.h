// SPDX-License-Identifier: Apache-2.0
// `tengine quantize --dynamic`: products whose left operand is quantised in each run. Needs no
// samples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json_file.h"
#include "quantize/calibration.h"
#include "quantize/quantize_report.h"

namespace tengine::tools {

struct DynamicReport
{
    std::string model;
    std::string output;
    NodeCounts counts;
    std::vector<ReportedLayer> layers;
    std::map<std::string, int> in_float;  // the number of nodes of each operator that stay in float
};

struct DynamicModel
{
    GraphPointer graph;
    DynamicReport report;
};

// Throws Failure, also when no node of the model can be quantised in this way.
DynamicModel quantize_dynamically(const FloatModel& model, const QuantizeOptions& options);

void print_report(const DynamicReport& report);
Json to_json(const DynamicReport& report);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// `tengine quantize --dynamic`: products whose left operand is quantised in each run. Needs no
// samples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json_file.h"
#include "quantize/float_model.h"

namespace tengine::tools {

struct DynamicReport
{
    std::string model;
    std::string output;
    NodeCounts counts;
    std::vector<QuantizedLayer> layers;
    std::map<std::string, int> in_float;  // the number of nodes of each operator that stay in float
};

struct DynamicModel
{
    GraphPointer graph;
    DynamicReport report;
};

// Throws Failure, also when no node of the model can be quantised in this way.
DynamicModel quantize_dynamically(const FloatModel& model,
                                  const std::vector<std::string>& keep_float);

void print_report(const DynamicReport& report);
Json to_json(const DynamicReport& report);

}  // namespace tengine::tools

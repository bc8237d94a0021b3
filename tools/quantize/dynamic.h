// SPDX-License-Identifier: Apache-2.0
// `tengine quantize --dynamic`: products whose left side is quantised in each run. Needs no
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
    std::map<std::string, int> in_float;  // how many nodes of each operator stay as they are
};

struct DynamicModel
{
    GraphPointer graph;
    DynamicReport report;
};

// Throws Failure, also when nothing of the model can be quantised so.
DynamicModel quantize_dynamically(const FloatModel& model,
                                  const std::vector<std::string>& keep_float);

void print_report(const DynamicReport& report);
Json to_json(const DynamicReport& report);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// The counters of devices in the last run of a graph: cycles, bytes, energy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct Counter
{
    std::string name;
    std::string unit;
    double value = 0;
};

// The counters of one part; empty when its device has none. Throws Failure.
std::vector<Counter> read_counters(graph_t graph, int part);
// The same for one node.
std::vector<Counter> read_node_counters(graph_t graph, int node);

// The counter "time" in ms: the duration of a simulated device's last run by its own clock.
// None for a real device.
std::optional<double> simulated_ms(const std::vector<Counter>& counters);

// [{"name": …, "unit": …, "value": …}, …]
Json to_json(const std::vector<Counter>& counters);

// A table with a line for each: "  weight stall  1234567  cycles".
std::string counters_text(const std::vector<Counter>& counters);

}  // namespace tengine::tools

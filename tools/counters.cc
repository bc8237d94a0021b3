// SPDX-License-Identifier: Apache-2.0
#include "counters.h"

#include <cmath>
#include <cstdio>

#include "model.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
namespace {

// Integers in full, other numbers with four digits.
std::string value_text(double value)
{
    char text[64];
    const bool whole = std::floor(value) == value && std::fabs(value) < 1e15;
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.4g", value);
    return text;
}

std::vector<Counter> read(int (*get)(graph_t, int, tengine_counter*, int), graph_t graph, int index,
                          const char* what)
{
    const int number = get(graph, index, nullptr, 0);
    std::vector<tengine_counter> raw(number > 0 ? static_cast<size_t>(number) : 0);
    if (number < 0 || get(graph, index, raw.data(), number) < 0)
        fail_api(std::string("counters of ") + what + " " + std::to_string(index));
    std::vector<Counter> counters;
    for (const tengine_counter& counter : raw)
        counters.push_back({counter.name, counter.unit, counter.value});
    return counters;
}

}  // namespace

std::vector<Counter> read_counters(graph_t graph, int part)
{
    return read(tengine_graph_get_counters, graph, part, "part");
}

std::vector<Counter> read_node_counters(graph_t graph, int node)
{
    return read(tengine_graph_get_node_counters, graph, node, "node");
}

std::optional<double> simulated_ms(const std::vector<Counter>& counters)
{
    for (const Counter& counter : counters)
        if (counter.name == "time" && counter.unit == "ms") return counter.value;
    return std::nullopt;
}

Json to_json(const std::vector<Counter>& counters)
{
    Json list = Json::array();
    for (const Counter& counter : counters)
        list.push_back({{"name", counter.name}, {"unit", counter.unit}, {"value", counter.value}});
    return list;
}

std::string counters_text(const std::vector<Counter>& counters)
{
    std::vector<std::vector<std::string>> rows = {{"  counter", ">last run", ""}};
    for (const Counter& counter : counters)
        rows.push_back({"  " + counter.name, value_text(counter.value), counter.unit});
    return table_text(rows);
}

}  // namespace tengine::tools

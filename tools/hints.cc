// SPDX-License-Identifier: Apache-2.0
#include "hints.h"

#include "model.h"
#include "tengine/placement.h"
#include "text.h"

namespace tengine::tools {

void set_hints(graph_t graph, const std::vector<std::string>& pairs)
{
    for (const std::string& pair : pairs) {
        const size_t equals = pair.find('=');
        const std::string option = pair.substr(0, equals), value = pair.substr(equals + 1);
        if (tengine_graph_set_hint(graph, option.c_str(), value.c_str()) < 0)
            fail_api("--hint " + pair);
    }
}

std::vector<Hint> read_hints(graph_t graph)
{
    std::vector<Hint> hints;
    const int number = tengine_graph_get_hint_number(graph);
    if (number < 0) fail_api("hints");
    for (int i = 0; i < number; ++i) {
        tengine_hint raw;
        if (tengine_graph_get_hint(graph, i, &raw, sizeof raw) < 0)
            fail_api("hint " + std::to_string(i));
        hints.push_back(
            {raw.nodes, raw.option, raw.value, raw.node_number, raw.is_used != 0, raw.reason});
    }
    return hints;
}

std::string hints_text(const std::vector<Hint>& hints, size_t width)
{
    if (hints.empty()) return "";
    Rows rows = {{"the model's hint", "value", ">nodes", "effect"}};
    for (const Hint& hint : hints)
        rows.push_back({hint.nodes.empty() ? hint.option : "affinity of " + hint.nodes, hint.value,
                        hint.nodes.empty() ? "" : std::to_string(hint.node_number),
                        hint.is_used ? "used" : "not used: " + hint.reason});
    TableStyle style;
    style.width = width;
    style.shortened = {"the model's hint"};
    return table_text(rows, style);
}

Json to_json(const std::vector<Hint>& hints)
{
    Json list = Json::array();
    for (const Hint& hint : hints)
        list.push_back({{"nodes", hint.nodes},
                        {"option", hint.option},
                        {"value", hint.value},
                        {"node_number", hint.node_number},
                        {"used", hint.is_used},
                        {"reason", hint.reason}});
    return list;
}

}  // namespace tengine::tools

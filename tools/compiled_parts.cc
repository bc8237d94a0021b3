// SPDX-License-Identifier: Apache-2.0
#include "compiled_parts.h"

#include "model.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {

std::vector<CompiledPart> read_compiled_parts(graph_t graph)
{
    std::vector<CompiledPart> parts;
    const int number = tengine_graph_get_compiled_part_number(graph);
    if (number < 0) fail_api("compiled parts");
    for (int i = 0; i < number; ++i) {
        tengine_compiled_part raw;
        if (tengine_graph_get_compiled_part(graph, i, &raw, sizeof raw) < 0)
            fail_api("compiled part " + std::to_string(i));
        parts.push_back({raw.device, raw.target, raw.bytes, raw.fingerprint, raw.hash});
    }
    return parts;
}

std::string compiled_parts_text(const std::vector<CompiledPart>& parts, size_t width)
{
    constexpr size_t kDigits = 16;  // of a hash; enough to distinguish parts
    Rows rows = {{"compiled for", ">bytes", "SHA-256", "target"}};
    for (const CompiledPart& part : parts)
        rows.push_back({part.device, bytes_text(static_cast<double>(part.bytes)),
                        part.hash.substr(0, kDigits), part.target});
    TableStyle style;
    style.width = width;
    style.shortened = {"target"};
    return table_text(rows, style);
}

Json to_json(const std::vector<CompiledPart>& parts)
{
    Json list = Json::array();
    for (const CompiledPart& part : parts)
        list.push_back({{"device", part.device},
                        {"target", part.target},
                        {"bytes", part.bytes},
                        {"fingerprint", part.fingerprint},
                        {"hash", part.hash}});
    return list;
}

std::vector<Preparation> read_preparations(graph_t graph)
{
    std::vector<Preparation> preparations;
    const int number = tengine_graph_get_model_preparation_number(graph);
    if (number < 0) fail_api("preparations");
    for (int i = 0; i < number; ++i) {
        tengine_model_preparation raw;
        if (tengine_graph_get_model_preparation(graph, i, &raw, sizeof raw) < 0)
            fail_api("preparation " + std::to_string(i));
        preparations.push_back(
            {raw.terms, raw.part_number, raw.bytes, raw.arena_bytes, raw.between_bytes});
    }
    return preparations;
}

std::string preparations_text(const std::vector<Preparation>& preparations, size_t width)
{
    Rows rows = {{"prepared for", ">bytes", ">parts", ">arenas", ">between"}};
    for (const Preparation& each : preparations)
        rows.push_back({each.terms, bytes_text(static_cast<double>(each.bytes)),
                        std::to_string(each.part_num),
                        bytes_text(static_cast<double>(each.arena_bytes)),
                        bytes_text(static_cast<double>(each.between_bytes))});
    TableStyle style;
    style.width = width;
    style.shortened = {"prepared for"};
    return table_text(rows, style);
}

Json to_json(const std::vector<Preparation>& preparations)
{
    Json list = Json::array();
    for (const Preparation& each : preparations)
        list.push_back({{"terms", each.terms},
                        {"bytes", each.bytes},
                        {"parts", each.part_num},
                        {"arena_bytes", each.arena_bytes},
                        {"between_bytes", each.between_bytes}});
    return list;
}

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include "model.h"
#include "tengine/inspect.h"
#include "text.h"

namespace tengine::tools {
namespace {

DeviceMemory read_device_memory(graph_t graph, int index)
{
    tengine_device_memory raw;
    if (tengine_graph_get_device_memory(graph, index, &raw, sizeof raw) < 0)
        fail_api("memory of device " + std::to_string(index));
    return {raw.device,         raw.subgraph_number, raw.unknown_number,
            raw.compiled_bytes, raw.arena_bytes,     raw.tensor_bytes};
}

std::string unknown_text(int parts)
{
    if (parts == 0) return "";
    return "unknown for " + std::to_string(parts) + (parts == 1 ? " part" : " parts");
}

}  // namespace

GraphMemory read_graph_memory(graph_t graph)
{
    tengine_graph_memory raw;
    if (get_graph_memory(graph, &raw, sizeof raw) < 0) fail_api("memory of the graph");
    GraphMemory memory;
    memory.mapped = raw.mapped_bytes;
    memory.owned = raw.owned_bytes;
    memory.borrowed = raw.borrowed_bytes;
    memory.values = raw.value_bytes;
    memory.derived = raw.derived_bytes;
    memory.boundary = raw.border_bytes;
    memory.total = raw.total_bytes;
    for (int i = 0; i < raw.device_number; ++i)
        memory.devices.push_back(read_device_memory(graph, i));
    return memory;
}

Json to_json(const GraphMemory& memory)
{
    Json devices = Json::array();
    for (const DeviceMemory& device : memory.devices)
        devices.push_back({{"name", device.device},
                           {"parts", device.parts},
                           {"unknown_parts", device.unknown_parts},
                           {"compiled", device.compiled},
                           {"arena", device.arena},
                           {"tensors", device.tensors}});
    return {{"mapped", memory.mapped}, {"owned", memory.owned},     {"borrowed", memory.borrowed},
            {"values", memory.values}, {"derived", memory.derived}, {"borders", memory.boundary},
            {"devices", devices},      {"total", memory.total}};
}

std::string memory_text(const GraphMemory& memory, size_t width)
{
    Rows rows = {{"memory", ">bytes", "remarks"}};
    const auto add = [&](const std::string& what, int64_t bytes, const std::string& note = "") {
        if (bytes > 0 || !note.empty())
            rows.push_back({"  " + what, bytes_text(static_cast<double>(bytes)), note});
    };
    if (memory.mapped > 0)
        add("constants in mapped files", memory.mapped, "in the file cache, not in the total");
    if (memory.borrowed > 0)
        add("constants in the program's memory", memory.borrowed, "not in the total");
    add("constants", memory.owned);
    add("constants computed by prerun", memory.derived);
    add("inputs and results", memory.values);
    add("between parts", memory.boundary);
    for (const DeviceMemory& device : memory.devices) {
        add(device.device + ", compiled", device.compiled, unknown_text(device.unknown_parts));
        add(device.device + ", arena", device.arena);
        add(device.device + ", tensors of their own", device.tensors);
    }
    rows.push_back({"  total", bytes_text(static_cast<double>(memory.total)), ""});
    TableStyle style;
    style.width = width;
    style.shortened = {"remarks"};
    return table_text(rows, style);
}

}  // namespace tengine::tools

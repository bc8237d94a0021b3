// SPDX-License-Identifier: Apache-2.0
// The memory that a graph holds, as the library reports it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct DeviceMemory
{
    std::string device;
    int parts = 0;
    int unknown_parts = 0;  // whose device does not report its memory, besides its arena
    int64_t compiled = 0;
    int64_t arena = 0;
    int64_t tensors = 0;
};

struct GraphMemory
{
    int64_t mapped = 0;
    int64_t owned = 0;
    int64_t borrowed = 0;
    int64_t values = 0;
    int64_t derived = 0;
    int64_t boundary = 0;
    int64_t total = 0;
    std::vector<DeviceMemory> devices;  // in the order they are asked
};

// The present memory. Throws Failure.
GraphMemory read_graph_memory(graph_t graph);

// The fields of `memory` in docs/report.md, except `constants` and `arena`.
Json to_json(const GraphMemory& memory);

// A table with a line for each kind of memory in use, and the total; `width` as in TableStyle.
std::string memory_text(const GraphMemory& memory, size_t width = 0);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// The compiled parts in a model's file, as data, table and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct CompiledPart
{
    std::string device;
    std::string target;  // the device's description of its compiler and chip
    int64_t bytes = 0;
    std::string fingerprint;
    std::string hash;
};

// Throws Failure.
std::vector<CompiledPart> read_compiled_parts(graph_t graph);

// A table; `width` is the terminal's, 0: unlimited.
std::string compiled_parts_text(const std::vector<CompiledPart>& parts, size_t width);

Json to_json(const std::vector<CompiledPart>& parts);

}  // namespace tengine::tools

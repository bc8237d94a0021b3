// SPDX-License-Identifier: Apache-2.0
// The compiled parts and the preparations in a model's file, as data, tables and JSON.
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

struct Preparation
{
    std::string terms;  // the inputs, devices and options that it is for
    int part_num = 0;
    int64_t bytes = 0;
    int64_t arena_bytes = 0;    // inside its parts
    int64_t between_bytes = 0;  // between them, with the outputs
};

// The same for preparations.
std::vector<Preparation> read_preparations(graph_t graph);
std::string preparations_text(const std::vector<Preparation>& preparations, size_t width);
Json to_json(const std::vector<Preparation>& preparations);

}  // namespace tengine::tools

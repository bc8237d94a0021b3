// SPDX-License-Identifier: Apache-2.0
// The variants of compiled parts in a model's file, as data, table and JSON, and the targets of
// `tengine compile` that make them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json_file.h"
#include "model.h"

namespace tengine::tools {

struct Variant
{
    std::string name;
    std::string devices;
    std::string chip;
    std::string driver;
    std::string precision;
    std::string options;
    int parts = 0;
    int64_t bytes = 0;
    bool is_usable = false;
    bool is_taken = false;
    std::string reason;
};

// Throws Failure.
std::vector<Variant> read_variants(graph_t graph);

// A table, "" without variants; `width` is the terminal's, 0: unlimited.
std::string variants_text(const std::vector<Variant>& variants, size_t width);

Json to_json(const std::vector<Variant>& variants);

// The argument of --target: keys without a dot name a variant and for whom it is, others are
// options of devices.
struct CompileTarget
{
    std::string text;                  // the argument
    std::string name;                  // of the variant; "": none is kept
    std::vector<std::string> devices;  // empty: those of the command line
    std::string chip, driver;
    std::string precision;  // "": that of the command line
    std::vector<std::string> options;
};

// "" if the argument has the right form, else its fault.
std::string judge_target(const std::string& text);
CompileTarget parse_target(const std::string& text);

// The options of the command line with those of the target.
ModelOptions add_target(const ModelOptions& common, const CompileTarget& target);

}  // namespace tengine::tools

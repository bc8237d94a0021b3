// SPDX-License-Identifier: Apache-2.0
// The hints of a model, as data, table and JSON, and their option --hint.
#pragma once

#include <string>
#include <vector>

#include "json_file.h"
#include "tengine/c_api.h"

namespace tengine::tools {

struct Hint
{
    std::string nodes;   // of an affinity; empty: an option
    std::string option;  // the key
    std::string value;
    int node_number = 0;
    bool is_used = false;
    std::string reason;  // why it is not used
};

// `pairs`: KEY=VALUE, the option's argument. Throws Failure.
void set_hints(graph_t graph, const std::vector<std::string>& pairs);

// Throws Failure.
std::vector<Hint> read_hints(graph_t graph);

// A table, "" without hints; `width` is the terminal's, 0: unlimited.
std::string hints_text(const std::vector<Hint>& hints, size_t width);

Json to_json(const std::vector<Hint>& hints);

}  // namespace tengine::tools

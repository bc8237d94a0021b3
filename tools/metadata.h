// SPDX-License-Identifier: Apache-2.0
// The statements of a model about itself, as data, text and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "json_file.h"
#include "model.h"

namespace tengine::tools {

struct Metadata
{
    std::string graph_name;
    std::string producer_name, producer_version;
    std::string domain;
    std::string doc_string, graph_doc_string;
    int64_t model_version = 0;
    int64_t ir_version = 0;
    std::vector<std::pair<std::string, int64_t>> opsets;          // by domain
    std::vector<std::pair<std::string, std::string>> properties;  // key and value
};

// Throws Failure.
Metadata read_metadata(graph_t graph);

// A line for each statement: its first line, shortened to `width`; 0: as it is. "" if the model
// says nothing.
std::string metadata_text(const Metadata& metadata, size_t width);

Json to_json(const Metadata& metadata);

}  // namespace tengine::tools

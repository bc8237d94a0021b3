// SPDX-License-Identifier: Apache-2.0
// Reports in files: as JSON, or as other text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tengine::tools {

// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

// Replaces the file `path`, or prints to standard output if that is "-". Throws Failure.
void write_text(const std::string& path, const std::string& text);

// The same. Bytes that are not UTF-8, which names from a model may hold, are replaced.
void write_json(const std::string& path, const Json& json);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// Reports as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tengine::tools {

// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

// Writes to the file `path`, or to standard output if that is "-". Bytes that are not UTF-8, which
// names from a model may hold, are replaced. Throws Failure.
void write_json(const std::string& path, const Json& json);

}  // namespace tengine::tools

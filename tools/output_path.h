// SPDX-License-Identifier: Apache-2.0
// Checks that a file can be written before its contents are computed.
#pragma once

#include <string>

#include "tengine/c_api.h"

namespace tengine::tools {

// Throws Failure when `path` is a folder, a pipe or a device, its folder does not exist, or one of
// them may not be written to. "" (no file) and "-" (standard output) are accepted. Errors name
// `option`.
void check_output_path(const std::string& option, const std::string& path);

// Throws Failure when `path` is, under any name, a file that the graph was loaded from: its model
// or external data. "" and "-" are accepted.
void check_spares_model(const std::string& option, const std::string& path, graph_t graph);

// The same for one file, before it is read.
void check_spares_file(const std::string& option, const std::string& path,
                       const std::string& input);

}  // namespace tengine::tools

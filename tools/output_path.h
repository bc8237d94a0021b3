// SPDX-License-Identifier: Apache-2.0
// Whether a file can be written, asked before the work whose result it is to hold.
#pragma once

#include <string>

#include "tengine/c_api.h"

namespace tengine::tools {

// Throws Failure when `path` is a folder, a pipe or a device, its folder does not exist, or one of
// them may not be written to. "" (no file wanted) and "-" (standard output) are fine. `option` is
// named in errors.
void check_output_path(const std::string& option, const std::string& path);

// Throws Failure when `path` is, by whatever name, a file that the graph was loaded from: its model
// or external data. "" and "-" are fine.
void check_spares_model(const std::string& option, const std::string& path, graph_t graph);

// The same of one file, before it is read.
void check_spares_file(const std::string& option, const std::string& path,
                       const std::string& input);

}  // namespace tengine::tools

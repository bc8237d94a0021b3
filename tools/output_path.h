// SPDX-License-Identifier: Apache-2.0
// Whether a file can be written, asked before the work whose result it is to hold.
#pragma once

#include <string>

namespace tengine::tools {

// Throws Failure when `path` is a folder, a pipe or a device, its folder does not exist, or one of
// them may not be written to. "" (no file wanted) and "-" (standard output) are fine. `option` is
// named in errors.
void check_output_path(const std::string& option, const std::string& path);

}  // namespace tengine::tools

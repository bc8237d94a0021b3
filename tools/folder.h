// SPDX-License-Identifier: Apache-2.0
// The entries of a folder. The C++ library's iterators end the process where memory runs out.
#pragma once

#include <string>
#include <vector>

namespace tengine::tools {

// The names of the folder's entries without "." and "..", sorted. Throws Failure that names the
// folder.
std::vector<std::string> list_names(const std::string& folder);

}  // namespace tengine::tools

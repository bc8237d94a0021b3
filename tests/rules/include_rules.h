// SPDX-License-Identifier: Apache-2.0
// The files that each room may include, as a table and a function; include_rules_test.cc applies
// them to the tree.
#pragma once

#include <string>
#include <vector>

namespace tengine::rules {

struct Room
{
    const char* folder;  // of the including file
    // Folders and headers of source/ that it may use, besides its own folder and include/tengine.
    std::vector<const char*> below;
};

// The order of the rooms: each sees the rooms below it, and no others. A row covers the folders
// below it.
const std::vector<Room>& rooms();

// Returns the paths in the #include lines of a string, without comments.
std::vector<std::string> includes_of(const std::string& text);

// Returns "" if a file at `path` (relative to the root) may include `include`; otherwise the
// reason. `is_sibling`: a file of that name is in the same folder.
std::string judge_include(const std::string& path, const std::string& include, bool is_sibling);

}  // namespace tengine::rules

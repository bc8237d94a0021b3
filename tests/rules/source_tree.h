// SPDX-License-Identifier: Apache-2.0
// The files of the project as text, for the tests of this folder.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace tengine::rules {

struct SourceFile
{
    std::string path;  // relative to the project's root, with slashes
    std::vector<std::string> lines;

    std::string extension() const;  // with the dot; "" if there is none
};

// Returns every C and C++ file, CMake file and script below the project's root, sorted by path.
const std::vector<SourceFile>& source_tree();

// Returns the files whose extension is one of .c .cc .cpp .h .hpp and whose path starts with
// `folder`.
std::vector<SourceFile> code_below(const std::string& folder);

// Returns README.md, CONTRIBUTING.md … and docs/*.md, relative to the root.
std::set<std::string> pages();

// Returns the lines of a file by its path below the project's root.
std::vector<std::string> read_lines(const std::string& path);

// Returns the names of the folders directly below `folder`, sorted.
std::vector<std::string> folders_below(const std::string& folder);

// Returns the text with comments blanked out; line ends and string literals stay.
std::string strip_comments(const std::string& text);
// Returns the comments of a file and its string literals of several words; everything else is '\0',
// except for line ends.
std::string comments_and_messages(const SourceFile& file);
std::string join_lines(const std::vector<std::string>& lines);

bool starts_with(const std::string& text, const std::string& prefix);

}  // namespace tengine::rules

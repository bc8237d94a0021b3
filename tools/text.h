// SPDX-License-Identifier: Apache-2.0
// How the subcommands print numbers and tables.
#pragma once

#include <string>
#include <vector>

namespace tengine::tools {

// Six significant digits, "nan", "inf" and "-inf".
std::string number_text(double value);

// Three significant digits and a prefix: "1.82 G", "25.6 M", "412".
std::string count_text(double value);

// The same of bytes: "25.6 MB", "412 B".
std::string bytes_text(double bytes);

// Milliseconds to the microsecond: "0.042", "17.300".
std::string time_text(double milliseconds);

// Columns padded to their widest cell, two spaces between them. The first row is the heading; a
// column whose heading begins with '>' (which is not printed) is right-aligned.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

// Words, broken into lines of at most 96 characters that begin with `indent` spaces.
std::string paragraph_text(const std::vector<std::string>& words, int indent);

}  // namespace tengine::tools

// SPDX-License-Identifier: Apache-2.0
// Numbers and tables as text. The contract is in text.h.
#include "text.h"

#include <algorithm>
#include <cstdio>

namespace tengine::tools {
namespace {

constexpr size_t kLineWidth = 96;

std::string format_number(const char* format, double value)
{
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

bool is_right_aligned(const std::string& heading)
{
    return !heading.empty() && heading[0] == '>';
}

}  // namespace

std::string number_text(double value)
{
    return format_number("%.6g", value);
}

std::string count_text(double value)
{
    static const char* const kPrefixes[] = {"", " k", " M", " G", " T"};
    size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
        value /= 1000.0;
        ++prefix;
    }
    return format_number(value == static_cast<int>(value) && prefix == 0 ? "%.0f" : "%.3g", value) +
           kPrefixes[prefix];
}

std::string bytes_text(double bytes)
{
    const std::string text = count_text(bytes);
    return text + (text.find(' ') == std::string::npos ? " B" : "B");
}

std::string time_text(double milliseconds)
{
    return format_number("%.3f", milliseconds);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<size_t> widths;
    std::vector<bool> right;
    for (const std::string& heading : rows.at(0)) {
        right.push_back(is_right_aligned(heading));
        widths.push_back(heading.size() - right.back());
    }
    for (size_t r = 1; r < rows.size(); ++r) {
        for (size_t c = 0; c < widths.size(); ++c)
            widths[c] = std::max(widths[c], rows[r][c].size());
    }
    std::string text;
    for (size_t r = 0; r < rows.size(); ++r) {
        std::string line;
        for (size_t c = 0; c < widths.size(); ++c) {
            const std::string cell = rows[r][c].substr(r == 0 && right[c] ? 1 : 0);
            const std::string padding(widths[c] - cell.size(), ' ');
            line += (c == 0 ? "" : "  ") + (right[c] ? padding + cell : cell + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string paragraph_text(const std::vector<std::string>& words, int indent)
{
    const std::string margin(static_cast<size_t>(indent), ' ');
    std::string text;
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty() && margin.size() + line.size() + 1 + word.size() > kLineWidth) {
            text += margin + line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return line.empty() ? text : text + margin + line + '\n';
}

}  // namespace tengine::tools

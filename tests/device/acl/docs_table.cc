// SPDX-License-Identifier: Apache-2.0
#include "device/acl/docs_table.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <vector>

namespace tengine::acl {
namespace {

// The cells of "| a | b |".
std::vector<std::string> split_row(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) {
        const size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
        cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    return cells;
}

}  // namespace

std::map<std::string, DocsRow> read_docs_rows(bool of_bytes)
{
    std::map<std::string, DocsRow> rows;
    const std::string title = of_bytes ? "results that differ" : "bound";
    std::ifstream file(TENGINE_SOURCE_DIR "/docs/acl.md");
    bool is_inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] != '|') {
            is_inside = false;
            continue;
        }
        const std::vector<std::string> cells = split_row(line);
        if (cells.size() == 6 && cells[5] == title)
            is_inside = true;
        else if (is_inside && cells.size() == 6 && cells[0][0] != '-')
            rows[cells[0]] = {cells[1], cells[2], cells[3], cells[4], cells[5]};
    }
    EXPECT_FALSE(rows.empty()) << "docs/acl.md has no table with '" << title << "'";
    return rows;
}

std::string format_relative(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, value == 0 ? "0" : "%.1e", value);
    return text;
}

void print_row(const std::string& op, const DocsRow& row)
{
    std::printf("| %s | %s | %s | %s | %s | %s |\n", op.c_str(), row.types.c_str(),
                row.cases.c_str(), row.taken.c_str(), row.difference.c_str(), row.last.c_str());
}

}  // namespace tengine::acl

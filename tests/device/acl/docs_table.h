// SPDX-License-Identifier: Apache-2.0
// The tables of agreement in docs/acl.md, which AclTable prints and the operator tests hold to.
#pragma once

#include <map>
#include <string>

namespace tengine::acl {

// The cells of an operator's row, as they stand there.
struct DocsRow
{
    std::string types;  // "fp32 fp16"
    std::string cases;
    std::string taken;
    std::string difference;
    std::string last;  // the bound, or the share of results that differ

    bool has(const std::string& type) const
    {
        return (" " + types + " ").find(" " + type + " ") != std::string::npos;
    }
};

// Rows by operator, of floats (with an operator's movement of int8 and uint8) or of int8 and uint8.
std::map<std::string, DocsRow> read_docs_rows(bool of_bytes);

// "1.3e-06", as in the tables.
std::string format_relative(double value);
void print_row(const std::string& op, const DocsRow& row);

}  // namespace tengine::acl

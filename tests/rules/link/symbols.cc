// SPDX-License-Identifier: Apache-2.0
// Reading nm and the public headers; see symbols.h.
#include "rules/link/symbols.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

// Whether it is undefined, or weak and undefined.
bool is_need(const std::string& type)
{
    return type == "U" || type == "w" || type == "v";
}

std::string output_of(const std::string& command)
{
    std::string output;
    FILE* stream = popen(command.c_str(), "r");
    if (!stream) return output;
    char buffer[4096];
    for (size_t size; (size = std::fread(buffer, 1, sizeof buffer, stream)) > 0;)
        output.append(buffer, size);
    EXPECT_EQ(pclose(stream), 0) << command.substr(0, 200);
    return output;
}

}  // namespace

Symbols read_symbols(const std::string& nm_output)
{
    Symbols symbols;
    std::istringstream lines(nm_output);
    for (std::string line; std::getline(lines, line);) {
        const size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        std::istringstream fields(line.substr(colon + 2));
        std::string name, type;
        fields >> name >> type;
        if (is_need(type))
            symbols.needed.emplace(name, line.substr(0, colon));
        else
            symbols.defined.insert(name);
    }
    return symbols;
}

Symbols symbols_of(const std::string& options, const std::vector<std::string>& files)
{
    std::string command = std::string("'") + TENGINE_NM + "' -A -P -g " + options;
    for (const std::string& file : files)
        command += " '" + file + "'";
    return read_symbols(output_of(command));
}

std::set<std::string> public_functions()
{
    const std::regex declaration("\\bTENGINE_API\\s[\\w\\s*]*?(\\w+)\\(");
    std::set<std::string> names;
    for (const SourceFile& file : code_below("include/tengine")) {
        // export.h defines TENGINE_API.
        const std::string code = std::regex_replace(strip_comments(join_lines(file.lines)),
                                                    std::regex("#define[^\n]*"), "");
        for (std::sregex_iterator match(code.begin(), code.end(), declaration), end; match != end;
             ++match)
            names.insert((*match)[1]);
    }
    return names;
}

}  // namespace tengine::rules

// SPDX-License-Identifier: Apache-2.0
// A type has one definition in a program. The linker merges functions of two types of one name,
// such as destructors, without a message: optimisation decides which one runs.
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

using Files = std::map<std::string, std::string>;  // by type, with its namespaces

// Adds a file's definitions outside functions, other types and unnamed namespaces.
void find_types(const SourceFile& file, Files* files)
{
    static const std::regex kNamespace(R"(namespace ?([\w:]*) ?\{.*)");
    static const std::regex kType(
        R"((?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: ?: [^;]*)?(?: ?\{.*)?)");
    std::vector<std::string> spaces;
    for (const std::string& line : file.lines) {
        std::smatch match;
        if (std::regex_match(line, match, kNamespace)) {
            spaces.push_back(match[1]);
        } else if (starts_with(line, "}  // namespace")) {
            if (!spaces.empty()) spaces.pop_back();
        } else if (std::regex_match(line, match, kType)) {
            std::string name = match[1];
            bool is_named = true;
            for (auto space = spaces.rbegin(); space != spaces.rend(); ++space) {
                is_named = is_named && !space->empty();
                name.insert(0, *space + "::");
            }
            if (!is_named) continue;
            const auto [first, is_new] = files->emplace(name, file.path);
            EXPECT_TRUE(is_new || first->second == file.path)
                << name << " is defined in " << first->second << " and in " << file.path;
        }
    }
}

TEST(OneDefinition, OfTypesInNamespaces)
{
    Files files;
    for (const char* folder : {"source", "tools"})
        for (const SourceFile& file : code_below(folder))
            if (file.extension() != ".c") find_types(file, &files);
    EXPECT_GT(files.size(), 500u);
}

}  // namespace
}  // namespace tengine::rules

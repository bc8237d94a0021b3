// SPDX-License-Identifier: Apache-2.0
// Rules on the text of files: licence line, length, and devices are named only in their own
// folders.
#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

#include "rules/source_tree.h"

namespace tengine::rules {
namespace {

constexpr size_t kMaxLines = 600;
constexpr size_t kMaxFunctionLines = 60;

// Longer files, each with the reason.
const std::map<std::string, std::string> kLongFiles = {{"python/tengine/_cdef.py", "generated"}};

TEST(TextRules, EveryFileStartsWithTheLicenceLine)
{
    for (const SourceFile& file : source_tree()) {
        const bool shebang = !file.lines.empty() && starts_with(file.lines[0], "#!");
        const size_t line = shebang ? 1 : 0;
        ASSERT_GT(file.lines.size(), line) << file.path << " is empty";
        EXPECT_TRUE(std::regex_match(file.lines[line],
                                     std::regex("(//|#) SPDX-License-Identifier: Apache-2\\.0")))
            << file.path << " starts with: " << file.lines[line];
    }
}

TEST(TextRules, FilesAreNotTooLong)
{
    for (const SourceFile& file : source_tree()) {
        if (kLongFiles.count(file.path) != 0) continue;
        EXPECT_LE(file.lines.size(), kMaxLines) << file.path;
    }
}

// Returns the lines of each function's body, by the line at which it begins: in clang-format's
// style, the braces of a function are alone on their lines, in one column.
std::map<size_t, size_t> body_lengths(const std::vector<std::string>& lines)
{
    const std::regex head("\\)( const| noexcept| override)*$");
    std::map<size_t, size_t> lengths;
    for (size_t i = 1; i < lines.size(); ++i) {
        const size_t indent = lines[i].find_first_not_of(' ');
        if (indent == std::string::npos || lines[i].substr(indent) != "{" ||
            !std::regex_search(lines[i - 1], head))
            continue;
        const std::string end = std::string(indent, ' ') + "}";
        size_t last = i + 1;
        while (last < lines.size() && !starts_with(lines[last], end))
            ++last;
        lengths[i + 1] = last - i - 1;
    }
    return lengths;
}

TEST(TextRules, FunctionsAreNotTooLong)
{
    size_t number = 0;
    for (const char* folder : {"include", "source", "tools", "examples", "benchmark", "tests"}) {
        for (const SourceFile& file : code_below(folder)) {
            for (const auto& [line, length] : body_lengths(file.lines)) {
                EXPECT_LE(length, kMaxFunctionLines) << file.path << ":" << line;
                ++number;
            }
        }
    }
    EXPECT_GT(number, 5000u) << "functions look different now";
}

TEST(TextRules, FunctionsAreMeasured)
{
    EXPECT_EQ(body_lengths({"struct a", "{", "    int f() const", "    {", "        if (b) {",
                            "        }", "    }", "};"}),
              (std::map<size_t, size_t>{{4, 2}}));
}

TEST(TextRules, HeadersAreIncludedOnce)
{
    for (const char* folder : {"include", "source", "tools", "examples", "benchmark", "tests"}) {
        for (const SourceFile& file : code_below(folder)) {
            if (file.extension() != ".h" && file.extension() != ".hpp") continue;
            const std::string text = join_lines(file.lines);
            EXPECT_TRUE(text.find("#pragma once\n") != std::string::npos ||
                        text.find("foreach_target.h") != std::string::npos ||
                        text.find("TOGGLE") != std::string::npos)
                << file.path << " has no #pragma once";
        }
    }
}

std::string upper_case(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

// Matches the ways to name a device in code: its registration, its folder, its name as a string.
std::regex naming_device(const std::string& name)
{
    return std::regex("register_" + name + "_device|\"device/" + name + "/|\"" + upper_case(name) +
                      "\"|\"" + name + "\"");
}

TEST(TextRules, DevicesAreNamedAtHomeOnly)
{
    for (const std::string& device : folders_below("source/device")) {
        const std::string home = "source/device/" + device + "/";
        const std::regex naming = naming_device(device);
        for (const char* folder : {"include", "source", "tools", "examples", "benchmark"}) {
            for (const SourceFile& file : code_below(folder)) {
                if (starts_with(file.path, home)) continue;
                std::smatch match;
                const std::string code = strip_comments(join_lines(file.lines));
                EXPECT_FALSE(std::regex_search(code, match, naming))
                    << file.path << " names the device " << device << ": " << match.str();
            }
        }
    }
}

TEST(TextRules, NamingADeviceIsRecognised)
{
    const std::regex naming = naming_device("npu");
    for (const char* code : {"register_npu_device()", "#include \"device/npu/a.h\"", "f(\"NPU\")"})
        EXPECT_TRUE(std::regex_search(code, naming)) << code;
    for (const char* code : {"input_npus = 1", "f(\"an NPU core\")", "#include \"base/npu.h\""})
        EXPECT_FALSE(std::regex_search(code, naming)) << code;
}

// Returns the operators of the tables, by the names in their rows.
std::set<std::string> list_operators()
{
    const std::regex row("\\b(?:OP|MICROSOFT|TENGINE|OWN)_ROW\\((\\w+),");
    std::set<std::string> operators;
    for (const SourceFile& file : code_below("source/operator"))
        for (const std::string& line : file.lines) {
            std::smatch match;
            if (line.find("_ROW(") != std::string::npos && std::regex_search(line, match, row))
                operators.insert(match[1]);
        }
    return operators;
}

// Returns the operators that code names as strings, with or without their domain.
std::set<std::string> find_operators(const std::string& code, const std::set<std::string>& known)
{
    const std::regex name("\"(?:[a-z.]+\\.)?([A-Z]\\w+)\"");
    std::set<std::string> found;
    for (std::sregex_iterator match(code.begin(), code.end(), name), end; match != end; ++match)
        if (known.count((*match)[1]) != 0) found.insert((*match)[1]);
    return found;
}

// These rooms distinguish operators by the properties that their rows state.
TEST(TextRules, CoreRoomsNameNoOperator)
{
    const std::set<std::string> known = list_operators();
    EXPECT_GT(known.size(), 150u);
    const std::regex table("#include \"operator/(onnx|tengine)/");
    for (const char* room : {"base", "graph", "module", "scheduler", "api", "adapter"})
        for (const SourceFile& file : code_below("source/" + std::string(room) + "/")) {
            const std::string code = strip_comments(join_lines(file.lines));
            EXPECT_FALSE(std::regex_search(code, table)) << file.path;
            for (const std::string& name : find_operators(code, known))
                ADD_FAILURE() << file.path << " names the operator " << name;
        }
}

TEST(TextRules, NamingAnOperatorIsRecognised)
{
    const std::set<std::string> known = list_operators();
    const std::string code = "f(\"Conv\"); f(\"com.microsoft.MoE\"); f(\"a Conv\"); f(\"Cpu\");";
    EXPECT_EQ(find_operators(code, known), (std::set<std::string>{"Conv", "MoE"}));
}

// The rejected of two spellings (CONTRIBUTING.md, "One hand"). The copy of a device that was
// written for Tengine is unchanged.
const std::regex kOtherHand(
    "==\\s+(NULL|nullptr)\\b|; \\w+\\+\\+\\)|"
    "[^}] ir_(tensor|node|graph|subgraph|interface|allocator)_t\\b");

TEST(TextRules, OneHandWroteIt)
{
    for (const char* folder : {"include", "source", "tools", "examples", "benchmark", "tests"}) {
        for (const SourceFile& file : code_below(folder)) {
            if (starts_with(file.path, "tests/integration/original_device/toynpu")) continue;
            std::smatch match;
            const std::string code = strip_comments(join_lines(file.lines));
            EXPECT_FALSE(std::regex_search(code, match, kOtherHand))
                << file.path << ": " << match.str();
        }
    }
}

TEST(TextRules, TheOtherHandIsRecognised)
{
    for (const char* code : {"if (a == "
                             "nullptr)",
                             "for (; i < 3; i"
                             "++) {",
                             "const ir_"
                             "node_t* node"})
        EXPECT_TRUE(std::regex_search(code, kOtherHand)) << code;
    for (const char* code : {"if ((a = f()) != NULL)", "next = i++;", "} ir_node_t;"})
        EXPECT_FALSE(std::regex_search(code, kOtherHand)) << code;
}

// Files in which a failure does not become a status: a report and a prediction, which are optional.
const std::set<std::string> kOwnCatches = {
    "source/base/guard.hpp", "source/optimizer/split/cost.cc", "source/optimizer/split/report.cc"};

TEST(TextRules, OneGuardTurnsBadAllocIntoAStatus)
{
    for (const SourceFile& file : code_below("source")) {
        if (kOwnCatches.count(file.path) != 0) continue;
        const std::string code = strip_comments(join_lines(file.lines));
        EXPECT_EQ(code.find("catch (const std::bad_alloc"), std::string::npos) << file.path;
    }
}

TEST(TextRules, CommentsAreStrippedAndStringsStay)
{
    EXPECT_EQ(strip_comments("a // b\nc /* d\n */ e"), "a     \nc     \n    e");
    EXPECT_EQ(strip_comments("f(\"//\", '\"', 1'000) // g"), "f(\"//\", '\"', 1'000)     ");
}

}  // namespace
}  // namespace tengine::rules

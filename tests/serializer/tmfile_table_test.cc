// SPDX-License-Identifier: Apache-2.0
// docs/tmfile-operators.md: for each operator number of tmfiles whether it is loaded, run and
// written, and the test of it. The page is generated here, from the operators' rows and from the
// sources of the tests, and must be up to date. With the environment variable TENGINE_WRITE_TABLE=1
// it is written.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <vector>

#include "operator/registry.h"
#include "serializer/tmfile/parameters.h"
#include "serializer/tmfile_model.h"
#include "support/written_table.h"

namespace tengine::test {
namespace {

namespace fs = std::filesystem;

constexpr int kLastNumber = 107;
constexpr int kUnusedNumber = 104;
const char* const kPage = TENGINE_SOURCE_DIR "/docs/tmfile-operators.md";

// ---- the tests ----

struct NamedTest
{
    std::string name;    // "Suite.Test"
    std::string before;  // tables and functions since the previous test
    std::string body;
};

// Adds a line to the tests of a suite that has parameters.
void add_parameters(const std::string& suite, const std::string& line,
                    std::vector<NamedTest>* tests)
{
    for (NamedTest& test : *tests)
        if (test.name.rfind(suite + ".", 0) == 0) test.body += line + "\n";
}

std::vector<NamedTest> tests_of(const fs::path& file)
{
    static const std::regex test_head("^TEST(_F|_P)?\\((\\w+), (\\w+)\\).*");
    static const std::regex instance_head("^INSTANTIATE_TEST_SUITE_P\\(\\w+, (\\w+),.*");
    std::vector<NamedTest> tests;
    std::ifstream stream(file);
    std::string between, suite;  // the suite whose parameters these are
    bool is_inside = false;
    for (std::string line; std::getline(stream, line);) {
        std::smatch match;
        if (std::regex_match(line, match, test_head)) {
            tests.push_back({match[2].str() + "." + match[3].str(), between, ""});
            between.clear();
            is_inside = true;
        } else if (std::regex_match(line, match, instance_head)) {
            suite = match[1];
        }
        if (!suite.empty())
            add_parameters(suite, line, &tests);
        else
            (is_inside ? tests.back().body : between) += line + "\n";
        if (line == "}") is_inside = false;
        if (line.find(';') != std::string::npos) suite.clear();
    }
    return tests;
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

bool computes(const NamedTest& test)
{
    static const std::regex failure("Raise|Error|Refus|Misuse|Hostile");
    return !std::regex_search(test.name, failure) &&
           (has(test.body, "run") || has(test.body, "expect_"));
}

// Returns the tests that compute, in the order of the search.
std::vector<NamedTest> all_tests()
{
    std::vector<NamedTest> all;
    for (const char* folder : {"operator/tengine", "api", "models"}) {
        std::vector<fs::path> files;
        for (const auto& entry :
             fs::directory_iterator(TENGINE_SOURCE_DIR "/tests/" + std::string(folder))) {
            if (entry.path().extension() == ".cc") files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) {
            const std::vector<NamedTest> tests = tests_of(file);
            std::copy_if(tests.begin(), tests.end(), std::back_inserter(all), computes);
        }
    }
    return all;
}

// Returns a test that computes with the operator: one of a suite of its name, or else one that
// names it with its domain, or that follows a table for it.
std::string find_run_test(const std::vector<NamedTest>& tests, const std::string& op)
{
    const std::string full = "\"tengine." + op + "\"", plain = "\"" + op + "\"";
    const auto find = [&](auto&& names_it) -> std::string {
        for (const NamedTest& test : tests)
            if (names_it(test)) return test.name;
        return "";
    };
    std::string found = find([&](const NamedTest& test) {
        const bool is_its_suite =
            test.name.rfind(op + ".", 0) == 0 || test.name.rfind("Tengine" + op + ".", 0) == 0;
        return is_its_suite && (has(test.before, full) || has(test.body, full) ||
                                has(test.before, plain) || has(test.body, plain));
    });
    for (const std::string& name : {full, plain}) {
        if (found.empty())
            found = find([&](const NamedTest& test) { return has(test.body, name); });
        if (found.empty())
            found = find([&](const NamedTest& test) { return has(test.before, name); });
    }
    return found;
}

// ---- the page ----

struct Row
{
    int number = 0;
    std::string name;
    bool is_part_of_format = false;  // inputs and constants
    bool is_loaded = false;
    std::string run_test;
    std::string written;
};

const ir_method_t* find_row(int number)
{
    for (int i = 0; i < get_op_method_count(); ++i) {
        const ir_method_t* method = find_op_method_via_index(i);
        if (method->tengine && method->tengine->id == number) return method;
    }
    return nullptr;
}

std::string raised_from(const ir_method_t& method)
{
    if (!method.raise || !method.raised_from) return "yes";
    const std::string list = method.raised_from;
    return "from " + std::regex_replace(list, std::regex("\\|"), ", ");
}

Row describe(int number, const std::vector<NamedTest>& tests)
{
    Row row;
    row.number = number;
    const ir_method_t* method = find_row(number);
    if (!method) return row;
    row.name = method->name;
    row.is_part_of_format = row.name == "InputOp" || row.name == "Const";
    row.is_loaded =
        row.is_part_of_format || tmfile::find_method(static_cast<uint32_t>(number)) == method;
    row.run_test = row.is_part_of_format ? "" : find_run_test(tests, row.name);
    row.written = row.is_part_of_format ? "yes" : raised_from(*method);
    return row;
}

std::vector<Row> describe_all()
{
    const std::vector<NamedTest> tests = all_tests();
    std::vector<Row> rows;
    for (int number = 0; number <= kLastNumber; ++number)
        rows.push_back(describe(number, tests));
    return rows;
}

std::string print_row(const Row& row)
{
    std::ostringstream line;
    line << "| " << row.number << " | ";
    if (row.number == kUnusedNumber)
        line << "(no operator) | | | |";
    else
        line << row.name << " | " << (row.is_loaded ? "yes" : "no") << " | "
             << (row.is_part_of_format ? "every test" : row.run_test) << " | " << row.written
             << " |";
    return line.str() + "\n";
}

std::string print_page(const std::vector<Row>& rows)
{
    std::string page =
        "# Operators of tmfiles\n"
        "\n"
        "This page lists the operator of each number in a tmfile, and the tests that load, run "
        "and write it.\n"
        "`TENGINE_WRITE_TABLE=1 bin/serializer_test --gtest_filter='TmfileTable.*'` makes the "
        "page, and the\n"
        "test fails if it is not up to date.\n"
        "\n"
        "* *loaded*: `create_graph(\"tengine\")` makes a node of this name with all its "
        "parameters. The test is\n"
        "  `TmfileWriterTest.EveryOperatorWithAnyParameters`, which writes and reads each "
        "operator with random\n"
        "  values.\n"
        "* *run*: the test that compares the CPU's results with its own arithmetic.\n"
        "* *written*: `save_graph` writes each operator of a graph, as the test of *loaded* "
        "shows. *from*: the\n"
        "  ONNX operators that become this one in a tmfile, if they are equivalent. Some come "
        "from other nodes\n"
        "  of a graph, too: a Convolution of one axis makes a Reshape.\n"
        "\n"
        "| number | name | loaded | run | written |\n"
        "|---|---|---|---|---|\n";
    for (const Row& row : rows)
        page += print_row(row);
    return page;
}

using TmfileTable = TmfileTest;

TEST_F(TmfileTable, EveryNumberIsLoadedAndRun)
{
    const std::vector<NamedTest> tests = all_tests();
    EXPECT_GT(tests.size(), 200u);
    int shown = 0;
    for (const Row& row : describe_all()) {
        if (row.number == kUnusedNumber) {
            EXPECT_EQ(row.name, "");
            continue;
        }
        EXPECT_NE(row.name, "") << row.number;
        EXPECT_TRUE(row.is_loaded) << row.number << ' ' << row.name;
        EXPECT_TRUE(row.is_part_of_format || !row.run_test.empty())
            << row.number << ": no test runs " << row.name;
        ++shown;
    }
    EXPECT_EQ(shown, kLastNumber);
}

TEST_F(TmfileTable, ThePageIsUpToDate)
{
    const std::string page = print_page(describe_all());
    if (is_table_written()) std::ofstream(kPage) << page;
    EXPECT_EQ(read_bytes(kPage), page)
        << "make it again: TENGINE_WRITE_TABLE=1 serializer_test --gtest_filter='TmfileTable.*'";
}

}  // namespace
}  // namespace tengine::test

// SPDX-License-Identifier: Apache-2.0
// docs/kernels.md: the kernels of the CPU in the order in which they are asked, generated from the
// list of implementations, the comments of the sources and the measured rates. With the environment
// variable TENGINE_WRITE_TABLE=1 it is written.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "device/cpu/implementations.h"
#include "support/written_table.h"

namespace tengine::cpu {
namespace {

namespace fs = std::filesystem;

const char* const kPage = TENGINE_SOURCE_DIR "/docs/kernels.md";
const char* const kRates = TENGINE_SOURCE_DIR "/benchmark/kernel_rates.txt";
const char* const kKernels = TENGINE_SOURCE_DIR "/source/device/cpu/kernel";

struct Source
{
    std::string path;   // below kernel/
    std::string about;  // the first clause of its comment
    std::string limit;  // the clause after "Limits: "
};

std::string read_file(const fs::path& file)
{
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

// Returns the comment at the top without its first line, the licence; paragraphs are lines.
std::string read_comment(const std::string& source)
{
    std::istringstream stream(source);
    std::string line, comment;
    std::getline(stream, line);
    while (std::getline(stream, line) && line.rfind("//", 0) == 0)
        comment += line.size() > 3 ? line.substr(3) + " " : "\n";
    return comment;
}

// Returns the text up to the end of a statement, or a colon, outside parentheses.
std::string first_clause(const std::string& text)
{
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        const bool is_followed = i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n';
        const bool is_end =
            (text[i] == '.' && is_followed) || text[i] == '\n' || (text[i] == ':' && is_followed);
        if (is_end && depth == 0) return text.substr(0, i);
    }
    return text;
}

std::string find_limit(const std::string& comment)
{
    const size_t place = comment.find("Limits: ");
    return place == std::string::npos ? "" : first_clause(comment.substr(place + 8));
}

std::map<std::string, Source> read_sources()
{
    static const std::regex name("\"([a-z0-9_]+\\.(f32|f16|fp|s8|x)\\.[a-z0-9_]+)\"");
    std::map<std::string, Source> sources;
    for (const auto& entry : fs::recursive_directory_iterator(kKernels)) {
        if (entry.path().extension() != ".cc") continue;
        const std::string text = read_file(entry.path());
        const std::string comment = read_comment(text);
        const Source source = {fs::relative(entry.path(), kKernels).generic_string(),
                               first_clause(comment), find_limit(comment)};
        for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
            sources[(*it)[1]] = source;
    }
    return sources;
}

struct Rates
{
    std::string machine;
    std::map<std::string, std::string> cells;  // by kernel
};

// The first line is "# machine", the second a comment. The rows are "kernel rate unit network".
Rates read_rates()
{
    Rates rates;
    std::istringstream lines(read_file(kRates));
    std::string line;
    std::getline(lines, line);
    rates.machine = line.substr(std::min<size_t>(2, line.size()));
    std::getline(lines, line);
    std::string kernel, rate, unit, network;
    while (lines >> kernel >> rate >> unit >> network)
        rates.cells[kernel] = rate + " " + unit + ", " + network;
    return rates;
}

std::string print_row(const std::string& op, const std::string& kernel, const Source& source,
                      Rates& rates)
{
    return "| " + op + " | `" + kernel + "` | `" + source.path + "` | " + source.about + " | " +
           source.limit + " | " + rates.cells[kernel] + " |\n";
}

std::string print_page()
{
    std::map<std::string, Source> sources = read_sources();
    Rates rates = read_rates();
    std::string page =
        "# Kernels of the CPU\n"
        "\n"
        "This page lists the kernels of each operator in the order in which they are asked. The "
        "first one that\n"
        "takes the node's types, shapes and parameters, and is expected to be the fastest, "
        "computes the node.\n"
        "The reference, which takes every node, is the last. The last rows are the kernels of "
        "steps "
        "that the plan\n"
        "adds: attention in place of its nodes, copies between layouts. `tengine inspect` and "
        "`tengine bench\n"
        "--profile` print these names. The page about [adding a kernel](add-a-kernel.md) has their "
        "grammar.\n"
        "\n"
        "Kernels are compiled for every instruction set of the build. A name that ends in an "
        "instruction set is\n"
        "for processors that have it. `TENGINE_WRITE_TABLE=1 bin/device_cpu_test "
        "--gtest_filter='KernelPage.*'`\n"
        "makes the page, and the test fails if it is not up to date.\n"
        "\n"
        "The column \"measured\" has the highest rate of the kernel in a layer of the benchmark's "
        "networks and the\n"
        "[zoo](model_zoo.md), and the network. A multiply-add of the operator's definition is two "
        "operations: kernels\n"
        "that need fewer, Winograd's and those that skip padding, exceed the peak. The bytes are "
        "those of inputs and\n"
        "outputs, which often lie in a cache. [`kernel_rates.mjs`](../benchmark/kernel_rates.mjs) "
        "measures the rates;\n"
        "these are from " +
        rates.machine +
        ".\n"
        "\n"
        "| operator | kernel | source | computes | limited by | measured |\n"
        "|---|---|---|---|---|---|\n";
    std::set<std::string> named;
    for (const Implementations& row : implementations)
        for (const char* kernel : row.names) {
            if (!kernel || std::string(kernel).rfind("reference", 0) == 0) continue;
            page += print_row(row.op, kernel, sources[kernel], rates);
            named.insert(kernel);
        }
    for (const auto& [kernel, source] : sources)
        if (named.count(kernel) == 0)
            page += print_row("a step of the plan", kernel, source, rates);
    return page;
}

TEST(KernelPage, IsUpToDate)
{
    const std::string page = print_page();
    if (test::is_table_written()) std::ofstream(kPage) << page;
    EXPECT_EQ(read_file(kPage), page)
        << "make it again: TENGINE_WRITE_TABLE=1 device_cpu_test --gtest_filter='KernelPage.*'";
}

TEST(KernelPage, HasRatesOfKernelsThatAreThere)
{
    const std::map<std::string, Source> kernels = read_sources();
    const Rates rates = read_rates();
    EXPECT_GT(rates.cells.size(), kernels.size() / 3);
    for (const auto& [kernel, cell] : rates.cells)
        EXPECT_EQ(kernels.count(kernel), 1U)
            << kernel << ", measured at " << cell << ": no such kernel; run kernel_rates.mjs";
}

}  // namespace
}  // namespace tengine::cpu

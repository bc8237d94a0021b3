// SPDX-License-Identifier: Apache-2.0
// The option report: JSON by RFC 8259, with two blanks for each level.
#include "report.h"

#include <gtest/gtest.h>

namespace tengine::provider {
namespace {

ViewedNode make_node(const std::string& name, const std::string& op)
{
    ViewedNode node;
    node.name = name;
    node.op = op;
    return node;
}

std::string name_in_report(const std::string& name)
{
    GraphView view;
    view.nodes = {make_node(name, "Relu")};
    const std::string report = report_placement(view, {1, {0}, {""}}, {});
    const std::string begin = "\"name\": ", end = ",\n      \"op\": \"Relu\"";
    const size_t from = report.find(begin) + begin.size();
    return report.substr(from, report.find(end) - from);
}

TEST(Report, HasEachNodeWithItsPartOrTheReason)
{
    GraphView view;
    view.nodes = {make_node("a", "Relu"), make_node("", "Scan")};
    view.nodes[1].domain = "com.example";
    Settings settings;
    settings.devices = {"TPU", "CPU"};
    settings.precision = "bf16";
    const Placement placement = {1, {0, kNoPart}, {"", "it has subgraphs"}};
    EXPECT_EQ(report_placement(view, placement, settings), R"({
  "provider": "TengineExecutionProvider",
  "devices": [
    "TPU",
    "CPU"
  ],
  "precision": "bf16",
  "parts": 1,
  "nodes": [
    {
      "name": "a",
      "op": "Relu",
      "domain": "",
      "part": 0
    },
    {
      "name": "",
      "op": "Scan",
      "domain": "com.example",
      "reason": "it has subgraphs"
    }
  ]
}
)");
}

TEST(Report, HasNoNodes)
{
    EXPECT_EQ(report_placement({}, {}, {}), R"({
  "provider": "TengineExecutionProvider",
  "devices": [],
  "precision": "fp32",
  "parts": 0,
  "nodes": []
}
)");
}

TEST(Report, EscapesWhatJsonDoesNotTake)
{
    EXPECT_EQ(name_in_report("a\"b\\c/d"), R"("a\"b\\c/d")");
    EXPECT_EQ(name_in_report("\n\t\x1f\x7f"), "\"\\u000a\\u0009\\u001f\x7f\"");
    EXPECT_EQ(name_in_report(std::string("a\0b", 3)), R"("a\u0000b")");
}

// Valid bytes are those of table 3-7 of the Unicode Standard.
TEST(Report, ReplacesBytesThatAreNoUtf8)
{
    const std::string gone = "\xEF\xBF\xBD";
    for (const char* good : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                             "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
        EXPECT_EQ(name_in_report(good), std::string("\"") + good + "\"");
    EXPECT_EQ(name_in_report("a\xFF"), "\"a" + gone + "\"");
    EXPECT_EQ(name_in_report("\xC1\xBF"), "\"" + gone + gone + "\"");             // overlong
    EXPECT_EQ(name_in_report("\xED\xA0\x80"), "\"" + gone + gone + gone + "\"");  // a surrogate
    EXPECT_EQ(name_in_report("\xF4\x90\x80\x80"), "\"" + gone + gone + gone + gone + "\"");
    EXPECT_EQ(name_in_report("\xE2\x82"), "\"" + gone + gone + "\"");  // cut off
}

}  // namespace
}  // namespace tengine::provider

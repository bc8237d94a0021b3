// SPDX-License-Identifier: Apache-2.0
// The log lines about the outcome of a split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "graph/context.h"
#include "graph/core.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "optimizer/optimizer.h"
#include "support/ir_builder.h"
#include "support/test_device.h"

namespace {

using namespace tengine::test;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> lines;

void keep_line(const char* line)
{
    lines.emplace_back(line);
}

// A context without pruning, and the lines that a graph's report logs.
class SplitReport : public testing::Test
{
  protected:
    SplitReport() { set("split.prune", "0"); }
    ~SplitReport() override { destroy_ir_context(context); }

    void set(const char* key, const char* value)
    {
        ASSERT_EQ(set_ir_context_option(context, key, value), TENGINE_OK)
            << tengine_error_message();
    }
    // The context lists the device until that ends.
    void add(TestDevice& device)
    {
        ASSERT_EQ(add_ir_context_device(context, device.get(), nullptr, 0), TENGINE_OK);
        device.before_end = [this, &device] {
            EXPECT_EQ(remove_ir_context_device(context, device.get()), TENGINE_OK);
        };
    }
    static std::vector<std::string> report(const graph* graph)
    {
        lines.clear();
        set_log_sink(keep_line);
        report_ir_split(graph);
        set_log_sink(nullptr);
        return lines;
    }
    std::vector<std::string> report(IrBuilder& source)
    {
        const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(source.get()),
                                                            destroy_ir_graph);
        EXPECT_NE(made, nullptr) << tengine_error_message();
        return made ? report(made.get()) : std::vector<std::string>();
    }

    ir_context_t* context = create_ir_context("test");
};

// 2x3 times 3x4 is 24 multiply-accumulates, after it 2x4 times 4x1: 8.
void build_products(IrBuilder* source)
{
    source->input("x", {2, 3});
    source->floats("v", {3, 4}, std::vector<float>(12, 1.0f));
    source->floats("w", {4, 1}, std::vector<float>(4, 1.0f));
    source->add("MatMul", {"x", "v"}, {"a"});
    source->add("Exp", {"a"}, {"b"});
    source->add("Gemm", {"b", "w"}, {"y"});
    source->outputs({"y"});
}

TEST_F(SplitReport, NothingWithoutOtherDevices)
{
    IrBuilder source(context);
    build_products(&source);
    EXPECT_THAT(report(source), IsEmpty());
    set("split.report", "full");
    EXPECT_THAT(report(source), IsEmpty());
}

TEST_F(SplitReport, OneLineSaysWhoGotWhatAndWhy)
{
    TestDevice a("A", {"MatMul", "Exp"});
    add(a);
    IrBuilder source(context);
    build_products(&source);
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_THAT(logged[0], EndsWith("A: 2 nodes, 75.0 % of MACs, 1 part; CPU: 1 node, 25.0 % of "
                                    "MACs, 1 part, because A has no Gemm (1)"));
    EXPECT_THAT(logged[0], StartsWith("graph"));
}

TEST_F(SplitReport, ADeviceThatGotAllStandsAlone)
{
    TestDevice a("A", {"MatMul", "Exp", "Gemm"});
    add(a);
    IrBuilder source(context);
    build_products(&source);
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_THAT(logged[0], EndsWith("A: 3 nodes, 100 % of MACs, 1 part"));
}

TEST_F(SplitReport, ADeviceThatGotNothingIsNamed)
{
    TestDevice a("A");
    add(a);
    IrBuilder source(context);
    build_products(&source);
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_THAT(logged[0], EndsWith("A: no nodes; CPU: 3 nodes, 100 % of MACs, 1 part, because A "
                                    "has no Exp (1), A has no Gemm (1), A has no MatMul (1)"));
}

TEST_F(SplitReport, TheGraphsOwnDeviceCounts)
{
    TestDevice a("A", {"MatMul"});
    IrBuilder source(context);
    build_products(&source);
    ASSERT_EQ(set_ir_graph_device(source.get(), a.get()), TENGINE_OK);
    ASSERT_EQ(report(source).size(), 1u);
}

TEST_F(SplitReport, WithoutMacsThereIsNoShareOfThem)
{
    TestDevice a("A", {"Relu"});
    add(a);
    IrBuilder source(context);
    source.input("x", {0, 3});
    source.add("Relu", {"x"}, {"a"});
    source.outputs({"a"});
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_THAT(logged[0], EndsWith("A: 1 node, 1 part"));
}

TEST_F(SplitReport, FrequentReasonsComeFirst)
{
    TestDevice a("A", {"Relu", "Exp"});
    a.refusal = [](const node& node) {
        return std::string(get_ir_node_op(&node)) == "Exp" ? "no" : "";
    };
    add(a);
    IrBuilder source(context);
    source.input("x", {2, 3});
    source.add("Abs", {"x"}, {"a"});
    source.add("Exp", {"a"}, {"b"});
    source.add("Exp", {"b"}, {"c"});
    source.add("Relu", {"c"}, {"y"});
    source.outputs({"y"});
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 1u);
    const size_t refused = logged[0].find("(2)");
    const size_t absent = logged[0].find("A has no Abs (1)");
    ASSERT_NE(absent, std::string::npos) << logged[0];
    EXPECT_LT(refused, absent) << logged[0];
}

// The summary of every device fits into a sink's line, for any number of reasons.
TEST_F(SplitReport, ManyReasonsAreCutToTheMostFrequent)
{
    TestDevice a("a_device_with_a_long_name"), b("b_device_with_a_long_name");
    add(a);
    add(b);
    IrBuilder source(context);
    source.input("x", {2, 3});
    std::string last = "x";
    for (const char* op : {"Abs", "Exp", "Neg", "Relu", "Sigmoid", "Sqrt", "Tanh", "Neg"}) {
        const std::string next = last + "y";
        source.add(op, {last}, {next});
        last = next;
    }
    source.get()->name[0] = '\0';
    source.outputs({last});
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_LE(logged[0].size(), 255u);
    EXPECT_THAT(logged[0], HasSubstr("a_device_with_a_long_name: no nodes; "
                                     "b_device_with_a_long_name: no nodes; CPU: 8 nodes"));
    EXPECT_THAT(logged[0], HasSubstr("because a_device_with_a_long_name has no Neg (2), "));
    EXPECT_THAT(logged[0], testing::ContainsRegex(" and [0-9]+ other reasons$"));
}

TEST_F(SplitReport, FullSaysWhyForEveryNode)
{
    TestDevice a("A", {"MatMul", "Gemm"});
    add(a);
    set("split.report", "full");
    IrBuilder source(context);
    build_products(&source);
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 4u);
    EXPECT_EQ(logged[1], "A, part 0: MatMul 'a'");
    EXPECT_THAT(logged[2], StartsWith("CPU, part 1: Exp 'b', because A: "));
    EXPECT_EQ(logged[3], "A, part 2: Gemm 'y'");
}

TEST_F(SplitReport, FullHasTheGroupOfAPart)
{
    TestDevice a("A", {"MatMul", "Gemm"});
    a.group = [](const node& node) { return std::string(node.name) == "a" ? 7 : 0; };
    add(a);
    set("split.report", "full");
    IrBuilder source(context);
    build_products(&source);
    const auto logged = report(source);
    ASSERT_EQ(logged.size(), 4u);
    EXPECT_EQ(logged[1], "A, part 0 (group 7): MatMul 'a'");
    EXPECT_EQ(logged[3], "A, part 2: Gemm 'y'");
}

TEST_F(SplitReport, NoneIsSilent)
{
    TestDevice a("A", {"MatMul"});
    add(a);
    set("split.report", "none");
    IrBuilder source(context);
    build_products(&source);
    EXPECT_THAT(report(source), IsEmpty());
}

// Each reason has its own message.
TEST_F(SplitReport, EveryReasonHasItsWords)
{
    struct Case
    {
        int code;
        const char* attribute;
        const char* value;
        const char* words;
    };
    const Case cases[] = {
        {IR_REASON_OPERATOR, "", "", "A has no MatMul (1)"},
        {IR_REASON_DATA_TYPE, "x", "fp64", "A refuses fp64 (1)"},
        {IR_REASON_DATA_TYPE, "", "", "A refuses types (1)"},
        {IR_REASON_ATTRIBUTE, "group", "2", "A refuses 'group' (1)"},
        {IR_REASON_ATTRIBUTE, "", "", "A refuses parameters (1)"},
        {IR_REASON_SHAPE, "x", "", "A does not support the shape (1)"},
        {IR_REASON_CONSTANT, "w", "", "A: input must be constant (1)"},
        {IR_REASON_COST, "", "", "A is not worthwhile (1)"},
        {IR_REASON_AFFINITY, "", "", "affinity excludes A (1)"},
        {IR_REASON_HANDBACK, "", "", "A handed back (1)"},
        {IR_REASON_COMPILE, "", "", "A failed to compile (1)"},
        {IR_REASON_RUN, "", "", "A failed to run (1)"},
        {IR_REASON_DEVICE, "", "", "A failed to answer (1)"},
        {IR_REASON_COMPILER, "", "", "A has no compiler here (1)"},
    };
    TestDevice a("A");
    add(a);
    IrBuilder source(context);
    source.input("x", {2, 3});
    source.floats("v", {3, 4}, std::vector<float>(12, 1.0f));
    source.add("MatMul", {"x", "v"}, {"y"});
    source.outputs({"y"});
    const std::unique_ptr<graph, void (*)(graph*)> made(make_execution_graph(source.get()),
                                                        destroy_ir_graph);
    ASSERT_NE(made, nullptr) << tengine_error_message();
    for (const Case& entry : cases) {
        refuse_ir_node(&made->node_list[0]->core->refusal_list[0].verdict, entry.code,
                       entry.attribute, entry.value, "a message");
        const auto logged = report(made.get());
        ASSERT_EQ(logged.size(), 1u);
        EXPECT_THAT(logged[0], EndsWith(std::string(", because ") + entry.words));
    }
}

}  // namespace

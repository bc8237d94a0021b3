// SPDX-License-Identifier: Apache-2.0
// Several float nodes that together are a function of one quantised tensor: one table.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

// The float operators make the table, so that every entry is equal.
void expect_one_table(PrecisionGraph& graph)
{
    graph.quantize("f", "y", 0.031f, -20);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Lookup");
    EXPECT_NE(graph.find("f"), nullptr) << "named like the last node";
}

TEST(PrecisionFunction, AGateOfTheTensorItself)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().add("Sigmoid", {x}, {"s"});
    graph.builder().add("Mul", {x, "s"}, {"f"});
    expect_one_table(graph);
}

TEST(PrecisionFunction, AClippedGateWithConstants)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().floats("zero", {}, {0});
    graph.builder().floats("three", {1}, {3});
    graph.builder().floats("six", {}, {6});
    graph.builder().add("Add", {x, "three"}, {"a"});
    graph.builder().add("Clip", {"a", "zero", "six"}, {"c"});
    graph.builder().add("Mul", {"c", x}, {"m"});
    graph.builder().add("Div", {"m", "six"}, {"f"});
    expect_one_table(graph);
}

TEST(PrecisionFunction, AGeluInParts)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().floats("root", {}, {1.41421356f});
    graph.builder().floats("one", {}, {1});
    graph.builder().floats("half", {}, {0.5f});
    graph.builder().add("Div", {x, "root"}, {"d"});
    graph.builder().add("Erf", {"d"}, {"e"});
    graph.builder().add("Add", {"e", "one"}, {"a"});
    graph.builder().add("Mul", {x, "a"}, {"m"});
    graph.builder().add("Mul", {"half", "m"}, {"f"});
    expect_one_table(graph);
}

TEST(PrecisionFunction, ATensorThatIsDequantisedTwiceIsOne)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().add("DequantizeLinear", {"x_q", "x_q_scale", "x_q_zero"}, {"again"});
    graph.builder().add("Tanh", {"again"}, {"t"});
    graph.builder().add("Add", {x, "t"}, {"f"});
    expect_one_table(graph);
}

TEST(PrecisionFunction, ASquareIsATable)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().add("Mul", {x, x}, {"f"});
    expect_one_table(graph);
}

TEST(PrecisionFunction, OfTwoTensorsItStaysInFloat)
{
    PrecisionGraph graph;
    const std::string a = add_all_bytes(graph, "a", 0.05f, 7);
    const std::string b = add_all_bytes(graph, "b", 0.04f, 7);
    graph.builder().add("Tanh", {a}, {"t"});
    graph.builder().add("Mul", {b, "t"}, {"f"});
    graph.quantize("f", "y", 0.031f, -20);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_NE(graph.operators().find("Tanh Mul"), std::string::npos) << graph.operators();
}

TEST(PrecisionFunction, ANodeThatIsKeptInFloatIsNoPartOfATable)
{
    PrecisionGraph graph;
    graph.option("precision.keep_float", "s");
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().add("Sigmoid", {x}, {"s"});
    graph.builder().add("Mul", {x, "s"}, {"f"});
    graph.quantize("f", "y", 0.031f, -20);
    graph.builder().outputs({"y"});
    graph.run(kInt8);
    EXPECT_NE(graph.operators().find("Sigmoid Mul"), std::string::npos) << graph.operators();
}

// Inner results with other readers are computed for them.
TEST(PrecisionFunction, InnerResultsRemainForOthers)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().add("Sigmoid", {x}, {"s"});
    graph.builder().add("Mul", {x, "s"}, {"f"});
    graph.quantize("f", "y", 0.031f, -20);
    graph.builder().outputs({"y", "s"});
    const Floats y = graph.run(kFloat), s = graph.run(kFloat, "s");
    EXPECT_EQ(graph.run(kInt8), y);
    EXPECT_EQ(graph.run(kInt8, "s"), s);
    EXPECT_NE(graph.operators().find("Lookup"), std::string::npos) << graph.operators();
}

// The bound limits the tracing, not the computation.
TEST(PrecisionFunction, AVeryLongChainStaysInFloat)
{
    PrecisionGraph graph;
    std::string value = add_all_bytes(graph, "x", 0.05f, 7);
    for (int i = 0; i < 2000; ++i) {
        graph.builder().add("Neg", {value}, {"n" + std::to_string(i)});
        value = "n" + std::to_string(i);
    }
    graph.quantize(value, "y", 0.05f, 7);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
}

}  // namespace

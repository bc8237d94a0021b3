// SPDX-License-Identifier: Apache-2.0
// Products that consist of more than one float node: a MatMul and its bias, a BatchNormalization.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

const std::vector<int> kWeights = {90, -20, 33, 7, -100, 64};

// Adds the quantised `y` of x * w + b, w 3 x 2.
void add_biased_product(PrecisionGraph& graph, const std::string& x, const Floats& bias)
{
    const std::string w = graph.bytes("w", {3, 2}, kWeights, {0.01f, 0.02f}, 1);
    graph.builder().floats("b", {static_cast<int>(bias.size())}, bias);
    graph.builder().add("MatMul", {x, w}, {"m"});
    graph.builder().add("Add", {"b", "m"}, {"s"});
    graph.builder().add("Relu", {"s"}, {"r"});
    graph.quantize("r", "y", 0.02f, -128);
    graph.builder().outputs({"y"});
}

TEST(PrecisionProduct, AMatMulAndItsBiasAreAQGemm)
{
    for (const Floats& bias : {Floats{0.3f, -0.7f}, Floats{0.4f}}) {
        PrecisionGraph graph;
        graph.input("x", {2, 3}, {-1, 0.5f, 0.25f, 2, -0.3f, 1.2f});
        add_biased_product(graph, graph.pair("x", 0.02f, 10), bias);
        const Floats expected = graph.run(kFloat);
        EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
        EXPECT_EQ(graph.operators(), "QuantizeLinear QGemm");
        EXPECT_NE(graph.find("m"), nullptr) << "named like the MatMul";
    }
}

// Two consecutive products need no reshape between them.
TEST(PrecisionProduct, RowsOfMoreDimensionsAreReshaped)
{
    PrecisionGraph graph;
    graph.input("x", {2, 2, 3}, ramp(12, -1, 0.2f));
    graph.builder().floats("c", {3}, {0.1f, 0.2f, -0.3f});
    const std::string v = graph.bytes("v", {3, 3}, {9, -90, 5, 70, 33, -4, 100, 1, 2}, {0.01f});
    graph.builder().add("MatMul", {graph.pair("x", 0.02f, 10), v}, {"p"});
    graph.builder().add("Add", {"p", "c"}, {"q"});
    graph.builder().add("Gelu", {graph.pair("q", 0.02f, 0)}, {"g"});
    add_biased_product(graph, graph.pair("g", 0.015f, -100), {0.3f, -0.7f});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 2);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Reshape QGemm Lookup QGemm Reshape");
    EXPECT_EQ(graph.builder().find("y")->dim_num, 3);
}

TEST(PrecisionProduct, ABiasThatIsNoListStaysInFloat)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3}, {-1, 0.5f, 0.25f, 2, -0.3f, 1.2f});
    const std::string x = graph.pair("x", 0.02f, 10);
    graph.builder().floats("b", {2, 1}, {0.3f, 0.2f});
    graph.builder().add("MatMul", {x, graph.bytes("w", {3, 2}, kWeights, {0.01f})}, {"m"});
    graph.builder().add("Add", {"m", "b"}, {"s"});
    graph.quantize("s", "y", 0.02f, -128);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.operators().find("QGemm"), std::string::npos) << graph.operators();
}

// Adds a BatchNormalization of two channels, the second of which inverts the sign.
void add_norm(PrecisionGraph& graph, const std::string& x)
{
    graph.builder().floats("gamma", {2}, {0.8f, -0.3f});
    graph.builder().floats("beta", {2}, {0.1f, 0.4f});
    graph.builder().floats("mean", {2}, {0.2f, -0.5f});
    graph.builder().floats("variance", {2}, {0.5f, 2});
    graph.builder().add("BatchNormalization", {x, "gamma", "beta", "mean", "variance"}, {"n"});
}

TEST(PrecisionProduct, ABatchNormalizationIsAConvOfEachChannel)
{
    for (const std::vector<int>& dims : {std::vector<int>{1, 2, 64}, {1, 2, 8, 8}}) {
        PrecisionGraph graph;
        graph.input("x", dims, ramp(128, -1.3f, 0.02f));
        add_norm(graph, graph.pair("x", 0.01f, 3));
        graph.builder().add("Relu", {"n"}, {"r"});
        graph.quantize("r", "y", 0.007f, -128);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
        EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv");
        EXPECT_NE(graph.find("n"), nullptr);
        EXPECT_EQ(get_ir_node_input(graph.find("n"), 3)->i8[1], -127);
    }
}

TEST(PrecisionProduct, ABatchNormalizationOfMatricesStaysInFloat)
{
    PrecisionGraph graph;
    graph.input("x", {4, 2}, ramp(8, -1, 0.2f));
    add_norm(graph, graph.pair("x", 0.01f, 3));
    graph.quantize("n", "y", 0.01f, 0);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_NE(graph.operators().find("BatchNormalization"), std::string::npos);
}

}  // namespace

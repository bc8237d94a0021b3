// SPDX-License-Identifier: Apache-2.0
// Products of fp32 by weights in int8, whose other operand is quantised in each run.
#include <cmath>
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kHybrid = TENGINE_MODE_HYBRID_INT8;
const Floats kInput = {0.3f, -1.7f, 2.2f, 0.01f, 0.5f, -0.9f};  // 2x3
const Floats kWeight = {0.11f, -0.4f, 1.3f, 0.7f, -0.25f, 0.6f};

// Each of three terms is x * w with |x| <= 2.2 and |w| <= 1.3, whose errors are at most half a step
// of 3.9 / 255 and half a step of 1.3 / 127.
constexpr double kBound = 3 * (1.3 * 3.9 / 255 / 2 + 2.2 * 1.3 / 127 / 2) + 1e-3;

void expect_near(const Floats& made, const Floats& expected)
{
    ASSERT_EQ(made.size(), expected.size());
    EXPECT_NE(made, expected) << "computed in float";
    for (size_t i = 0; i < made.size(); ++i)
        EXPECT_NEAR(made[i], expected[i], kBound) << i;
}

TEST(PrecisionHybrid, AMatMulTakesTheBiasAfterIt)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3}, kInput);
    graph.builder().floats("w", {3, 2}, kWeight);
    graph.builder().floats("b", {2}, {0.3f, -0.1f});
    graph.builder().add("MatMul", {"x", "w"}, {"m"});
    graph.builder().add("Add", {"b", "m"}, {"s"});
    graph.builder().add("Relu", {"s"}, {"y"});
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    expect_near(graph.run(kHybrid), expected);
    EXPECT_EQ(graph.operators(), "RowQuantizeMatMul Relu");
    EXPECT_EQ(get_ir_node_input(graph.find("s"), 1)->data_type, TENGINE_DT_INT8);
    EXPECT_EQ(graph.run(kFloat), expected) << "the model is as it was";
}

TEST(PrecisionHybrid, AGemmIsTransposed)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3}, kInput);
    graph.builder().floats("w", {2, 3}, kWeight);
    graph.builder().floats("b", {2}, {0.3f, -0.1f});
    node* gemm = graph.builder().add("Gemm", {"x", "w", "b"}, {"y"});
    ASSERT_EQ(set_node_int(gemm, "transB", 1), TENGINE_OK);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    expect_near(graph.run(kHybrid), expected);
    EXPECT_EQ(graph.operators(), "RowQuantizeMatMul");
    EXPECT_EQ(get_ir_node_input(graph.find("y"), 2)->elem_num, 2) << "a scale for each column";
}

TEST(PrecisionHybrid, ASumThatIsReadTwiceStays)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3}, kInput);
    graph.builder().floats("w", {3, 2}, kWeight);
    graph.builder().floats("b", {2}, {0.3f, -0.1f});
    graph.builder().add("MatMul", {"x", "w"}, {"m"});
    graph.builder().add("Add", {"m", "b"}, {"s"});
    graph.builder().add("Mul", {"m", "s"}, {"y"});
    graph.builder().outputs({"y"});
    graph.run(kHybrid);
    EXPECT_EQ(graph.operators(), "RowQuantizeMatMul Add Mul");
}

TEST(PrecisionHybrid, WhatHasNoSuchFormStaysInFloat)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3}, kInput);
    graph.builder().floats("w", {3, 2}, kWeight);
    graph.builder().floats("infinite", {2, 2}, {1, INFINITY, 0, 1});
    graph.builder().floats("b", {1, 2}, {0.3f, -0.1f});
    node* scaled = graph.builder().add("Gemm", {"x", "w"}, {"g"});
    ASSERT_EQ(set_node_float(scaled, "alpha", 2), TENGINE_OK);
    graph.builder().add("Gemm", {"g", "infinite", "b"}, {"h"});
    graph.builder().add("Transpose", {"h"}, {"t"});
    graph.builder().add("MatMul", {"h", "t"}, {"y"});
    graph.builder().outputs({"y"});
    graph.run(kHybrid);
    EXPECT_EQ(graph.operators(), "Gemm Gemm Transpose MatMul");
}

// Weights up to 1.3 and inputs up to 2.2 as above; the state is below 1, of four units. A gate adds
// the errors of both sums, and no function is steeper than 1.
TEST(PrecisionHybrid, AnLstmHasBytesForWeights)
{
    constexpr int kHidden = 4;
    constexpr double kOfInput = 3 * (3.9 / 255 / 2 + 2.2 / 127 / 2);
    constexpr double kOfState = kHidden * (2.0 / 255 / 2 + 1.0 / 127 / 2);
    PrecisionGraph graph;
    graph.input("x", {2, 1, 3}, kInput);
    graph.builder().floats("w", {1, 4 * kHidden, 3}, ramp(48, -1, 2.0f / 47));
    graph.builder().floats("r", {1, 4 * kHidden, kHidden}, ramp(64, 1, -2.0f / 63));
    graph.builder().floats("b", {1, 8 * kHidden}, ramp(32, -0.5f, 1.0f / 31));
    graph.builder().add("LSTM", {"x", "w", "r", "b"}, {"y", "", "c"});
    graph.builder().outputs({"y", "c"});
    const Floats expected = graph.run(kFloat), cell = graph.run(kFloat, "c");
    const Floats made = graph.run(kHybrid);
    EXPECT_EQ(graph.operators(), "RowQuantizeLSTM");
    EXPECT_EQ(get_ir_node_input(graph.find("y"), 2)->data_type, TENGINE_DT_INT8);
    ASSERT_EQ(made.size(), expected.size());
    EXPECT_NE(made, expected) << "computed in float";
    for (size_t i = 0; i < made.size(); ++i)
        EXPECT_NEAR(made[i], expected[i], 2 * (kOfInput + kOfState)) << i;
    EXPECT_EQ(graph.run(kHybrid, "c").size(), cell.size());
    EXPECT_EQ(graph.run(kFloat), expected) << "the model is as it was";
}

TEST(PrecisionHybrid, TheUserKeepsNodesInFloat)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3}, kInput);
    graph.builder().floats("w", {3, 2}, kWeight);
    graph.builder().add("MatMul", {"x", "w"}, {"y"});
    graph.builder().outputs({"y"});
    graph.option("precision.keep_float", "op:MatMul");
    EXPECT_EQ(graph.run(kHybrid), graph.run(kFloat));
}

}  // namespace

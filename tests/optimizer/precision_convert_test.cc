// SPDX-License-Identifier: Apache-2.0
// Float nodes in fp16 and bf16.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "base/half.h"
#include "graph/late_constant.h"
#include "optimizer/optimizer.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kFp16 = TENGINE_MODE_FP16, kBf16 = TENGINE_MODE_BF16;

// x 2x3 -> Gemm g -> Relu r -> Add y (with the bias once more).
void add_net(PrecisionGraph& graph)
{
    graph.input("x", {2, 3}, {0.3f, -1.7f, 2.2f, 0.01f, 0.5f, -0.9f});
    graph.builder().floats("w", {3, 2}, {0.11f, -0.4f, 1.3f, 0.7f, -0.25f, 0.6f});
    graph.builder().floats("b", {2}, {0.3f, -0.1f});
    graph.builder().add("Gemm", {"x", "w", "b"}, {"g"});
    graph.builder().add("Relu", {"g"}, {"r"});
    graph.builder().add("Add", {"r", "b"}, {"y"});
    graph.builder().outputs({"y"});
}

TEST(PrecisionConvert, BordersAreCastOnceAndPairsCancel)
{
    for (const int precision : {kFp16, kBf16}) {
        const int type = precision == kFp16 ? TENGINE_DT_FP16 : TENGINE_DT_BF16;
        PrecisionGraph graph;
        add_net(graph);
        const Floats expected = graph.run(kFloat);
        EXPECT_EQ(graph.operators(), "Gemm Relu Add");
        const Floats made = graph.run(precision);
        EXPECT_EQ(graph.operators(), "Cast Gemm Relu Add Cast");
        // At most four roundings of terms whose magnitudes add up to less than 4.
        const double unit = precision == kFp16 ? 0x1p-11 : 0x1p-8;
        EXPECT_LE(steps_between(made, expected, unit), 4 * 4);
        EXPECT_GT(steps_between(made, expected, unit), 0);
        EXPECT_EQ(get_ir_node_output(graph.find("g"), 0)->data_type, type);
        EXPECT_EQ(graph.builder().find("y")->data_type, TENGINE_DT_FP32);
        EXPECT_EQ(graph.find("r")->core->source_index,
                  find_node(graph.builder().get(), "r")->index);
    }
}

TEST(PrecisionConvert, ConstantsAreConvertedOnceForAllReaders)
{
    PrecisionGraph graph;
    add_net(graph);
    graph.run(kBf16);
    const tensor* bias = get_ir_node_input(graph.find("g"), 2);
    EXPECT_EQ(bias, get_ir_node_input(graph.find("y"), 1));
    ASSERT_EQ(bias->data_type, TENGINE_DT_BF16);
    EXPECT_EQ(bias->f16[0], fp32_to_bf16(0.3f));
    EXPECT_EQ(graph.builder().find("b")->data_type, TENGINE_DT_FP32);
    for (int i = 0; i < graph.execution()->tensor_num; ++i)
        EXPECT_FALSE(graph.execution()->tensor_list[i]->tensor_type == TENSOR_TYPE_CONST &&
                     graph.execution()->tensor_list[i]->data_type == TENGINE_DT_FP32)
            << "no node reads the originals";
}

// x 1x128 * w 128x128; `w` is made where its values are packed.
Floats add_large_product(PrecisionGraph& graph)
{
    const Floats weights = ramp(128 * 128, -1, 0.0001f);
    graph.input("x", {1, 128}, ramp(128, -1, 0.01f));
    graph.builder().floats("w", {128, 128}, weights);
    graph.builder().add("MatMul", {"x", "w"}, {"y"});
    graph.builder().outputs({"y"});
    return weights;
}

TEST(PrecisionConvert, LargeConstantsHaveNoData)
{
    PrecisionGraph graph;
    add_large_product(graph);
    graph.run(kBf16);
    const tensor* weight = get_ir_node_input(graph.find("y"), 1);
    EXPECT_EQ(weight->data_type, TENGINE_DT_BF16);
    EXPECT_NE(find_ir_late_values(weight), nullptr);
    EXPECT_EQ(weight->data, nullptr);
    // The option is read at the next prerun; nodes that stay in float read the original.
    graph.option("precision.keep_float", "y");
    graph.run(kBf16);
    EXPECT_EQ(get_ir_node_input(graph.find("y"), 1)->data, graph.builder().find("w")->data);
}

TEST(PrecisionConvert, CopiesOfPartsMakeLateConstants)
{
    PrecisionGraph graph;
    const Floats weights = add_large_product(graph);
    graph.run(kBf16);
    const subgraph* part = get_ir_graph_subgraph(graph.execution(), 0);
    for (const bool copies : {false, true}) {
        subgraph* detached = nullptr;
        ASSERT_EQ(detach_ir_subgraph(part, part->device, copies, &detached), TENGINE_OK);
        const node* product = find_node(detached->graph, "y");
        const tensor* weight = get_ir_node_input(product, 1);
        EXPECT_EQ(!find_ir_late_values(weight), copies);
        std::vector<uint16_t> halves(weights.size());
        copy_ir_constant(detached->graph, weight, halves.data());
        for (size_t i = 0; i < weights.size(); ++i)
            ASSERT_EQ(halves[i], fp32_to_bf16(weights[i])) << i;
        destroy_ir_graph(detached->graph);
    }
}

TEST(PrecisionConvert, WhatTheUserKeepsStaysBetweenCasts)
{
    PrecisionGraph graph;
    add_net(graph);
    graph.option("precision.keep_float", "op:Relu");
    graph.run(kBf16);
    EXPECT_EQ(graph.operators(), "Cast Gemm Cast Relu Cast Add Cast");
}

// A spectrum's logarithm: Log(x 2^20 + 1). In fp16 the factor is infinite, and 0 times it NaN.
TEST(PrecisionConvert, ConstantsBeyondFp16StayInFp32)
{
    PrecisionGraph graph;
    graph.input("x", {1, 4}, {0, 0.5f, 3, 100});
    graph.builder().floats("factor", {}, {0x1p20f});
    graph.builder().floats("one", {1}, {1});
    graph.builder().add("Relu", {"x"}, {"r"});
    graph.builder().add("Mul", {"r", "factor"}, {"m"});
    graph.builder().add("Add", {"m", "one"}, {"a"});
    graph.builder().add("Log", {"a"}, {"l"});
    graph.builder().add("Neg", {"l"}, {"y"});
    graph.builder().outputs({"y"});
    const Floats made = graph.run(kFp16);
    EXPECT_EQ(graph.operators(), "Cast Relu Cast Mul Add Log Cast Neg Cast");
    EXPECT_LE(steps_between(made, graph.run(kFloat), 0x1p-6), 1);
    graph.run(kBf16);
    EXPECT_EQ(graph.operators(), "Cast Relu Mul Add Log Neg Cast");
}

// (1 - mask) * -3.4e38, as exporters of transformers write it; a whole row may be masked.
TEST(PrecisionConvert, MasksOfTheLargestNumberMask)
{
    PrecisionGraph graph;
    graph.input("x", {2, 2}, {1, 2, 3, 4});
    graph.input("mask", {2, 2}, {1, 0, 0, 0});
    graph.builder().floats("one", {}, {1});
    graph.builder().floats("least", {}, {-3.4028234e38f});
    graph.builder().add("Sub", {"one", "mask"}, {"off"});
    graph.builder().add("Mul", {"off", "least"}, {"m"});
    graph.builder().add("Add", {"x", "m"}, {"a"});
    graph.builder().add("Softmax", {"a"}, {"y"});
    graph.builder().outputs({"y"});
    EXPECT_EQ(graph.run(kFp16), (Floats{1, 0, 0.5f, 0.5f}));
    EXPECT_EQ(graph.run(kBf16), (Floats{1, 0, 0.5f, 0.5f}));
    EXPECT_EQ(graph.operators(), "Cast Sub Mul Cast Add Softmax Cast");
}

TEST(PrecisionConvert, InfiniteConstantsStay)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    PrecisionGraph graph;
    graph.input("x", {4}, {1, 2, 3, 4});
    graph.builder().floats("bound", {4}, {kInfinity, -kInfinity, 3.4028234e38f, -3.4028234e38f});
    graph.builder().add("Add", {"x", "bound"}, {"y"});
    graph.builder().outputs({"y"});
    EXPECT_EQ(graph.run(kBf16), (Floats{kInfinity, -kInfinity, 0x1.fep127f, -0x1.fep127f}));
}

// A bound that is never reached, and weights, do not make results large.
TEST(PrecisionConvert, BoundsBeyondFp16AreConverted)
{
    PrecisionGraph graph;
    graph.input("x", {2}, {-1, 2});
    graph.builder().floats("low", {}, {0});
    graph.builder().floats("high", {}, {3.4e38f});
    graph.builder().add("Clip", {"x", "low", "high"}, {"y"});
    graph.builder().outputs({"y"});
    EXPECT_EQ(graph.run(kFp16), (Floats{0, 2}));
    EXPECT_EQ(graph.operators(), "Cast Clip Cast");
}

TEST(PrecisionConvert, ResultsThatAreReadTwiceAreWidenedOnce)
{
    PrecisionGraph graph;
    add_net(graph);
    graph.builder().add("Exp", {"g"}, {"e"});
    graph.builder().add("Neg", {"g"}, {"n"});
    graph.builder().outputs({"y", "g", "e", "n"});
    graph.option("precision.keep_float", "e,n");
    const Floats made = graph.run(kBf16, "g"), read = graph.run(kBf16, "n");
    EXPECT_EQ(graph.operators(), "Cast Gemm Cast Exp Neg Relu Add Cast");
    for (size_t i = 0; i < made.size(); ++i)
        EXPECT_EQ(made[i], -read[i]);
}

TEST(PrecisionConvert, NumbersThatAreNoDataStay)
{
    PrecisionGraph graph;
    graph.input("x", {1, 1, 2, 2}, {1, 2, 3, 4});
    graph.builder().floats("scales", {4}, {1, 1, 1.7f, 1.7f});
    graph.builder().ints("target", {3, 3});
    graph.builder().ints("k", {2});
    graph.builder().add("Resize", {"x", "", "scales"}, {"r"});
    graph.builder().add("Reshape", {"r", "target"}, {"s"});
    graph.builder().add("TopK", {"s", "k"}, {"y", "index"});
    graph.builder().outputs({"y", "index"});
    const Floats expected = graph.run(kFloat), places = graph.run(kFloat, "index");
    EXPECT_EQ(graph.run(kBf16), expected);
    EXPECT_EQ(graph.run(kBf16, "index"), places);
    EXPECT_EQ(graph.operators(), "Cast Resize Reshape TopK Cast");
    EXPECT_EQ(get_ir_node_input(graph.find("r"), 2)->data_type, TENGINE_DT_FP32);
    EXPECT_EQ(get_ir_node_input(graph.find("s"), 1)->data_type, TENGINE_DT_INT64);
}

TEST(PrecisionConvert, QuantisedTensorsAreLeftAlone)
{
    PrecisionGraph graph;
    graph.input("x", {2}, {0.5f, -0.5f});
    graph.builder().add("Relu", {graph.pair("x", 0.01f, 0)}, {"r"});
    graph.quantize("r", "y", 0.01f, 0);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kBf16), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear DequantizeLinear Cast Relu Cast QuantizeLinear");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Conv, Gemm and MatMul of quantised tensors in integers.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

// x 1x2x3x3 -> Conv of two channels, 2x2 -> y; not yet quantised.
struct ConvGraph : PrecisionGraph
{
    explicit ConvGraph(const Floats& weight_scales = {0.02f, 0.05f},
                       const Floats& bias_scales = {0.1f * 0.02f, 0.1f * 0.05f})
    {
        Floats values;
        for (int i = 0; i < 18; ++i)
            values.push_back(0.37f * static_cast<float>(i % 7 - 3));
        const std::string x = (input("x", {1, 2, 3, 3}, values), pair("x", 0.1f, -5));
        const std::string w =
            bytes("w", {2, 2, 2, 2}, {1, -2, 3, 100, -50, 6, 7, 8, -9, 10, 11, 12, 127, -127, 3, 2},
                  weight_scales);
        builder().add("Conv", {x, w, words("b", {40, -70}, bias_scales)}, {"c"});
    }
};

TEST(PrecisionWeighted, AConvBecomesOneIntegerNode)
{
    ConvGraph graph;
    graph.builder().add("Identity", {graph.pair("c", 0.08f, 3)}, {"y"});
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.operators(),
              "QuantizeLinear DequantizeLinear Conv QuantizeLinear DequantizeLinear Identity");
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 0.08), 1.01);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv DequantizeLinear Identity");
    const node* conv = graph.find("c");
    ASSERT_NE(conv, nullptr) << "keeps its name";
    EXPECT_EQ(conv->core->source_index, find_node(graph.builder().get(), "c")->index);
    EXPECT_STREQ(get_ir_node_input(conv, 0)->name, "x_q");
    EXPECT_EQ(get_ir_node_input(conv, 3)->data, graph.builder().find("w")->data) << "shared";
    EXPECT_EQ(get_ir_node_input(conv, 8)->data, graph.builder().find("b")->data) << "as it is";
    EXPECT_STREQ(get_ir_node_output(conv, 0)->name, "c_q");
}

TEST(PrecisionWeighted, FloatRunsAreNotRewritten)
{
    ConvGraph graph;
    graph.quantize("c", "y", 0.08f, 3);
    graph.builder().outputs({"y"});
    graph.run(kFloat);
    EXPECT_EQ(graph.operators(), "QuantizeLinear DequantizeLinear Conv QuantizeLinear");
    EXPECT_EQ(get_ir_node_input(graph.find("c"), 1)->tensor_type, TENSOR_TYPE_CONST);
}

TEST(PrecisionWeighted, AnOutputOfBytesIsWrittenDirectly)
{
    ConvGraph graph;
    graph.quantize("c", "y", 0.08f, 3, TENGINE_DT_UINT8);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv");
    EXPECT_EQ(graph.builder().find("y")->data_type, TENGINE_DT_UINT8);
}

TEST(PrecisionWeighted, AReluThatTheTypeDoesIsDropped)
{
    ConvGraph graph;
    graph.builder().add("Relu", {"c"}, {"r"});
    graph.quantize("r", "y", 0.05f, -128);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv");
}

TEST(PrecisionWeighted, OtherClampsAreTables)
{
    ConvGraph graph;
    graph.builder().floats("low", {}, {-1.03f});
    graph.builder().floats("high", {}, {1.01f});
    graph.builder().add("Clip", {"c", "low", "high"}, {"r"});
    graph.quantize("r", "y", 0.05f, 3);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv Lookup");
    EXPECT_NE(graph.find("r"), nullptr) << "the table has the name of the Clip";
}

TEST(PrecisionWeighted, AReluThatOthersReadBehindIsNotPassed)
{
    ConvGraph graph;
    graph.builder().add("Relu", {"c"}, {"r"});
    graph.builder().add("Exp", {"c"}, {"e"});
    graph.quantize("r", "y", 0.05f, -128);
    graph.builder().outputs({"y", "e"});
    graph.run(kInt8);
    EXPECT_NE(graph.operators().find("Conv Relu"), std::string::npos) << graph.operators();
}

TEST(PrecisionWeighted, FloatReadersGetTheBytesBack)
{
    ConvGraph graph;
    graph.builder().add("Exp", {"c"}, {"e"});
    graph.quantize("c", "y", 0.08f, 3);
    graph.builder().outputs({"y", "c", "e"});
    const Floats bytes = graph.run(kInt8), values = graph.run(kInt8, "c");
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv DequantizeLinear Exp");
    for (size_t i = 0; i < bytes.size(); ++i)
        EXPECT_FLOAT_EQ(values[i], (bytes[i] - 3) * 0.08f);
}

TEST(PrecisionWeighted, ABiasInOtherUnitsIsRounded)
{
    ConvGraph graph({0.02f}, {0.0371f, 0.0212f});
    graph.quantize("c", "y", 0.08f, 3);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    const tensor* bias = get_ir_node_input(graph.find("c"), 8);
    EXPECT_EQ(bias->i32[0], 742);   // 40 * 0.0371 / (0.1 * 0.02)
    EXPECT_EQ(bias->i32[1], -742);  // -70 * 0.0212 / (0.1 * 0.02)
}

TEST(PrecisionWeighted, ABiasThatDoesNotFitLeavesTheNodeInFloat)
{
    ConvGraph graph({0.02f}, {1e8f, 1e8f});
    graph.quantize("c", "y", 0.08f, 3);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_NE(graph.operators().find(" Conv "), std::string::npos);
    EXPECT_EQ(get_ir_node_input(graph.find("c"), 1)->tensor_type, TENSOR_TYPE_CONST)
        << "weights that no node took as bytes are folded";
}

TEST(PrecisionWeighted, QuantisersThatDisagreeLeaveTheNodeInFloat)
{
    ConvGraph graph;
    graph.quantize("c", "y", 0.08f, 3);
    graph.quantize("c", "z", 0.8f, 3);
    graph.builder().outputs({"y", "z"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_NE(graph.operators().find("Conv"), std::string::npos);
    EXPECT_EQ(graph.operators().find("QLinear"), std::string::npos);
}

TEST(PrecisionWeighted, QuantisersThatAgreeAreOne)
{
    ConvGraph graph;
    graph.quantize("c", "a", 0.08f, 3);
    graph.quantize("c", "b2", 0.08f, 3);
    graph.builder().add("MaxPool", {"a"}, {"y"});
    graph.builder().add("Neg", {"b2"}, {"z"});
    const int64_t kernel[] = {2, 2};
    EXPECT_EQ(set_node_ints(find_node(graph.builder().get(), "y"), "kernel_shape", kernel, 2), 0);
    graph.builder().outputs({"y", "z"});
    graph.run(kInt8);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearConv MaxPool Neg");
}

// y = x * w + b with the weight in the layout of `transposed`; scales for the columns.
void add_gemm(PrecisionGraph& graph, bool transposed, const Floats& scales)
{
    graph.input("x", {2, 3}, {-1, 0.5f, 0.25f, 2, -0.3f, 1.2f});
    const std::string x = graph.pair("x", 0.02f, 10);
    const std::vector<int> dims = transposed ? std::vector<int>{2, 3} : std::vector<int>{3, 2};
    const std::string w =
        graph.bytes("w", dims, {90, -20, 33, 7, -100, 64}, scales, transposed ? 0 : 1);
    graph.builder().floats("b", {2}, {0.3f, -0.7f});
    node* gemm = graph.builder().add("Gemm", {x, w, "b"}, {"g"});
    ASSERT_EQ(set_node_int(gemm, "transB", transposed), TENGINE_OK);
    graph.quantize("g", "y", 0.03f, -4);
    graph.builder().outputs({"y"});
}

TEST(PrecisionWeighted, AGemmBecomesAQGemm)
{
    for (const bool transposed : {false, true}) {
        for (const Floats& scales : {Floats{0.01f}, Floats{0.01f, 0.02f}}) {
            PrecisionGraph graph;
            add_gemm(graph, transposed, scales);
            const Floats expected = graph.run(kFloat);
            EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
            EXPECT_EQ(graph.operators(), "QuantizeLinear QGemm");
        }
    }
}

TEST(PrecisionWeighted, AGemmWithFactorsStaysInFloat)
{
    for (const char* factor : {"alpha", "beta"}) {
        PrecisionGraph graph;
        add_gemm(graph, false, {0.01f});
        ASSERT_EQ(set_node_float(find_node(graph.builder().get(), "g"), factor, 2), TENGINE_OK);
        graph.run(kInt8);
        EXPECT_NE(graph.operators().find(" Gemm"), std::string::npos) << graph.operators();
    }
}

// A column with as many values as there are results is not a list of biases.
TEST(PrecisionWeighted, AColumnAsAddendStaysInFloat)
{
    PrecisionGraph graph;
    graph.input("x", {2, 2}, {1, 2, 3, 4});
    graph.builder().floats("b", {2, 1}, {0.5f, -0.5f});
    const std::string x = graph.pair("x", 0.05f, 0);
    const std::string w = graph.bytes("w", {2, 2}, {1, 2, 3, 4}, {0.1f});
    graph.builder().add("Gemm", {x, w, "b"}, {"g"});
    graph.quantize("g", "y", 0.1f, 0);
    graph.builder().outputs({"y"});
    EXPECT_EQ(graph.run(kInt8), graph.run(kFloat));
}

TEST(PrecisionWeighted, MatMulOfMatricesAndOfStacks)
{
    PrecisionGraph graph;
    graph.input("x", {2, 1, 2}, {1, -2, 0.5f, 3});
    const std::string x = graph.pair("x", 0.03f, 1);
    const std::string w =
        graph.bytes("w", {2, 3}, {1, -50, 7, 100, 22, -3}, {0.01f, 0.02f, 0.03f}, 1);
    graph.builder().add("MatMul", {x, w}, {"m"});
    const std::string m = graph.pair("m", 0.06f, -2);
    graph.input("z", {2, 3, 1}, {1, -1, 0.5f, 2, 1, -2});
    graph.builder().add("MatMul", {m, graph.pair("z", 0.02f, 0)}, {"n"});
    graph.quantize("n", "y", 0.1f, 5);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QuantizeLinear QLinearMatMul QLinearMatMul");
}

}  // namespace

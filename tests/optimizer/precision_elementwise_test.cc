// SPDX-License-Identifier: Apache-2.0
// Sums, products, averages and functions of one tensor in integers. Neighbour of this:
// precision_movement_test.cc.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

TEST(PrecisionElementwise, SumsAndProducts)
{
    for (const char* op : {"Add", "Mul"}) {
        PrecisionGraph graph;
        const std::string a = add_all_bytes(graph, "a", 0.02f, 7);
        const std::string b = add_all_bytes(graph, "b", 0.013f, -40);
        graph.builder().add(op, {a, b}, {"s"});
        graph.quantize("s", "y", 0.03f, -3);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
        EXPECT_EQ(graph.operators(), std::string("QuantizeLinear QuantizeLinear QLinear") + op);
    }
}

TEST(PrecisionElementwise, SumsOfDifferentTypesWithConstantsAndARelu)
{
    PrecisionGraph graph;
    graph.input("x", {1, 4}, {-1, -0.2f, 0.5f, 1});
    const std::string x = graph.pair("x", 0.01f, 128, TENGINE_DT_UINT8);
    const std::string c = graph.bytes("c", {1, 4}, {10, -20, 30, 127}, {0.02f});
    graph.builder().add("Add", {c, x}, {"s"});
    graph.builder().add("Relu", {"s"}, {"r"});
    graph.quantize("r", "y", 0.02f, -128);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Lookup QLinearAdd") << "the type is adapted";
}

TEST(PrecisionElementwise, AveragesOverWindowsAndPlanes)
{
    for (const std::string op : {"AveragePool", "GlobalAveragePool", "ReduceMean"}) {
        PrecisionGraph graph;
        const std::string x = add_all_bytes(graph, "x", 0.02f, 7);
        std::vector<std::string> inputs = {x};
        if (op == "ReduceMean") {
            graph.builder().ints("axes", {-1, 2});
            inputs.push_back("axes");
        }
        node* made = graph.builder().add(op, inputs, {"p"});
        const int64_t kernel[] = {3, 3}, pads[] = {1, 0, 1, 1};
        if (op == "AveragePool") {
            ASSERT_EQ(set_node_ints(made, "kernel_shape", kernel, 2), TENGINE_OK);
            ASSERT_EQ(set_node_ints(made, "pads", pads, 4), TENGINE_OK);
        }
        graph.quantize("p", "y", 0.017f, 4);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1) << op;
        EXPECT_EQ(graph.operators(), op == "AveragePool"
                                         ? "QuantizeLinear QLinearAveragePool"
                                         : "QuantizeLinear QLinearGlobalAveragePool");
    }
}

TEST(PrecisionElementwise, AMeanMayDropTheAxes)
{
    PrecisionGraph graph;
    graph.input("x", {2, 3, 4, 4}, ramp(96, -1, 0.03f));
    graph.builder().ints("axes", {2, 3});
    node* mean = graph.builder().add("ReduceMean", {graph.pair("x", 0.02f, 3), "axes"}, {"m"});
    ASSERT_EQ(set_node_int(mean, "keepdims", 0), TENGINE_OK);
    graph.quantize("m", "y", 0.015f, 4);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearGlobalAveragePool Reshape");
    EXPECT_EQ(graph.builder().find("y")->dim_num, 2);
}

TEST(PrecisionElementwise, OtherMeansStayInFloat)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.02f, 7);
    graph.builder().ints("axes", {1});
    graph.builder().add("ReduceMean", {x, "axes"}, {"p"});
    graph.quantize("p", "y", 0.017f, 4);
    graph.builder().outputs({"y"});
    EXPECT_EQ(graph.run(kInt8), graph.run(kFloat));
    graph.run(kInt8);
    EXPECT_NE(graph.operators().find("ReduceMean"), std::string::npos);
}

TEST(PrecisionElementwise, SoftmaxAlongAnyAxis)
{
    for (const int axis : {1, 2, -1}) {
        PrecisionGraph graph;
        const std::string x = add_all_bytes(graph, "x", 0.02f, 7);
        node* made = graph.builder().add("Softmax", {x}, {"s"});
        ASSERT_EQ(set_node_int(made, "axis", axis), TENGINE_OK);
        graph.quantize("s", "y", 1.0f / 256, -128);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
        EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearSoftmax");
    }
}

TEST(PrecisionElementwise, LayerNormalizationFromItsAxisOn)
{
    for (const int axis : {-1, 2, 1})
        for (const bool has_bias : {false, true}) {
            PrecisionGraph graph;
            const std::string x = add_all_bytes(graph, "x", 0.02f, 7);
            const std::vector<int> dims = axis == -1 ? std::vector<int>{16} : std::vector{16, 16};
            const int number = axis == -1 ? 16 : 256;
            graph.builder().floats("scale", dims, ramp(number, -1, 0.01f));
            graph.builder().floats("bias", dims, ramp(number, 2, -0.02f));
            std::vector<std::string> inputs = {x, "scale"};
            if (has_bias) inputs.push_back("bias");
            node* made = graph.builder().add("LayerNormalization", inputs, {"n"});
            ASSERT_EQ(set_node_int(made, "axis", axis), TENGINE_OK);
            graph.quantize("n", "y", 0.03f, -20);
            graph.builder().outputs({"y"});
            const Floats expected = graph.run(kFloat);
            EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
            EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearLayerNormalization");
        }
}

class UnaryTest : public testing::TestWithParam<const char*>
{
};

// The float operator makes the table, so that every entry is equal.
TEST_P(UnaryTest, IsATableAndExact)
{
    for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
        PrecisionGraph graph;
        const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
        graph.builder().add(GetParam(), {x}, {"f"});
        graph.quantize("f", "y", 0.031f, 20, type);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_EQ(graph.run(kInt8), expected);
        EXPECT_EQ(graph.operators(), "QuantizeLinear Lookup");
        EXPECT_NE(graph.find("f"), nullptr);
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, UnaryTest,
                         testing::Values("Abs", "Celu", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor",
                                         "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log",
                                         "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu",
                                         "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus",
                                         "Softsign", "Sqrt", "Tanh", "ThresholdedRelu"));

class ScalarTest : public testing::TestWithParam<const char*>
{
};

TEST_P(ScalarTest, IsATableInEitherOrder)
{
    for (const bool reversed : {false, true}) {
        if (reversed && std::string(GetParam()) == "PRelu") continue;
        PrecisionGraph graph;
        const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
        graph.builder().floats("c", {1}, {0.75f});
        std::vector<std::string> inputs = {x, "c"};
        if (reversed) std::swap(inputs[0], inputs[1]);
        graph.builder().add(GetParam(), inputs, {"f"});
        graph.quantize("f", "y", 0.031f, 20);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_EQ(graph.run(kInt8), expected);
        EXPECT_EQ(graph.operators(), "QuantizeLinear Lookup");
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, ScalarTest,
                         testing::Values("Div", "Max", "Min", "PRelu", "Pow", "Sub"));

TEST(PrecisionElementwise, AScalarThatAddsDimensionsStaysInFloat)
{
    PrecisionGraph graph;
    graph.input("x", {4}, {1, 2, 3, 4});
    graph.builder().floats("c", {1, 1}, {0.75f});
    graph.builder().add("Sub", {graph.pair("x", 0.05f, 0), "c"}, {"f"});
    graph.quantize("f", "y", 0.05f, 0);
    graph.builder().outputs({"y"});
    graph.run(kInt8);
    EXPECT_NE(graph.operators().find("Sub"), std::string::npos);
}

TEST(PrecisionElementwise, PairsAreCancelledOrOneTable)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.quantize(x, "same", 0.05f, 7);
    graph.quantize(x, "other", 0.07f, 3, TENGINE_DT_UINT8);
    graph.builder().add("Neg", {"same"}, {"z"});
    graph.builder().add("Identity", {"other"}, {"y"});
    graph.builder().outputs({"y", "z"});
    const Floats expected = graph.run(kFloat), negated = graph.run(kFloat, "z");
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.run(kInt8, "z"), negated);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Neg Lookup Identity");
    EXPECT_STREQ(get_ir_node_input(graph.find("z"), 0)->name, "x_q");
}

TEST(PrecisionElementwise, AnOutputOfTheGraphKeepsItsTensor)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, -128);
    graph.builder().add("Relu", {x}, {"r"});
    graph.quantize("r", "y", 0.05f, -128);
    graph.builder().outputs({"y", "x_q"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.execution()->output_tensor_num, 2);
    EXPECT_NE(graph.execution()->output_tensors[0], graph.execution()->output_tensors[1]);
}

}  // namespace

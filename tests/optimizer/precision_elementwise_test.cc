// SPDX-License-Identifier: Apache-2.0
// Sums, products, averages, functions of one tensor, and what moves values, in integers.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

Floats ramp(int number, float first, float step)
{
    Floats values;
    for (int i = 0; i < number; i++)
        values.push_back(first + step * static_cast<float>(i));
    return values;
}

// Every byte once.
std::string add_all_bytes(PrecisionGraph& graph, const std::string& name, float scale, int zero)
{
    graph.input(name, {1, 1, 16, 16}, ramp(256, static_cast<float>(-128 - zero) * scale, scale));
    return graph.pair(name, scale, zero);
}

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

class UnaryTest : public testing::TestWithParam<const char*>
{
};

// The table is made by the float operator, so every byte is the same.
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

struct Movement
{
    const char* op;
    std::vector<std::pair<const char*, std::vector<int64_t>>> attributes;
    std::vector<std::vector<int64_t>> inputs;  // constants behind the data
};

class MovementTest : public testing::TestWithParam<Movement>
{
};

// On the bytes themselves, and with a table behind it when the result has another scale.
TEST_P(MovementTest, WorksOnBytes)
{
    const Movement& movement = GetParam();
    for (const bool same : {true, false}) {
        PrecisionGraph graph;
        std::vector<std::string> inputs = {add_all_bytes(graph, "x", 0.05f, 7)};
        for (size_t i = 0; i < movement.inputs.size(); i++) {
            inputs.push_back("input" + std::to_string(i));
            graph.builder().ints(inputs.back(), movement.inputs[i]);
        }
        node* made = graph.builder().add(movement.op, inputs, {"m"});
        for (const auto& [name, values] : movement.attributes) {
            if (values.size() == 1)
                ASSERT_EQ(set_node_int(made, name, values[0]), TENGINE_OK);
            else
                ASSERT_EQ(set_node_ints(made, name, values.data(), int(values.size())), TENGINE_OK);
        }
        graph.quantize("m", "y", same ? 0.05f : 0.06f, 7);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_EQ(graph.run(kInt8), expected);
        EXPECT_EQ(graph.operators(),
                  std::string("QuantizeLinear ") + movement.op + (same ? "" : " Lookup"));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, MovementTest,
    testing::Values(Movement{"DepthToSpace", {{"blocksize", {1}}}, {}},
                    Movement{"Expand", {}, {{2, 1, 16, 16}}}, Movement{"Flatten", {}, {}},
                    Movement{"Gather", {{"axis", {2}}}, {{3, 1}}},
                    Movement{"MaxPool", {{"kernel_shape", {3, 3}}, {"pads", {1, 1, 1, 1}}}, {}},
                    Movement{"Pad", {}, {{0, 0, 1, 2, 0, 0, 0, 1}}},
                    Movement{"Reshape", {}, {{2, -1}}}, Movement{"Slice", {}, {{1}, {9}, {2}, {3}}},
                    Movement{"SpaceToDepth", {{"blocksize", {2}}}, {}},
                    Movement{"Squeeze", {}, {{0, 1}}}, Movement{"Tile", {}, {{1, 2, 1, 1}}},
                    Movement{"Transpose", {{"perm", {0, 2, 3, 1}}}, {}},
                    Movement{"Unsqueeze", {}, {{0}}}),
    [](const auto& tested) { return std::string(tested.param.op); });

TEST(PrecisionMovement, PadsWithAByte)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().ints("pads", {0, 0, 1, 1, 0, 0, 1, 1});
    graph.builder().floats("value", {}, {1.5f});
    graph.builder().add("Pad", {x, "pads", "value"}, {"p"});
    graph.quantize("p", "y", 0.05f, 7);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Pad");
    EXPECT_EQ(*get_ir_node_input(graph.find("p"), 2)->i8, 37);
}

TEST(PrecisionMovement, SplitHasAKindForEachResult)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().ints("sizes", {4, 10, 2});
    node* made = graph.builder().add("Split", {x, "sizes"}, {"a", "b", "c"});
    ASSERT_EQ(set_node_int(made, "axis", 2), TENGINE_OK);
    graph.quantize("a", "y", 0.05f, 7);
    graph.quantize("b", "z", 0.03f, 7, TENGINE_DT_UINT8);
    graph.builder().outputs({"y", "z"});
    const Floats first = graph.run(kFloat), second = graph.run(kFloat, "z");
    EXPECT_EQ(graph.run(kInt8), first);
    EXPECT_EQ(graph.run(kInt8, "z"), second);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Split Lookup");
}

TEST(PrecisionMovement, ConcatBringsAllToOneKind)
{
    PrecisionGraph graph;
    const std::string a = add_all_bytes(graph, "a", 0.05f, 7);
    const std::string b = add_all_bytes(graph, "b", 0.04f, 0);
    const std::string c = graph.bytes("c", {1, 1, 1, 16}, std::vector<int>(16, 9), {0.02f});
    node* made = graph.builder().add("Concat", {a, b, c}, {"j"});
    ASSERT_EQ(set_node_int(made, "axis", 2), TENGINE_OK);
    graph.quantize("j", "y", 0.05f, 7);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.operators(), "QuantizeLinear QuantizeLinear Lookup Concat")
        << "the constant is brought there once and for all";
}

TEST(PrecisionMovement, OnlyNearestResizesMove)
{
    for (const std::string mode : {"nearest", "linear"}) {
        PrecisionGraph graph;
        const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
        graph.builder().floats("scales", {4}, {1, 1, 2, 2});
        node* made = graph.builder().add("Resize", {x, "", "scales"}, {"r"});
        ASSERT_EQ(set_node_text(made, "mode", mode.c_str(), mode.size()), TENGINE_OK);
        graph.quantize("r", "y", 0.05f, 7);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_EQ(graph.run(kInt8), expected);
        EXPECT_EQ(graph.operators() == "QuantizeLinear Resize", mode == "nearest");
    }
}

}  // namespace

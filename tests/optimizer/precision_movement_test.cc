// SPDX-License-Identifier: Apache-2.0
// Operators that only move or select values, in integers.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "optimizer/precision_fixture.h"

namespace {

using namespace tengine::test;

constexpr int kFloat = TENGINE_MODE_FP32, kInt8 = TENGINE_MODE_INT8;

struct Movement
{
    const char* op;
    std::vector<std::pair<const char*, std::vector<int64_t>>> attributes;
    std::vector<std::vector<int64_t>> inputs;  // constants after the data
};

class MovementTest : public testing::TestWithParam<Movement>
{
};

// The operator works on the quantised values, followed by a table if the result has another scale.
TEST_P(MovementTest, WorksOnBytes)
{
    const Movement& movement = GetParam();
    for (const bool same : {true, false}) {
        PrecisionGraph graph;
        std::vector<std::string> inputs = {add_all_bytes(graph, "x", 0.05f, 7)};
        for (size_t i = 0; i < movement.inputs.size(); ++i) {
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

// Weights of 1/4 and 3/4 are exact in integers: only the order of two roundings differs.
TEST(PrecisionMovement, ResizesTakeBytes)
{
    for (const std::string mode : {"nearest", "linear", "cubic"})
        for (const float scale : {0.05f, 0.06f, 0.04f}) {
            PrecisionGraph graph;
            const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
            graph.builder().floats("scales", {4}, {1, 1, 2, 2});
            node* made = graph.builder().add("Resize", {x, "", "scales"}, {"r"});
            ASSERT_EQ(set_node_text(made, "mode", mode.c_str(), mode.size()), TENGINE_OK);
            graph.quantize("r", "y", scale, 7);
            graph.builder().outputs({"y"});
            const Floats expected = graph.run(kFloat);
            const bool is_moved = mode == "nearest" || (mode == "linear" && scale > 0.04f);
            EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), mode == "linear" ? 1 : 0);
            EXPECT_EQ(graph.operators() == (scale == 0.05f ? "QuantizeLinear Resize"
                                                           : "QuantizeLinear Resize Lookup"),
                      is_moved)
                << graph.operators();
        }
}

TEST(PrecisionMovement, ResizesWithAFilterStayInFloat)
{
    PrecisionGraph graph;
    const std::string x = add_all_bytes(graph, "x", 0.05f, 7);
    graph.builder().floats("scales", {4}, {1, 1, 0.5f, 0.5f});
    node* made = graph.builder().add("Resize", {x, "", "scales"}, {"r"});
    ASSERT_EQ(set_node_text(made, "mode", "linear", 6), TENGINE_OK);
    ASSERT_EQ(set_node_int(made, "antialias", 1), TENGINE_OK);
    graph.quantize("r", "y", 0.05f, 7);
    graph.builder().outputs({"y"});
    graph.run(kInt8);
    EXPECT_EQ(graph.operators(), "QuantizeLinear DequantizeLinear Resize QuantizeLinear");
}

TEST(PrecisionMovement, AGlobalMaximumIsAWindowOfEverything)
{
    PrecisionGraph graph;
    graph.builder().add("GlobalMaxPool", {add_all_bytes(graph, "x", 0.05f, 7)}, {"m"});
    graph.quantize("m", "y", 0.05f, 7);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_EQ(graph.run(kInt8), expected);
    EXPECT_EQ(graph.operators(), "QuantizeLinear MaxPool");
}

// x 1 x 2 x 2 x 3, moved without a pair after it, then a product that is quantised.
TEST(PrecisionMovement, WithoutAPairTheResultIsQuantisedLikeTheInput)
{
    PrecisionGraph graph;
    graph.input("x", {1, 2, 2, 3}, ramp(12, -0.5f, 0.11f));
    node* turned = graph.builder().add("Transpose", {graph.pair("x", 0.01f, 3)}, {"t"});
    const int64_t order[] = {0, 2, 3, 1};
    ASSERT_EQ(set_node_ints(turned, "perm", order, 4), TENGINE_OK);
    graph.builder().add("Flatten", {"t"}, {"f"});
    node* joined = graph.builder().add("Concat", {"f", "f"}, {"j"});
    ASSERT_EQ(set_node_int(joined, "axis", 0), TENGINE_OK);
    std::vector<int> weights;
    for (int i = 0; i < 24; ++i)
        weights.push_back(i * 37 % 255 - 127);
    graph.builder().add("Gemm", {"j", graph.bytes("w", {12, 2}, weights, {0.01f})}, {"g"});
    graph.quantize("g", "y", 0.05f, -4);
    graph.builder().outputs({"y"});
    const Floats expected = graph.run(kFloat);
    EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
    EXPECT_EQ(graph.operators(), "QuantizeLinear Transpose Flatten Concat QGemm");
}

TEST(PrecisionMovement, ForFloatReadersNothingIsMovedAsBytes)
{
    PrecisionGraph graph;
    graph.builder().add("Flatten", {add_all_bytes(graph, "x", 0.05f, 7)}, {"f"});
    graph.builder().add("Exp", {"f"}, {"y"});
    graph.builder().outputs({"y"});
    graph.run(kInt8);
    EXPECT_EQ(graph.operators(), "QuantizeLinear DequantizeLinear Flatten Exp");
}

// Float readers besides the quantised ones get real values.
TEST(PrecisionMovement, BothKindsOfReadersAreServed)
{
    PrecisionGraph graph;
    graph.builder().add("Flatten", {add_all_bytes(graph, "x", 0.05f, 7)}, {"f"});
    graph.builder().add("Exp", {"f"}, {"z"});
    graph.builder().add("Neg", {"f"}, {"n"});
    graph.quantize("n", "y", 0.05f, -4);
    graph.builder().outputs({"y", "z", "f"});
    const Floats y = graph.run(kFloat), z = graph.run(kFloat, "z"), f = graph.run(kFloat, "f");
    EXPECT_EQ(graph.run(kInt8), y);
    EXPECT_EQ(graph.run(kInt8, "z"), z);
    EXPECT_EQ(graph.run(kInt8, "f"), f);
}

// A transposed weight: its values are transposed, and its scales follow their axis.
TEST(PrecisionMovement, ConstantsAreMovedBeforehand)
{
    for (const Floats& scales : {Floats{0.01f}, Floats{0.01f, 0.02f}}) {
        PrecisionGraph graph;
        graph.input("x", {2, 3}, {-1, 0.5f, 0.25f, 2, -0.3f, 1.2f});
        const std::string w = graph.bytes("w", {2, 3}, {90, -20, 33, 7, -100, 64}, scales, 0);
        node* turned = graph.builder().add("Transpose", {w}, {"t"});
        const int64_t order[] = {1, 0};
        ASSERT_EQ(set_node_ints(turned, "perm", order, 2), TENGINE_OK);
        graph.builder().add("MatMul", {graph.pair("x", 0.02f, 10), "t"}, {"g"});
        graph.quantize("g", "y", 0.03f, -4);
        graph.builder().outputs({"y"});
        const Floats expected = graph.run(kFloat);
        EXPECT_LE(steps_between(graph.run(kInt8), expected, 1), 1);
        EXPECT_EQ(graph.operators(), "QuantizeLinear QLinearMatMul");
        const tensor* bytes = get_ir_node_input(graph.find("g"), 3);
        EXPECT_EQ(bytes->tensor_type, TENSOR_TYPE_CONST);
        EXPECT_EQ(bytes->i8[1], 7);
    }
}

}  // namespace

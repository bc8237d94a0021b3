// SPDX-License-Identifier: Apache-2.0
// Integer operators that are lowered to float ones between DequantizeLinear and QuantizeLinear.
#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

const std::vector<std::string> kUnaryInputs = {"x", "x_scale", "x_zero", "y_scale", "y_zero"};

TEST(QLinearSigmoid, OfEveryByte)
{
    std::vector<int8_t> x(256);
    for (int i = 0; i < 256; ++i)
        x[static_cast<size_t>(i)] = static_cast<int8_t>(i);
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "x", {256}, x, 0.05f, -3);
    add_result<uint8_t>(&graph, 1.0f / 256, 0);
    graph.add("com.microsoft.QLinearSigmoid", kUnaryInputs);
    const auto y = values_of<uint8_t>(graph.evaluate());
    ASSERT_EQ(y.size(), 256u);
    for (size_t i = 0; i < 256; ++i)
        EXPECT_NEAR(y[i], std::min(255.0, 256 / (1 + std::exp(-0.05 * (x[i] + 3)))), 0.51) << i;
}

TEST(QLinearLeakyRelu, KeepsItsSlope)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "x", {4}, {-128, -4, 0, 100}, 1, 0);
    add_result<int8_t>(&graph, 0.5f, 1);
    set_node_float(graph.add("com.microsoft.QLinearLeakyRelu", kUnaryInputs), "alpha", 0.25f);
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{-63, -1, 1, 127}));
}

TEST(QLinearReduceMean, AxesBecomeAnInput)
{
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "x", {2, 2}, {10, 20, 30, 50}, 1, 10);
    add_result<uint8_t>(&graph, 0.5f, 0);
    node* node = graph.add("com.microsoft.QLinearReduceMean", kUnaryInputs);
    const int64_t axis = -1;
    set_node_ints(node, "axes", &axis, 1);
    set_node_int(node, "keepdims", 0);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), std::vector<int>{2});
    EXPECT_EQ(values_of<uint8_t>(y), (std::vector<uint8_t>{10, 60}));
}

TEST(QLinearReduceMean, WithoutAxesOverAll)
{
    ConstantGraph graph;
    add_tensor<uint8_t>(&graph, "x", {2, 2}, {10, 20, 30, 40}, 1, 10);
    add_result<uint8_t>(&graph, 1, 0);
    graph.add("com.microsoft.QLinearReduceMean", kUnaryInputs);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{1, 1}));
    EXPECT_EQ(values_of<uint8_t>(y), std::vector<uint8_t>{15});
}

TEST(QLinearConcat, PartsOfOtherScales)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "a", {1, 2}, {4, -128}, 1, 0);
    add_tensor<int8_t>(&graph, "b", {1, 1}, {9}, 2, 3);
    add_tensor<int8_t>(&graph, "c", {1, 1}, {5}, 0.5f, 0);
    add_result<int8_t>(&graph, 1, -1);
    node* node = graph.add("com.microsoft.QLinearConcat",
                           {"y_scale", "y_zero", "a", "a_scale", "a_zero", "b", "b_scale", "b_zero",
                            "c", "c_scale", "c_zero"});
    set_node_int(node, "axis", 1);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{1, 4}));
    EXPECT_EQ(values_of<int8_t>(y), (std::vector<int8_t>{3, -128, 11, 1}));
}

TEST(QLinearConcat, PartsAreInThrees)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "a", {1, 2}, {4, -128}, 1, 0);
    add_result<int8_t>(&graph, 1, -1);
    node* node = graph.add("com.microsoft.QLinearConcat",
                           {"y_scale", "y_zero", "a", "a_scale", "a_zero", "a"});
    set_node_int(node, "axis", 1);
    graph.expect_failure(TENGINE_EGRAPH, "6 inputs, expected 2 and 3 for each part");
}

TEST(QLinearWhere, Chooses)
{
    ConstantGraph graph;
    graph.bools("condition", {3}, {1, 0, 1});
    add_tensor<uint8_t>(&graph, "a", {3}, {10, 20, 30}, 1, 0);
    add_tensor<uint8_t>(&graph, "b", {1}, {7}, 2, 3);
    add_result<uint8_t>(&graph, 1, 1);
    graph.add("com.microsoft.QLinearWhere", {"condition", "a", "a_scale", "a_zero", "b", "b_scale",
                                             "b_zero", "y_scale", "y_zero"});
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{11, 9, 31}));
}

// The result's type then follows from the other zero point, or from the tensor.
TEST(QLinearSigmoid, ZeroPointsMayBeAbsent)
{
    for (const bool with_other : {true, false}) {
        ConstantGraph graph;
        add_tensor<int8_t>(&graph, "x", {1}, {0}, 1, 0);
        graph.input<float>("y_scale", {}, {0.5f});
        graph.add("com.microsoft.QLinearSigmoid",
                  {"x", "x_scale", with_other ? "x_zero" : "", "y_scale"});
        EXPECT_EQ(values_of<int8_t>(graph.evaluate()), std::vector<int8_t>{1});
    }
}

TEST(QLinearSigmoid, AbsentInputsAreNamed)
{
    ConstantGraph no_scale;
    add_tensor<int8_t>(&no_scale, "x", {1}, {0}, 1, 0);
    no_scale.add("com.microsoft.QLinearSigmoid", {"x", "x_scale", "x_zero", ""});
    no_scale.expect_failure(TENGINE_EGRAPH, "the result or its scale, input 3, is missing");

    ConstantGraph no_input;
    add_result<int8_t>(&no_input, 1, 0);
    no_input.add("com.microsoft.QLinearSigmoid", {"", "y_scale", "y_zero", "y_scale", "y_zero"});
    no_input.expect_failure(TENGINE_EGRAPH, "input 0 is missing");
}

}  // namespace
}  // namespace tengine::test

// SPDX-License-Identifier: Apache-2.0
// Activation functions with parameters: types, attributes of old opsets, refusals.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;

Floats apply(const char* op, const Floats& values, const char* parameter = nullptr,
             float setting = 0)
{
    ConstantGraph graph;
    graph.input("x", {static_cast<int>(values.size())}, values);
    node* made = graph.add(op, {"x"});
    if (parameter) {
        EXPECT_EQ(set_node_float(made, parameter, setting), 0);
    }
    return numbers_of(graph.evaluate());
}

void expect_near(const Floats& values, const Floats& expected)
{
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(values[i], expected[i], 1e-6f) << "element " << i;
}

TEST(Activation, Values)
{
    expect_near(apply("LeakyRelu", {-2, 0, 3}), {-0.02f, 0, 3});
    expect_near(apply("LeakyRelu", {-2, 3}, "alpha", 0.5f), {-1, 3});
    expect_near(apply("Elu", {-1, 2}, "alpha", 2), {2 * std::expm1(-1.0f), 2});
    expect_near(apply("Celu", {-1, 2}, "alpha", 2), {2 * std::expm1(-0.5f), 2});
    expect_near(apply("Selu", {-1, 1}), {-1.1113307f, 1.0507010f});
    expect_near(apply("HardSigmoid", {-5, 0, 1, 5}), {0, 0.5f, 0.7f, 1});
    expect_near(apply("ThresholdedRelu", {1, 1.5f, -3}), {0, 1.5f, 0});
    expect_near(apply("Shrink", {-2, -0.5f, 0.25f, 2}, "bias", 0.5f), {-1.5f, 0, 0, 1.5f});
    expect_near(apply("Swish", {-1, 0, 1, 2}), {-0.26894142f, 0, 0.73105858f, 1.7615942f});
    expect_near(apply("Swish", {-1, 1}, "alpha", 2), {-0.11920292f, 0.88079708f});
    expect_near(apply("Gelu", {-1, 0, 1}), {-0.15865525f, 0, 0.84134475f});
}

TEST(Activation, GeluApproximation)
{
    ConstantGraph graph;
    graph.input<double>("x", {3}, {-1, 0, 1});
    node* gelu = graph.add("Gelu", {"x"});
    EXPECT_EQ(set_node_text(gelu, "approximate", "sigmoid", 7), TENGINE_ERANGE);
    ASSERT_EQ(set_node_text(gelu, "approximate", "tanh", 4), 0);
    expect_near(numbers_of(graph.evaluate()), {-0.15880801f, 0, 0.84119199f});
}

// Operators of ONNX Runtime; compared by value, since another node computes them.
TEST(Activation, GeluWithABiasAndApproximations)
{
    const auto apply_with_bias = [](const char* op) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 2}, {-2, 0, 0, 1});
        graph.input<float>("bias", {2}, {1, 0});
        graph.add(op, {"x", "bias"});
        return numbers_of(graph.evaluate());
    };
    expect_near(apply("com.microsoft.Gelu", {-1, 0, 1}), {-0.15865525f, 0, 0.84134475f});
    expect_near(apply_with_bias("com.microsoft.BiasGelu"),
                {-0.15865525f, 0, 0.84134475f, 0.84134475f});
    expect_near(apply("com.microsoft.FastGelu", {-1, 0, 1}), {-0.15880801f, 0, 0.84119199f});
    expect_near(apply_with_bias("com.microsoft.FastGelu"),
                {-0.15880801f, 0, 0.84119199f, 0.84119199f});
    expect_near(apply("com.microsoft.QuickGelu", {-1, 0, 1}), {-0.15420423f, 0, 0.84579577f});
    expect_near(apply("com.microsoft.QuickGelu", {-1, 1}, "alpha", 2), {-0.11920292f, 0.88079708f});
}

// Inputs are counted before the operator is lowered to others, which have fewer.
TEST(Activation, GeluWithABiasTooManyIsRefused)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {-2, 0});
    graph.add("com.microsoft.BiasGelu", {"x", "x", "x"});
    graph.expect_failure(TENGINE_EGRAPH, ": 3 inputs, expected 2 to 2 in opset 1");
}

TEST(Activation, ShrinkOfIntegers)
{
    ConstantGraph graph;
    graph.input<uint8_t>("x", {3}, {0, 3, 250});
    node* shrink = graph.add("Shrink", {"x"});
    ASSERT_EQ(set_node_float(shrink, "bias", -10), 0);
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{0, 13, 255}));
}

template <class T>
class Clip : public testing::Test
{
};
using ClipTypes = testing::Types<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t,
                                 int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Clip, ClipTypes);

TYPED_TEST(Clip, BoundsAreOptional)
{
    const auto clip = [](const char* low, const char* high) {
        ConstantGraph graph;
        graph.input<TypeParam>("x", {3}, {1, 50, 100});
        graph.input<TypeParam>("low", {}, {10});
        graph.input<TypeParam>("high", {}, {60});
        graph.add("Clip", {"x", low, high});
        std::vector<int> values;
        for (TypeParam value : values_of<TypeParam>(graph.evaluate()))
            values.push_back(static_cast<int>(value));
        return values;
    };
    using Ints = std::vector<int>;
    EXPECT_EQ(clip("low", "high"), (Ints{10, 50, 60}));
    EXPECT_EQ(clip("low", ""), (Ints{10, 50, 100}));
    EXPECT_EQ(clip("", "high"), (Ints{1, 50, 60}));
    EXPECT_EQ(clip("", ""), (Ints{1, 50, 100}));
    EXPECT_EQ(clip("high", "low"), (Ints{10, 10, 10}));  // the upper bound wins
}

TEST(ClipOperator, AttributesOfOldOpsetsBecomeInputsOfTheRightType)
{
    ConstantGraph graph;
    graph.opset = 6;
    graph.input<Half>("x", {3}, {-3.0f, 0.5f, 9.0f});
    node* clip = graph.add("Clip", {"x"});
    ASSERT_EQ(set_node_float(clip, "min", -1), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-1, 0.5f, 9}));
}

TEST(ClipOperator, InfinityPassesWithoutBounds)
{
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(apply("Clip", {-infinity, infinity}), (Floats{-infinity, infinity}));
}

TEST(ClipOperator, RefusesBoundsThatAreNoScalarsOrOfAnotherType)
{
    ConstantGraph vector;
    vector.input<float>("x", {2}, {1, 2});
    vector.add("Clip", {"x", "x"});
    vector.expect_failure(TENGINE_EINVAL, "min has 2 elements");

    ConstantGraph type;
    type.input<float>("x", {2}, {1, 2});
    type.input<double>("high", {}, {1});
    type.add("Clip", {"x", "", "high"});
    type.expect_failure(TENGINE_EDTYPE, "fp64");
}

TEST(PRelu, SlopeBroadcastsToTheInputOnly)
{
    ConstantGraph graph;
    graph.input<int32_t>("x", {2, 2}, {-1, -2, 3, -4});
    graph.input<int32_t>("slope", {2, 1}, {10, 100});
    graph.add("PRelu", {"x", "slope"});
    EXPECT_EQ(values_of<int32_t>(graph.evaluate()), (std::vector<int32_t>{-10, -20, 3, -400}));

    ConstantGraph wrong;
    wrong.input<float>("x", {1, 2}, {1, 2});
    wrong.input<float>("slope", {3, 2}, Floats(6));
    wrong.add("PRelu", {"x", "slope"});
    wrong.expect_failure(TENGINE_EINVAL, "slope does not broadcast");
}

TEST(PRelu, SlopePerChannelInOpset6)
{
    ConstantGraph graph;
    graph.opset = 6;
    graph.input<float>("x", {1, 2, 2, 1}, {-1, -1, -1, -1});
    graph.input<float>("slope", {2}, {2, 3});
    graph.add("PRelu", {"x", "slope"});
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-2, -2, -3, -3}));
}

}  // namespace
}  // namespace tengine::test

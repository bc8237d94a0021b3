// SPDX-License-Identifier: Apache-2.0
// Normalisations: old opsets, groups, types and odd shapes the ONNX suite leaves out.
#include <cmath>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

template <class T>
class FloatNorm : public testing::Test
{
};
using Floats = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(FloatNorm, Floats);

// Values that every type represents.
TYPED_TEST(FloatNorm, BatchOfTwoChannels)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {1, 2, 2}, {1, 3, 10, 20});
    graph.input<TypeParam>("scale", {2}, {2, 1});
    graph.input<TypeParam>("bias", {2}, {0, 5});
    graph.input<TypeParam>("mean", {2}, {1, 10});
    graph.input<TypeParam>("variance", {2}, {4, 25});
    node* node = graph.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"});
    set_node_float(node, "epsilon", 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{0, 2, 5, 7}));
}

TYPED_TEST(FloatNorm, GroupsOfChannels)
{
    const auto normalize = [](const char* op, int groups, std::vector<TypeParam> scale) {
        ConstantGraph graph;
        const std::vector<TypeParam> bias(scale.size(), TypeParam(1));
        graph.input<TypeParam>("x", {1, 4, 1}, {1, 3, 5, 9});
        graph.input("scale", {static_cast<int>(scale.size())}, scale);
        graph.input("bias", {static_cast<int>(scale.size())}, bias);
        node* node = graph.add(op, {"x", "scale", "bias"});
        set_node_float(node, "epsilon", 0);
        if (groups > 0) set_node_int(node, "num_groups", groups);
        return numbers_of(graph.evaluate());
    };
    // A value per channel, and one per group as in opset 18.
    EXPECT_EQ(normalize("GroupNormalization", 2, {1, 2, 3, 4}), (std::vector<float>{0, 3, -2, 5}));
    EXPECT_EQ(normalize("GroupNormalization", 2, {1, 2}), (std::vector<float>{0, 2, -1, 3}));
}

TYPED_TEST(FloatNorm, LpAlongAnAxis)
{
    const auto normalize = [](int axis, int p) {
        ConstantGraph graph;
        graph.input<TypeParam>("x", {2, 2}, {3, -4, 0, 0});
        node* node = graph.add("LpNormalization", {"x"});
        set_node_int(node, "axis", axis);
        set_node_int(node, "p", p);
        return numbers_of(graph.evaluate());
    };
    EXPECT_EQ(normalize(0, 1), (std::vector<float>{1, -1, 0, 0}));
    const auto rounded = [](float value) { return float(TypeParam(value)); };
    EXPECT_EQ(normalize(-1, 2), (std::vector<float>{rounded(0.6f), rounded(-0.8f), 0, 0}));
}

TYPED_TEST(FloatNorm, LocalResponse)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {1, 3, 1}, {1, 2, 4});
    node* node = graph.add("LRN", {"x"});
    set_node_int(node, "size", 2);
    set_node_float(node, "alpha", 2);
    set_node_float(node, "beta", 1);
    set_node_float(node, "bias", 0);
    // An even size includes one more channel above than below: 1+4, 4+16, 16.
    EXPECT_EQ(numbers_of(graph.evaluate()),
              (std::vector<float>{float(TypeParam(0.2f)), float(TypeParam(0.1f)), 0.25f}));
}

// The differences from a large mean are not rounded to its units.
TEST(InstanceNorm, FarFromZero)
{
    constexpr int kNumber = 256;
    std::vector<float> x(2 * kNumber, 10.1f);  // the first channel is constant
    for (int i = 0; i < kNumber; ++i)
        x[kNumber + static_cast<size_t>(i)] = 100 + 0.06f * std::sin(static_cast<float>(i));
    ConstantGraph graph;
    graph.input<float>("x", {1, 2, kNumber}, x);
    graph.input<float>("scale", {2}, {3, 2});
    graph.input<float>("bias", {2}, {0.25f, -1});
    node* node = graph.add("InstanceNormalization", {"x", "scale", "bias"});
    set_node_float(node, "epsilon", 1e-5f);
    const std::vector<float> y = numbers_of(graph.evaluate());
    double sum = 0, squares = 0;
    for (size_t i = kNumber; i < x.size(); ++i)
        sum += x[i];
    const double mean = sum / kNumber;
    for (size_t i = kNumber; i < x.size(); ++i)
        squares += (x[i] - mean) * (x[i] - mean);
    const double deviation = std::sqrt(squares / kNumber + 1e-5f);
    for (size_t i = 0; i < kNumber; ++i)
        ASSERT_EQ(y[i], 0.25f) << i;
    for (size_t i = kNumber; i < x.size(); ++i) {
        const double product = (x[i] - mean) / deviation * 2;
        // The slope, the product, the bias and the sum are rounded.
        ASSERT_NEAR(y[i], product - 1, 0x1p-24 * (3 * std::fabs(product) + 2)) << i;
    }
}

TEST(LayerNorm, ScaleAndBiasBroadcast)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2, 2}, {1, 3, 1, 3, 5, 9, 5, 9});
    graph.input<float>("scale", {2, 1, 1}, {1, 10});
    graph.input<float>("bias", {}, {0.5f});
    node* node = graph.add("LayerNormalization", {"x", "scale", "bias"}, {"y", "mean", "inverse"});
    set_node_float(node, "epsilon", 0);
    EXPECT_EQ(numbers_of(graph.evaluate()),
              (std::vector<float>{-0.5f, 1.5f, -0.5f, 1.5f, -9.5f, 10.5f, -9.5f, 10.5f}));
}

TEST(LayerNorm, StatisticsHaveTheStashType)
{
    ConstantGraph graph;
    graph.input<Half>("x", {1, 2, 2}, {1, 3, 5, 9});
    graph.input<Half>("scale", {2}, {1, 1});
    node* node = graph.add("LayerNormalization", {"x", "scale"}, {"scaled", "y", "inverse"});
    set_node_float(node, "epsilon", 0);
    const tensor* mean = graph.evaluate();
    EXPECT_EQ(dims_of(mean), (std::vector<int>{1, 2, 1}));
    EXPECT_EQ(values_of<float>(mean), (std::vector<float>{2, 7}));
    set_node_int(node, "stash_type", 10);
    graph.expect_failure(TENGINE_EDTYPE, "invalid stash_type 10: expected float");
}

TEST(RMSNorm, DividesByTheRootOfTheMeanSquare)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {1, 7, 0, 0});
    graph.input<float>("scale", {2}, {1, 10});
    node* node = graph.add("RMSNormalization", {"x", "scale"}, {"y"});
    set_node_float(node, "epsilon", 0.0f);
    set_node_int(node, "axis", 0);  // sqrt(50 / 4)
    const std::vector<float> root = {static_cast<float>(1 / std::sqrt(12.5)),
                                     static_cast<float>(7 / std::sqrt(12.5)) * 10, 0, 0};
    EXPECT_EQ(numbers_of(graph.evaluate()), root);
    set_node_int(node, "axis", 1);
    set_node_float(node, "epsilon", 1e-5f);  // rows of 0 stay 0
    EXPECT_EQ(numbers_of(graph.evaluate())[2], 0);
    set_node_int(node, "stash_type", 10);
    graph.expect_failure(TENGINE_EDTYPE, "invalid stash_type 10: expected float");
}

// The result has the type of the scale; the scaled values have the precision of the input.
TEST(RMSNorm, ScaleMayHaveAnotherType)
{
    ConstantGraph graph;
    graph.input<Half>("x", {1, 2}, {1, 2});
    graph.input<float>("scale", {2}, {1, 3});
    node* node = graph.add("RMSNormalization", {"x", "scale"}, {"y"});
    set_node_float(node, "epsilon", 0.0f);
    const auto rounded = [](double value) { return float(Half(static_cast<float>(value))); };
    const double root = std::sqrt(2.5);
    EXPECT_EQ(values_of<float>(graph.evaluate()),
              (std::vector<float>{rounded(1 / root), rounded(2 / root) * 3}));
}

void add_lists(ConstantGraph& graph, int channels)
{
    const std::vector<float> ones(size_t(channels), 1), zeroes(size_t(channels), 0);
    graph.input("scale", {channels}, ones);
    graph.input("bias", {channels}, zeroes);
    graph.input("mean", {channels}, zeroes);
    graph.input("variance", {channels}, ones);
}

TEST(BatchNorm, PositionsOfTheirOwnInOpset7)
{
    ConstantGraph graph;
    graph.opset = 7;
    graph.input<float>("x", {2, 1, 3}, {1, 2, 3, 4, 5, 6});
    graph.input<float>("scale", {1, 3}, {1, 10, 100});
    graph.input<float>("bias", {1, 3}, {0, 0, 1});
    graph.input<float>("mean", {1, 3}, {1, 1, 1});
    graph.input<float>("variance", {1, 3}, {1, 1, 1});
    node* node = graph.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"});
    set_node_int(node, "spatial", 0);
    set_node_float(node, "epsilon", 0);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{2, 1, 3}));
    EXPECT_EQ(numbers_of(y), (std::vector<float>{0, 10, 201, 3, 40, 501}));
}

// Up to opset 13 the number of outputs determines whether this is training.
TEST(BatchNorm, OldOutputsMeanTrainingWhenTheyAreRead)
{
    const auto normalize = [](const char* result) {
        ConstantGraph graph;
        graph.opset = 9;
        graph.input<float>("x", {2, 1}, {1, 3});
        add_lists(graph, 1);
        node* node =
            graph.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"},
                      {"output", "running_mean", "running_variance", "saved_mean", "saved_var"});
        set_node_float(node, "epsilon", 0);
        set_node_float(node, "momentum", 0.5f);
        return numbers_of(graph.evaluate(result));
    };
    EXPECT_EQ(normalize("output"), (std::vector<float>{1, 3}));
    EXPECT_EQ(normalize("running_mean"), (std::vector<float>{1}));
    EXPECT_EQ(normalize("running_variance"), (std::vector<float>{1}));
}

TEST(BatchNorm, ListsAndEmptyBatches)
{
    ConstantGraph list;
    list.input<float>("x", {3}, {1, 2, 3});
    add_lists(list, 1);
    set_node_float(list.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}),
                   "epsilon", 0);
    EXPECT_EQ(numbers_of(list.evaluate()), (std::vector<float>{1, 2, 3}));

    ConstantGraph empty;
    empty.input<float>("x", {0, 2, 5}, {});
    add_lists(empty, 2);
    empty.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"});
    EXPECT_EQ(dims_of(empty.evaluate()), (std::vector<int>{0, 2, 5}));
}

TEST(BatchNorm, RefusesWhatDoesNotFit)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2, 1}, {1, 2});
    add_lists(graph, 3);
    graph.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"});
    graph.expect_failure(TENGINE_EINVAL, "'scale' has rank 1 and 3 values, expected a list of 2");
}

TEST(BatchNorm, StatisticsNeedTrainingMode)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2, 1}, {1, 2});
    add_lists(graph, 2);
    graph.add("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"values", "y"});
    graph.expect_failure(TENGINE_EINVAL, "output 1 exists only in training_mode");
}

TEST(GroupNorm, RefusesGroupsThatDoNotDivide)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 3, 1}, {1, 2, 3});
    graph.input<float>("scale", {3}, {1, 1, 1});
    graph.input<float>("bias", {3}, {1, 1, 1});
    set_node_int(graph.add("GroupNormalization", {"x", "scale", "bias"}), "num_groups", 2);
    graph.expect_failure(TENGINE_EINVAL, "3 channels do not divide into 2 groups");
}

}  // namespace
}  // namespace tengine::test

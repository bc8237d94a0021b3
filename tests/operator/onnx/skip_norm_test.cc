// SPDX-License-Identifier: Apache-2.0
// SkipLayerNormalization, SkipSimplifiedLayerNormalization and SimplifiedLayerNormalization of ONNX
// Runtime: outputs, shapes that repeat, refusals.
#include <cmath>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;

constexpr const char* kSkip = "com.microsoft.SkipLayerNormalization";
constexpr const char* kSkipSimplified = "com.microsoft.SkipSimplifiedLayerNormalization";

template <class T>
class SkipNorm : public testing::Test
{
};
using FloatTypes = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(SkipNorm, FloatTypes);

// Values that every type represents: the sums are 1, 3 and 10, 20.
template <class T>
void add_inputs(ConstantGraph& graph)
{
    graph.input<T>("x", {1, 2, 2}, {0, 1, 8, 17});
    graph.input<T>("skip", {1, 2, 2}, {0, 2, 1, 3});
    graph.input<T>("gamma", {2}, {2, 4});
    graph.input<T>("beta", {2}, {0.5f, 1});
    graph.input<T>("bias", {2}, {1, 0});
}

TYPED_TEST(SkipNorm, HasFourOutputs)
{
    ConstantGraph graph;
    add_inputs<TypeParam>(graph);
    node* node =
        graph.add(kSkip, {"x", "skip", "gamma", "beta", "bias"}, {"y", "mean", "inverse", "sum"});
    set_node_float(node, "epsilon", 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-1.5f, 5, -1.5f, 5}));
    EXPECT_EQ(numbers_of(graph.evaluate("sum")), (Floats{1, 3, 10, 20}));
    const tensor* mean = graph.evaluate("mean");
    EXPECT_EQ(dims_of(mean), (std::vector<int>{1, 2, 1}));
    EXPECT_EQ(values_of<float>(mean), (Floats{2, 15}));
    EXPECT_EQ(values_of<float>(graph.evaluate("inverse")), (Floats{1, 0.2f}));
}

TYPED_TEST(SkipNorm, SimplifiedByTheMeanSquare)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {2, 2}, {0, 1, -5, 1});
    graph.input<TypeParam>("skip", {2, 2}, {0, 6, 0, 3});
    graph.input<TypeParam>("gamma", {2}, {5, 10});
    graph.input<TypeParam>("bias", {2}, {1, 0});
    node* node =
        graph.add(kSkipSimplified, {"x", "skip", "gamma", "bias"}, {"y", "mean", "inverse", "sum"});
    set_node_float(node, "epsilon", 0);
    // The sums are 1, 7 and -4, 4, their mean squares 25 and 16.
    const Floats y = numbers_of(graph.evaluate());
    EXPECT_EQ(y, (Floats{1, 14, -5, 10}));
    EXPECT_EQ(numbers_of(graph.evaluate("sum")), (Floats{1, 7, -4, 4}));
    EXPECT_EQ(values_of<float>(graph.evaluate("mean")), (Floats{0, 0}));
    EXPECT_EQ(values_of<float>(graph.evaluate("inverse")), (Floats{0.2f, 0.25f}));
}

TEST(SkipNorm, SkipRepeatsItselfAlongTheFirstDimensions)
{
    for (const std::vector<int>& shape : std::vector<std::vector<int>>{{1, 2, 2}, {2, 2}}) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 2, 2}, {0, 0, 0, 0, 1, 1, 1, 1});
        graph.input<float>("skip", shape, {1, 3, 10, 20});
        graph.input<float>("gamma", {2}, {1, 1});
        graph.add(kSkip, {"x", "skip", "gamma"}, {"y", "", "", "sum"});
        EXPECT_EQ(numbers_of(graph.evaluate("sum")), (Floats{1, 3, 10, 20, 2, 4, 11, 21}));
        EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-1, 1, -1, 1, -1, 1, -1, 1}));
    }
}

TEST(SkipNorm, AddsTheDefaultEpsilon)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {-1e-6f, 1e-6f});
    graph.input<float>("skip", {1, 2}, {0, 0});
    graph.input<float>("gamma", {2}, {1, 1});
    graph.add(kSkip, {"x", "skip", "gamma"});
    // The variance is 1e-12, equal to epsilon.
    EXPECT_NEAR(numbers_of(graph.evaluate())[1], std::sqrt(0.5f), 1e-6f);
}

TEST(SkipNorm, RefusesWhatDoesNotFit)
{
    const auto expect = [](const std::vector<int>& skip, const std::vector<int>& gamma,
                           const char* part) {
        const auto count = [](const std::vector<int>& dims) {
            int number = 1;
            for (const int dim : dims)
                number *= dim;
            return static_cast<size_t>(number);
        };
        ConstantGraph graph;
        graph.input("x", {2, 3, 4}, Floats(24, 1));
        graph.input("skip", skip, Floats(count(skip), 1));
        graph.input("gamma", gamma, Floats(count(gamma), 1));
        graph.add(kSkip, {"x", "skip", "gamma"});
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    for (const std::vector<int>& skip :
         std::vector<std::vector<int>>{{3, 3, 4}, {2, 1, 4}, {2, 3, 1}, {1, 2, 3, 4}, {}})
        expect(skip, {4}, "the input has rank 3 and 24");
    expect({3, 4}, {3}, "input 2 'gamma' has rank 1 and 3 values, expected a list of 4");
    expect({3, 4}, {1, 4}, "input 2 'gamma' has rank 2 and 4 values, expected a list of 4");
}

TEST(SkipNorm, RefusesIntegersAndScalars)
{
    ConstantGraph integers;
    integers.input<int32_t>("x", {1, 2}, {1, 2});
    integers.add(kSkip, {"x", "x", "x"});
    integers.expect_failure(TENGINE_EDTYPE, "input 0 'x' is int32");
    ConstantGraph scalar;
    scalar.input<float>("x", {}, {1});
    scalar.add(kSkip, {"x", "x", "x"});
    scalar.expect_failure(TENGINE_EINVAL, "input 'x' is a scalar");
}

// The operator under both names, with and without the second output.
TEST(SimplifiedLayerNorm, IsRMSNormalization)
{
    for (const char* op :
         {"SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization"})
        for (const bool has_inverse : {false, true}) {
            ConstantGraph graph;
            graph.input<float>("x", {2, 2}, {1, 7, 6, 8});
            graph.input<float>("scale", {2}, {1, 10});
            node* node = graph.add(op, {"x", "scale"},
                                   has_inverse ? std::vector<std::string>{"y", "inverse"}
                                               : std::vector<std::string>{"y"});
            set_node_float(node, "epsilon", 0);
            const double root = std::sqrt(50.0);
            const Floats y = numbers_of(graph.evaluate());
            ASSERT_EQ(y.size(), 4u);
            EXPECT_NEAR(y[0], 0.2, 1e-6);
            EXPECT_NEAR(y[1], 14, 1e-5);
            EXPECT_NEAR(y[3], 80 / root, 1e-5);
            if (!has_inverse) continue;
            const tensor* inverse = graph.evaluate("inverse");
            EXPECT_EQ(dims_of(inverse), (std::vector<int>{2, 1}));
            EXPECT_NEAR(numbers_of(inverse)[0], 0.2, 1e-7);
            EXPECT_NEAR(numbers_of(inverse)[1], 1 / root, 1e-7);
        }
}

}  // namespace
}  // namespace tengine::test

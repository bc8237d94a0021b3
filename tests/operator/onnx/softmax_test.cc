// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax: axes, old opsets, types, sizes around the block lengths.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;

Floats make_values(int num)
{
    Floats values;
    for (int i = 0; i < num; ++i)
        values.push_back(std::sin(static_cast<float>(i)) * 5);
    return values;
}

// Computes in double, directly from the definition, on [outer, n, inner].
Floats expected_softmax(const Floats& x, int outer, int n, int inner, bool logarithm)
{
    Floats result(x.size());
    for (int o = 0; o < outer; ++o) {
        for (int i = 0; i < inner; ++i) {
            const auto at = [&](int k) { return static_cast<size_t>((o * n + k) * inner + i); };
            double sum = 0;
            for (int k = 0; k < n; ++k)
                sum += std::exp(static_cast<double>(x[at(k)]));
            for (int k = 0; k < n; ++k) {
                const double value = std::exp(static_cast<double>(x[at(k)])) / sum;
                result[at(k)] = static_cast<float>(logarithm ? std::log(value) : value);
            }
        }
    }
    return result;
}

void expect_near(const Floats& values, const Floats& expected, float relative)
{
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], relative * (std::fabs(expected[i]) + 1e-6f)) << i;
}

struct Case
{
    int outer, n, inner;
};

class SoftmaxSizes : public testing::TestWithParam<Case>
{
};

TEST_P(SoftmaxSizes, MatchesTheDefinition)
{
    const auto [outer, n, inner] = GetParam();
    const Floats values = make_values(outer * n * inner);
    for (bool logarithm : {false, true}) {
        ConstantGraph graph;
        graph.input("x", {outer, n, inner}, values);
        node* made = graph.add(logarithm ? "LogSoftmax" : "Softmax", {"x"});
        ASSERT_EQ(set_node_int(made, "axis", -2), 0);
        expect_near(numbers_of(graph.evaluate()),
                    expected_softmax(values, outer, n, inner, logarithm), 2e-5f);
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SoftmaxSizes,
                         testing::Values(Case{1, 1, 1}, Case{3, 7, 1}, Case{2, 16, 1},
                                         Case{2, 17, 1}, Case{1, 1000, 1}, Case{2, 3, 64},
                                         Case{1, 5, 65}, Case{2, 4, 130}, Case{4, 13, 2}));

template <class T>
class SoftmaxType : public testing::Test
{
};
using Types = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(SoftmaxType, Types);

TYPED_TEST(SoftmaxType, EqualScores)
{
    ConstantGraph graph;
    graph.input<TypeParam>("x", {2, 4}, std::vector<TypeParam>(8, TypeParam(3.0f)));
    graph.add("Softmax", {"x"});
    EXPECT_EQ(numbers_of(graph.evaluate()), Floats(8, 0.25f));

    ConstantGraph hard;
    hard.input<TypeParam>("x", {1, 4}, {1, 3, 3, 2});
    hard.add("Hardmax", {"x"});
    EXPECT_EQ(numbers_of(hard.evaluate()), (Floats{0, 1, 0, 0}));
}

TEST(Softmax, LargeScoresDoNotOverflow)
{
    const float infinity = std::numeric_limits<float>::infinity();
    ConstantGraph graph;
    graph.input<float>("x", {3}, {3e38f, -3e38f, -infinity});
    graph.add("Softmax", {"x"});
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{1, 0, 0}));
}

TEST(Softmax, EmptyTensors)
{
    for (const std::vector<int>& dims : {std::vector<int>{2, 0}, std::vector<int>{0, 5}}) {
        for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
            ConstantGraph graph;
            graph.input<float>("x", dims, {});
            graph.add(op, {"x"});
            EXPECT_EQ(dims_of(graph.evaluate()), dims) << op;
        }
    }
}

TEST(Softmax, AxisMustExist)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, Floats(4));
    node* softmax = graph.add("Softmax", {"x"});
    ASSERT_EQ(set_node_int(softmax, "axis", 2), 0);
    graph.expect_failure(TENGINE_ERANGE, "axis 2");
}

// ---- below opset 13 ----

TEST(LegacySoftmax, NormalisesOverAllDimensionsFromTheAxisOn)
{
    const Floats values = make_values(24);
    ConstantGraph graph;
    graph.opset = 11;
    graph.input("x", {2, 3, 4}, values);
    graph.add("Softmax", {"x"});
    const tensor* result = graph.evaluate();
    EXPECT_EQ(dims_of(result), (std::vector<int>{2, 3, 4}));
    expect_near(numbers_of(result), expected_softmax(values, 2, 12, 1, false), 2e-5f);
}

TEST(LegacySoftmax, AlsoBehindAnotherNode)
{
    const Floats values = make_values(24);
    ConstantGraph graph;
    graph.opset = 9;
    graph.input("x", {2, 3, 4}, values);
    graph.add("Neg", {"x"}, {"negative"});
    graph.add("Neg", {"negative"}, {"hidden"});
    graph.add("LogSoftmax", {"hidden"}, {"scores"});
    graph.add("Neg", {"scores"});
    Floats expected = expected_softmax(values, 2, 12, 1, true);
    for (float& value : expected)
        value = -value;
    expect_near(numbers_of(graph.evaluate()), expected, 2e-5f);
}

TEST(LegacySoftmax, OfAMatrixIsOneNode)
{
    IrBuilder builder;
    builder.input("x", {2, 5});
    builder.add("Softmax", {"x"}, {"y"}, 12);
    builder.outputs({"y"});
    graph* made = make_execution_graph(builder.get());
    ASSERT_NE(made, nullptr) << tengine_error_message();
    ASSERT_EQ(made->node_num, 1);
    EXPECT_EQ(get_ir_node_int(made->node_list[0], "axis", 0), -1);
    destroy_ir_graph(made);
}

}  // namespace
}  // namespace tengine::test

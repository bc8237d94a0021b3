// SPDX-License-Identifier: Apache-2.0
// Reductions: axes as attribute and input, types, empty tensors, special values.
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;
using Dims = std::vector<int>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Reduction
{
    Dims dims;
    Floats values;
};

Reduction reduce(const char* op, const Dims& dims, const Floats& values,
                 const std::vector<int64_t>& axes, bool keep = false)
{
    ConstantGraph graph;
    graph.input("x", dims, values);
    graph.builder().ints("axes", axes);
    node* made = graph.add(op, {"x", "axes"});
    EXPECT_EQ(set_node_int(made, "keepdims", keep), 0);
    const tensor* result = graph.evaluate();
    return {dims_of(result), numbers_of(result)};
}

TEST(Reduce, AnySetOfAxes)
{
    // [2, 3, 2]: 0 to 11.
    Floats values;
    for (int i = 0; i < 12; ++i)
        values.push_back(static_cast<float>(i));
    const auto sum = [&](std::vector<int64_t> axes) {
        return reduce("ReduceSum", {2, 3, 2}, values, axes).values;
    };
    EXPECT_EQ(sum({0}), (Floats{6, 8, 10, 12, 14, 16}));
    EXPECT_EQ(sum({1}), (Floats{6, 9, 24, 27}));
    EXPECT_EQ(sum({-1}), (Floats{1, 5, 9, 13, 17, 21}));
    EXPECT_EQ(sum({0, 2}), (Floats{14, 22, 30}));
    EXPECT_EQ(sum({2, 1}), (Floats{15, 51}));
    EXPECT_EQ(sum({0, 1, 2}), Floats{66});
    EXPECT_EQ(sum({1, 1, -2}), (Floats{6, 9, 24, 27}));
}

TEST(Reduce, Operators)
{
    const auto apply = [](const char* op) {
        const Reduction result = reduce(op, {4}, {1, 2, -3, 4}, {0}, true);
        EXPECT_EQ(result.dims, Dims{1});
        return result.values.at(0);
    };
    EXPECT_EQ(apply("ReduceSum"), 4);
    EXPECT_EQ(apply("ReduceMean"), 1);
    EXPECT_EQ(apply("ReduceProd"), -24);
    EXPECT_EQ(apply("ReduceMax"), 4);
    EXPECT_EQ(apply("ReduceMin"), -3);
    EXPECT_EQ(apply("ReduceL1"), 10);
    EXPECT_EQ(apply("ReduceSumSquare"), 30);
    EXPECT_FLOAT_EQ(apply("ReduceL2"), std::sqrt(30.0f));
    EXPECT_FLOAT_EQ(apply("ReduceLogSum"), std::log(4.0f));
    EXPECT_FLOAT_EQ(apply("ReduceLogSumExp"), 4.1706152f);
}

TEST(Reduce, OfNothing)
{
    const auto apply = [](const char* op) {
        const Reduction result = reduce(op, {2, 0}, {}, {1});
        EXPECT_EQ(result.dims, Dims{2});
        return result.values.at(0);
    };
    EXPECT_EQ(apply("ReduceSum"), 0);
    EXPECT_EQ(apply("ReduceProd"), 1);
    EXPECT_EQ(apply("ReduceMax"), -kInfinity);
    EXPECT_EQ(apply("ReduceMin"), kInfinity);
    EXPECT_EQ(apply("ReduceLogSumExp"), -kInfinity);
    EXPECT_TRUE(std::isnan(apply("ReduceMean")));
    EXPECT_EQ(reduce("ReduceSum", {0, 3}, {}, {1}).dims, Dims{0});
}

TEST(Reduce, SpecialValues)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(reduce("ReduceMax", {3}, {1, nan, 2}, {0}).values.at(0)));
    EXPECT_TRUE(std::isnan(reduce("ReduceMin", {3}, {nan, 1, 2}, {0}).values.at(0)));
    const auto log_sum_exp = [](Floats values) {
        return reduce("ReduceLogSumExp", {static_cast<int>(values.size())}, values, {0}).values[0];
    };
    EXPECT_FLOAT_EQ(log_sum_exp({1000, 1000}), 1000 + std::log(2.0f));
    EXPECT_FLOAT_EQ(log_sum_exp({-1000, 1000}), 1000);
    EXPECT_EQ(log_sum_exp({-kInfinity, -kInfinity}), -kInfinity);
    EXPECT_EQ(log_sum_exp({1, kInfinity, kInfinity}), kInfinity);
}

template <class T>
class ReduceType : public testing::Test
{
};
using Numbers = testing::Types<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(ReduceType, Numbers);

TYPED_TEST(ReduceType, EveryOperator)
{
    const auto apply = [](const char* op) {
        ConstantGraph graph;
        graph.input<TypeParam>("x", {2}, {3, 4});
        graph.add(op, {"x"});
        const auto values = values_of<TypeParam>(graph.evaluate());
        return values.empty() ? -1 : static_cast<int>(values[0]);
    };
    EXPECT_EQ(apply("ReduceSum"), 7);
    EXPECT_EQ(apply("ReduceMean"), 3);
    EXPECT_EQ(apply("ReduceProd"), 12);
    EXPECT_EQ(apply("ReduceMax"), 4);
    EXPECT_EQ(apply("ReduceMin"), 3);
    EXPECT_EQ(apply("ReduceL1"), 7);
    EXPECT_EQ(apply("ReduceL2"), 5);
    EXPECT_EQ(apply("ReduceSumSquare"), 25);
    EXPECT_EQ(apply("ReduceLogSum"), 1);
    EXPECT_EQ(apply("ReduceLogSumExp"), 4);
}

TEST(Reduce, LargeIntegersAreExact)
{
    ConstantGraph graph;
    graph.input<int64_t>("x", {2}, {INT64_MAX - 1, 1});
    graph.add("ReduceSum", {"x"});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), std::vector<int64_t>{INT64_MAX});
    ConstantGraph most;
    most.input<uint64_t>("x", {2}, {UINT64_MAX, 1});
    most.add("ReduceMax", {"x"});
    EXPECT_EQ(values_of<uint64_t>(most.evaluate()), std::vector<uint64_t>{UINT64_MAX});
}

TEST(Reduce, ExtremesOfBytesAndBools)
{
    ConstantGraph graph;
    graph.input<int8_t>("x", {3}, {-7, -128, -1});
    graph.add("ReduceMax", {"x"});
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), std::vector<int8_t>{-1});
    ConstantGraph logic;
    logic.bools("x", {2, 2}, {0, 1, 1, 1});
    logic.builder().ints("axes", {1});
    logic.add("ReduceMin", {"x", "axes"});
    EXPECT_EQ(numbers_of(logic.evaluate()), (Floats{0, 1}));
}

TEST(Reduce, WithoutAxes)
{
    for (bool noop : {false, true}) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 2}, {1, 2, 3, 4});
        node* made = graph.add("ReduceSum", {"x"});
        ASSERT_EQ(set_node_int(made, "noop_with_empty_axes", noop), 0);
        const tensor* result = graph.evaluate();
        EXPECT_EQ(dims_of(result), noop ? (Dims{2, 2}) : (Dims{1, 1}));
        EXPECT_EQ(numbers_of(result), noop ? (Floats{1, 2, 3, 4}) : Floats{10});
    }
}

template <class T>
class ReduceNothing : public testing::Test
{
};
using ReducedTypes =
    testing::Types<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(ReduceNothing, ReducedTypes);

// Without axes, or with an empty list, every element is reduced alone; x follows from the
// definition of each operator for one number.
TYPED_TEST(ReduceNothing, WhatIsTakenOfEachElementStays)
{
    const bool has_sign = std::is_signed_v<TypeParam> || cpu::is_float<TypeParam>;
    const double x = has_sign ? -3 : 3, one = 1;
    const std::tuple<const char*, double, double> operators[] = {
        {"ReduceL1", 3, 1},        {"ReduceL2", 3, 1},  {"ReduceSumSquare", 9, 1},
        {"ReduceLogSumExp", x, 1}, {"ReduceSum", x, 1}, {"ReduceMean", x, 1},
        {"ReduceProd", x, 1},      {"ReduceMax", x, 1}, {"ReduceMin", x, 1}};
    for (const auto& [op, of_x, of_one] : operators)
        for (const bool is_listed : {false, true}) {
            ConstantGraph graph;
            graph.input<TypeParam>("x", {1, 2},
                                   {static_cast<TypeParam>(x), static_cast<TypeParam>(one)});
            graph.builder().ints("axes", {});
            node* made = is_listed ? graph.add(op, {"x", "axes"}) : graph.add(op, {"x"});
            ASSERT_EQ(set_node_int(made, "noop_with_empty_axes", 1), 0);
            const tensor* y = graph.evaluate();
            EXPECT_EQ(dims_of(y), (Dims{1, 2})) << op;
            const auto values = values_of<TypeParam>(y);
            ASSERT_EQ(values.size(), 2u) << op;
            EXPECT_EQ(static_cast<double>(values[0]), of_x) << op << is_listed;
            EXPECT_EQ(static_cast<double>(values[1]), of_one) << op << is_listed;
        }
}

TEST(Reduce, NothingOfLogarithms)
{
    ConstantGraph graph;
    graph.input<float>("x", {3}, {1, 0, 7.5f});
    ASSERT_EQ(set_node_int(graph.add("ReduceLogSum", {"x"}), "noop_with_empty_axes", 1), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{0, -kInfinity, std::log(7.5f)}));
}

TEST(Reduce, AxesWereAnAttribute)
{
    for (const auto& [op, opset] : {std::pair{"ReduceSum", 12}, std::pair{"ReduceMax", 17}}) {
        ConstantGraph graph;
        graph.opset = opset;
        graph.input<float>("x", {2, 2}, {1, 0, 0, 4});
        node* made = graph.add(op, {"x"});
        const int64_t axis = -1;
        ASSERT_EQ(set_node_ints(made, "axes", &axis, 1), 0);
        ASSERT_EQ(set_node_int(made, "keepdims", 0), 0);
        EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{1, 4})) << op;
    }
}

TEST(Reduce, RefusesBadAxes)
{
    for (int64_t axis : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 2}, Floats(4));
        graph.builder().ints("axes", {axis});
        graph.add("ReduceSum", {"x", "axes"});
        graph.expect_failure(TENGINE_ERANGE, "axis");
    }
    ConstantGraph many;
    many.input<float>("x", {2, 2}, Floats(4));
    many.builder().ints("axes", std::vector<int64_t>(9, 0));
    many.add("ReduceSum", {"x", "axes"});
    many.expect_failure(TENGINE_ERANGE, "9 values");
}

TEST(ArgExtreme, TiesAndTypes)
{
    const auto apply = [](const char* op, bool last) {
        ConstantGraph graph;
        graph.input<int8_t>("x", {2, 4}, {1, 5, 5, -1, 0, 0, 0, 0});
        node* made = graph.add(op, {"x"});
        EXPECT_EQ(set_node_int(made, "axis", 1), 0);
        EXPECT_EQ(set_node_int(made, "keepdims", 0), 0);
        EXPECT_EQ(set_node_int(made, "select_last_index", last), 0);
        return values_of<int64_t>(graph.evaluate());
    };
    using Indices = std::vector<int64_t>;
    EXPECT_EQ(apply("ArgMax", false), (Indices{1, 0}));
    EXPECT_EQ(apply("ArgMax", true), (Indices{2, 3}));
    EXPECT_EQ(apply("ArgMin", false), (Indices{3, 0}));
    EXPECT_EQ(apply("ArgMin", true), (Indices{3, 3}));
}

TEST(ArgExtreme, NothingToChooseFrom)
{
    ConstantGraph graph;
    graph.input<float>("x", {0, 2}, {});
    graph.add("ArgMax", {"x"});
    graph.expect_failure(TENGINE_EINVAL, "no elements");
}

TEST(MeanVariance, AnyAxes)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2}, {1, 3, 10, 30});
    node* made = graph.add("MeanVarianceNormalization", {"x"});
    const int64_t axis = -1;
    ASSERT_EQ(set_node_ints(made, "axes", &axis, 1), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{-1, 1, -1, 1}));

    ConstantGraph flat;
    flat.input<float>("x", {2, 2}, Floats(4));
    flat.add("MeanVarianceNormalization", {"x"});
    flat.expect_failure(TENGINE_EINVAL, "default axes");
}

}  // namespace
}  // namespace tengine::test

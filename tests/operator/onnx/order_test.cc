// SPDX-License-Identifier: Apache-2.0
// TopK, CumSum and CumProd: ties, NaN, directions, refusals.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Floats = std::vector<float>;
using Indices = std::vector<int64_t>;

TEST(TopK, TiesGoToTheLowerIndex)
{
    for (bool largest : {true, false}) {
        ConstantGraph graph;
        graph.input<int32_t>("x", {2, 4}, {3, 7, 7, 1, 5, 5, 5, 5});
        graph.builder().ints("k", {3});
        node* made = graph.add("TopK", {"x", "k"}, {"values", "y"});
        ASSERT_EQ(set_node_int(made, "largest", largest), 0);
        EXPECT_EQ(values_of<int64_t>(graph.evaluate()),
                  largest ? (Indices{1, 2, 0, 0, 1, 2}) : (Indices{3, 0, 1, 0, 1, 2}));
    }
}

TEST(TopK, AlongAnOuterAxis)
{
    ConstantGraph graph;
    graph.input<Half>("x", {3, 2}, {1, 6, 3, 4, 2, 5});
    graph.builder().ints("k", {2});
    node* made = graph.add("TopK", {"x", "k"}, {"y", "indices"});
    ASSERT_EQ(set_node_int(made, "axis", 0), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{3, 6, 2, 5}));
}

TEST(TopK, NanIsTheLargest)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    ConstantGraph graph;
    graph.input<float>("x", {4}, {1, nan, 3, nan});
    graph.builder().ints("k", {4});
    graph.add("TopK", {"x", "k"}, {"values", "y"});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Indices{1, 3, 2, 0}));
}

TEST(TopK, KWasAnAttribute)
{
    ConstantGraph graph;
    graph.opset = 9;
    graph.input<float>("x", {3}, {1, 3, 2});
    node* made = graph.add("TopK", {"x"}, {"y", "indices"});
    ASSERT_EQ(set_node_int(made, "k", 2), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{3, 2}));
}

TEST(TopK, NoneAndTooMany)
{
    const auto make = [](ConstantGraph& graph, int64_t k) {
        graph.input<float>("x", {2, 3}, Floats(6));
        graph.builder().ints("k", {k});
        graph.add("TopK", {"x", "k"}, {"y", "indices"});
    };
    ConstantGraph none;
    make(none, 0);
    EXPECT_EQ(dims_of(none.evaluate()), (std::vector<int>{2, 0}));
    for (int64_t k : {int64_t{4}, int64_t{-1}, INT64_MAX}) {
        ConstantGraph graph;
        make(graph, k);
        graph.expect_failure(TENGINE_ERANGE, "K is");
    }
}

template <class T>
class CumSum : public testing::Test
{
};
using Numbers = testing::Types<float, Half, BFloat16, double, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(CumSum, Numbers);

TYPED_TEST(CumSum, DirectionsAndAxes)
{
    const auto apply = [](int axis, bool exclusive, bool reverse, const char* op = "CumSum") {
        ConstantGraph graph;
        graph.input<TypeParam>("x", {2, 3}, {1, 2, 3, 4, 5, 6});
        graph.input<int32_t>("axis", {}, {axis});
        node* made = graph.add(op, {"x", "axis"});
        EXPECT_EQ(set_node_int(made, "exclusive", exclusive), 0);
        EXPECT_EQ(set_node_int(made, "reverse", reverse), 0);
        std::vector<int> result;
        for (TypeParam value : values_of<TypeParam>(graph.evaluate()))
            result.push_back(static_cast<int>(value));
        return result;
    };
    using Ints = std::vector<int>;
    EXPECT_EQ(apply(1, false, false), (Ints{1, 3, 6, 4, 9, 15}));
    EXPECT_EQ(apply(-1, true, false), (Ints{0, 1, 3, 0, 4, 9}));
    EXPECT_EQ(apply(1, false, true), (Ints{6, 5, 3, 15, 11, 6}));
    EXPECT_EQ(apply(-1, true, true), (Ints{5, 3, 0, 11, 6, 0}));
    EXPECT_EQ(apply(0, false, false), (Ints{1, 2, 3, 5, 7, 9}));
    EXPECT_EQ(apply(1, false, false, "CumProd"), (Ints{1, 2, 6, 4, 20, 120}));
    EXPECT_EQ(apply(1, true, true, "CumProd"), (Ints{6, 3, 1, 30, 6, 1}));
}

TEST(CumSumOperator, EmptyAndBadAxis)
{
    ConstantGraph empty;
    empty.input<float>("x", {2, 0}, {});
    empty.input<int64_t>("axis", {}, {1});
    empty.add("CumSum", {"x", "axis"});
    EXPECT_EQ(dims_of(empty.evaluate()), (std::vector<int>{2, 0}));

    ConstantGraph range;
    range.input<float>("x", {2}, Floats(2));
    range.input<int64_t>("axis", {}, {1});
    range.add("CumSum", {"x", "axis"});
    range.expect_failure(TENGINE_ERANGE, "axis 1");

    ConstantGraph list;
    list.input<float>("x", {2}, Floats(2));
    list.input<int64_t>("axis", {2}, {0, 0});
    list.add("CumSum", {"x", "axis"});
    list.expect_failure(TENGINE_EINVAL, "scalar");
}

}  // namespace
}  // namespace tengine::test

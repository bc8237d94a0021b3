// SPDX-License-Identifier: Apache-2.0
// Operators whose output's shape depends on values: types, empty results, NaN, errors.
#include <cstdint>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::Half;
using Dims = std::vector<int>;
using Ints = std::vector<int64_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Compress, FlatAndAlongAnAxis)
{
    ConstantGraph graph;
    graph.input<int16_t>("x", {2, 2}, {1, 2, 3, 4});
    graph.bools("condition", {2}, {0, 1});
    node* compress = graph.add("Compress", {"x", "condition"});
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()), (std::vector<int16_t>{2}));
    set_node_int(compress, "axis", -1);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{2, 1}));
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()), (std::vector<int16_t>{2, 4}));
}

TEST(Compress, RejectsConditionLongerThanTheAxis)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {1, 2});
    graph.bools("condition", {3}, {0, 1, 1});
    set_node_int(graph.add("Compress", {"x", "condition"}), "axis", 0);
    graph.expect_failure(TENGINE_EINVAL, "at most 2 bool");
}

TEST(NonZero, CountsNanButNotNegativeZero)
{
    ConstantGraph graph;
    graph.input<Half>("x", {2, 2}, {-0.0f, kNan, 3.0f, 0.0f});
    graph.add("NonZero", {"x"});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (Ints{0, 1, 1, 0}));
}

TEST(NonZero, NothingFound)
{
    ConstantGraph graph;
    graph.bools("x", {3}, {0, 0, 0});
    graph.add("NonZero", {"x"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{1, 0}));
}

TEST(Unique, NanIsOneValue)
{
    ConstantGraph graph;
    graph.input<float>("x", {4}, {kNan, 2, kNan, 1});
    graph.add("Unique", {"x"}, {"y", "indices", "inverse", "counts"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{3}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("indices")), (Ints{3, 1, 0}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("inverse")), (Ints{2, 1, 2, 0}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("counts")), (Ints{1, 1, 2}));
}

TEST(Unique, UnsortedColumns)
{
    ConstantGraph graph;
    graph.input<uint8_t>("x", {2, 3}, {9, 1, 9, 9, 1, 9});
    node* unique = graph.add("Unique", {"x"}, {"y", "", "inverse"});
    set_node_int(unique, "axis", 1);
    set_node_int(unique, "sorted", 0);
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{9, 1, 9, 1}));
    EXPECT_EQ(values_of<int64_t>(graph.evaluate("inverse")), (Ints{0, 1, 0}));
}

TEST(Unique, EmptyInput)
{
    ConstantGraph graph;
    graph.input<float>("x", {0}, {});
    graph.add("Unique", {"x"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{0}));
}

// Two boxes that overlap by a third, with these scores.
struct SuppressionCase
{
    ConstantGraph graph;
    SuppressionCase(const std::vector<float>& scores, float overlap)
    {
        graph.input<float>("boxes", {1, 2, 4}, {0, 0, 2, 1, 1, 0, 3, 1});
        graph.input<float>("scores", {1, 1, 2}, scores);
        graph.builder().ints("most", {10});
        graph.input<float>("overlap", {1}, {overlap});
        graph.add("NonMaxSuppression", {"boxes", "scores", "most", "overlap"});
    }
    Ints values() { return values_of<int64_t>(graph.evaluate()); }
};

TEST(NonMaxSuppression, OverlapAndTies)
{
    EXPECT_EQ(SuppressionCase({0.5f, 0.5f}, 0.4f).values(), (Ints{0, 0, 0, 0, 0, 1}));
    EXPECT_EQ(SuppressionCase({0.5f, 0.7f}, 0.3f).values(), (Ints{0, 0, 1}));
    EXPECT_EQ(SuppressionCase({kNan, -1}, 0.3f).values(), (Ints{0, 0, 1}));
}

// More boxes than are checked together: 40 apart from each other, and the same again.
TEST(NonMaxSuppression, ManyBoxes)
{
    constexpr int kCount = 40;
    std::vector<float> boxes, scores(4 * kCount);
    Ints expected;
    for (int i = 0; i < 2 * kCount; ++i) {
        const auto left = static_cast<float>(2 * (i % kCount));
        boxes.insert(boxes.end(), {0, left, 1, left + 1});
        scores[i] = static_cast<float>(-i);              // the first of two equal boxes is better
        scores[2 * kCount + i] = static_cast<float>(i);  // the second
    }
    for (int i = 0; i < kCount; ++i)
        expected.insert(expected.end(), {0, 0, i});
    for (int i = 2 * kCount - 1; i >= kCount; --i)
        expected.insert(expected.end(), {0, 1, i});
    ConstantGraph graph;
    graph.input("boxes", {1, 2 * kCount, 4}, boxes);
    graph.input("scores", {1, 2, 2 * kCount}, scores);
    graph.input<int64_t>("most", {1}, {2 * kCount});
    graph.input<float>("overlap", {1}, {0.5f});
    graph.add("NonMaxSuppression", {"boxes", "scores", "most", "overlap"});
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), expected);
}

TEST(NonMaxSuppression, WithoutLimitNothingIsTaken)
{
    ConstantGraph graph;
    graph.input<float>("boxes", {1, 1, 4}, {0, 0, 1, 1});
    graph.input<float>("scores", {1, 1, 1}, {1});
    graph.add("NonMaxSuppression", {"boxes", "scores"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{0, 3}));
}

TEST(NonMaxSuppression, RejectsScoresThatDoNotFit)
{
    ConstantGraph graph;
    graph.input<float>("boxes", {1, 1, 4}, {0, 0, 1, 1});
    graph.input<float>("scores", {1, 1, 2}, {1, 2});
    graph.add("NonMaxSuppression", {"boxes", "scores"});
    graph.expect_failure(TENGINE_EINVAL, "[1, classes, 1]");
}

TEST(NonMaxSuppression, RunsOnDataThatComesLater)
{
    IrBuilder builder;
    builder.input("boxes", {1, 3, 4});
    builder.input("scores", {1, 1, 3});
    builder.add("NonMaxSuppression", {"boxes", "scores"}, {"y"});
    builder.outputs({"y"});
    graph* execution = make_execution_graph(builder.get());
    ASSERT_NE(execution, nullptr) << tengine_error_message();
    EXPECT_EQ(find_node(execution, "y")->dynamic_shape, 1);
    EXPECT_EQ(find_tensor(execution, "y")->data_type, TENGINE_DT_INT64);
    destroy_ir_graph(execution);
}

TEST(OneHot, FloatIndicesAndOutOfRange)
{
    ConstantGraph graph;
    graph.input<float>("indices", {4}, {1, -1, 3, kNan});
    graph.input<uint8_t>("depth", {}, {3});
    graph.input<int8_t>("values", {2}, {0, 7});
    set_node_int(graph.add("OneHot", {"indices", "depth", "values"}), "axis", 0);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{3, 4}));
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()),
              (std::vector<int8_t>{0, 0, 0, 0, 7, 0, 0, 0, 0, 7, 0, 0}));
}

TEST(OneHot, RejectsHostileDepth)
{
    for (const float depth : {-1.0f, 1e20f, kNan}) {
        ConstantGraph graph;
        graph.builder().ints("indices", {0});
        graph.input<float>("depth", {}, {depth});
        graph.input<float>("values", {2}, {0, 1});
        graph.add("OneHot", {"indices", "depth", "values"});
        graph.expect_failure(TENGINE_ERANGE, "depth is");
    }
}

}  // namespace
}  // namespace tengine::test

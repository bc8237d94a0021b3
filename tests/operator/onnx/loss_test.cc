// SPDX-License-Identifier: Apache-2.0
// Loss functions: targets come from users and are checked; the ONNX suite checks values.
#include <cmath>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Floats = std::vector<float>;

void fill(ConstantGraph& graph, const std::vector<int64_t>& targets)
{
    graph.input<float>("scores", {2, 3}, {-1, -2, -3, -4, -5, -6});
    graph.input("targets", {static_cast<int>(targets.size())}, targets);
}

TEST(Loss, IgnoredTargetsMayBeOutOfRange)
{
    ConstantGraph graph;
    fill(graph, {2, -100});
    node* made = graph.add("NegativeLogLikelihoodLoss", {"scores", "targets"});
    ASSERT_EQ(set_node_int(made, "ignore_index", -100), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), Floats{3});
}

TEST(Loss, OtherTargetsMayNot)
{
    for (int64_t target : {int64_t{3}, int64_t{-1}, INT64_MAX}) {
        ConstantGraph graph;
        fill(graph, {0, target});
        graph.add("SoftmaxCrossEntropyLoss", {"scores", "targets"});
        graph.expect_failure(TENGINE_ERANGE, "expected one of 3 classes, from 0");
    }
}

TEST(Loss, WithoutClassesAllTargetsAreIgnored)
{
    for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
        const bool has_probabilities = *op == 'S';
        const auto add = [&](ConstantGraph& graph, int64_t target) {
            graph.input<float>("scores", {2, 0}, {});
            graph.input<int64_t>("targets", {2}, {-100, target});
            node* made = graph.add(op, {"scores", "targets"},
                                   has_probabilities ? std::vector<std::string>{"y", "log_prob"}
                                                     : std::vector<std::string>{"y"});
            ASSERT_EQ(set_node_int(made, "ignore_index", -100), 0);
            ASSERT_EQ(set_node_text(made, "reduction", "sum", 3), 0);
        };
        ConstantGraph none;
        add(none, 0);
        none.expect_failure(TENGINE_ERANGE, "target 0 is out of range: expected one of 0 classes");
        ConstantGraph ignored;
        add(ignored, -100);
        EXPECT_EQ(numbers_of(ignored.evaluate()), Floats{0});
    }
}

TEST(Loss, CrossEntropyOfLargeScores)
{
    ConstantGraph graph;
    graph.input<float>("scores", {1, 2}, {1000, 1000});
    graph.input<int32_t>("targets", {1}, {0});
    graph.add("SoftmaxCrossEntropyLoss", {"scores", "targets"});
    EXPECT_FLOAT_EQ(numbers_of(graph.evaluate()).at(0), std::log(2.0f));
}

TEST(Loss, RefusesShapesThatDoNotBelongTogether)
{
    ConstantGraph dims;
    fill(dims, {0, 0, 0});
    dims.add("NegativeLogLikelihoodLoss", {"scores", "targets"});
    dims.expect_failure(TENGINE_EINVAL, "dimension 0 of the targets");

    ConstantGraph weights;
    fill(weights, {0, 0});
    weights.input<float>("weights", {2}, {1, 1});
    weights.add("NegativeLogLikelihoodLoss", {"scores", "targets", "weights"});
    weights.expect_failure(TENGINE_EINVAL, "[3]");

    ConstantGraph rank;
    rank.input<float>("scores", {3}, {1, 2, 3});
    rank.input<int64_t>("targets", {1}, {0});
    rank.add("NegativeLogLikelihoodLoss", {"scores", "targets"});
    rank.expect_failure(TENGINE_EINVAL, "scores have 1 dimensions");
}

}  // namespace
}  // namespace tengine::test

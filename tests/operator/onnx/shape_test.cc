// SPDX-License-Identifier: Apache-2.0
// Reshape and related operators: edges of shape inference, parameters of damaged files, and old
// opsets. Plain cases are in the ONNX suite.
#include <cstdint>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::Half;
using Dims = std::vector<int>;

// Reshape of 2 x 3 x 4 elements to `shape`.
struct ReshapeCase
{
    ConstantGraph graph;
    explicit ReshapeCase(const std::vector<int64_t>& shape)
    {
        graph.input<float>("x", {2, 3, 4}, std::vector<float>(24));
        graph.builder().ints("shape", shape);
        graph.add("Reshape", {"x", "shape"});
    }
};

TEST(Reshape, CopiesAndInfersDimensions)
{
    EXPECT_EQ(dims_of(ReshapeCase({0, -1}).graph.evaluate()), (Dims{2, 12}));
    EXPECT_EQ(dims_of(ReshapeCase({-1}).graph.evaluate()), (Dims{24}));
    EXPECT_EQ(dims_of(ReshapeCase({4, 0, 2, 1}).graph.evaluate()), (Dims{4, 3, 2, 1}));
}

TEST(Reshape, RejectsHostileShapes)
{
    ReshapeCase({-5, 24}).graph.expect_failure(TENGINE_EINVAL, "shape[0] is -5");
    ReshapeCase({-1, -1}).graph.expect_failure(TENGINE_EINVAL, "shape[0] and shape[1] are both -1");
    ReshapeCase({7, -1}).graph.expect_failure(TENGINE_EINVAL, "24 elements do not fit");
    ReshapeCase({5, 5}).graph.expect_failure(TENGINE_EINVAL, "shape of 25 elements");
    ReshapeCase({24, 1, 1, 0}).graph.expect_failure(TENGINE_EINVAL, "has 3 dimensions");
    ReshapeCase({INT64_C(1) << 40, INT64_C(1) << 40})
        .graph.expect_failure(TENGINE_EINVAL, "shape[1]");
    ReshapeCase({1, 1, 1, 1, 1, 1, 1, 1, 24}).graph.expect_failure(TENGINE_ERANGE, "9 values");
}

TEST(Reshape, AllowZeroMakesEmptyTensors)
{
    ConstantGraph graph;
    graph.input<float>("x", {0, 3}, {});
    graph.builder().ints("shape", {3, 0});
    set_node_int(graph.add("Reshape", {"x", "shape"}), "allowzero", 1);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{3, 0}));
}

TEST(Reshape, CannotInferBesideZero)
{
    ConstantGraph graph;
    graph.input<float>("x", {0, 3}, {});
    graph.builder().ints("shape", {0, -1});
    graph.add("Reshape", {"x", "shape"});
    graph.expect_failure(TENGINE_EINVAL, "0 elements");
}

TEST(Flatten, TakesAxesOnBothEnds)
{
    const auto flatten = [](int axis) {
        ConstantGraph graph;
        graph.input<float>("x", {2, 3}, std::vector<float>(6));
        set_node_int(graph.add("Flatten", {"x"}), "axis", axis);
        return dims_of(graph.evaluate());
    };
    EXPECT_EQ(flatten(0), (Dims{1, 6}));
    EXPECT_EQ(flatten(2), (Dims{6, 1}));
    EXPECT_EQ(flatten(-2), (Dims{1, 6}));
}

TEST(Flatten, RejectsAxisBeyondRank)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 3}, std::vector<float>(6));
    set_node_int(graph.add("Flatten", {"x"}), "axis", 3);
    graph.expect_failure(TENGINE_ERANGE, "axis 3");
}

TEST(Squeeze, OldOpsetHasAxesAsAttribute)
{
    ConstantGraph graph;
    graph.opset = 11;
    graph.input<Half>("x", {1, 2, 1}, {1.0f, 2.0f});
    const int64_t axes[] = {-1};
    set_node_ints(graph.add("Squeeze", {"x"}), "axes", axes, 1);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{1, 2}));
}

TEST(Squeeze, WithoutAxesDropsAllOnes)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1}, {5});
    graph.add("Squeeze", {"x"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{}));
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{5}));
}

TEST(Squeeze, RejectsAxisOfMoreThanOne)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {5, 6});
    graph.builder().ints("axes", {1});
    graph.add("Squeeze", {"x", "axes"});
    graph.expect_failure(TENGINE_EINVAL, "axis 1 has 2 elements");
}

TEST(Unsqueeze, RejectsAxisTwiceAndTooManyDimensions)
{
    ConstantGraph twice;
    twice.input<float>("x", {2}, {5, 6});
    twice.builder().ints("axes", {0, -3});
    twice.add("Unsqueeze", {"x", "axes"});
    twice.expect_failure(TENGINE_EINVAL, "axis 0 twice");

    ConstantGraph many;
    many.input<float>("x", {2}, {5, 6});
    many.builder().ints("axes", {0, 1, 2, 3, 4, 5, 6, 7});
    many.add("Unsqueeze", {"x", "axes"});
    many.expect_failure(TENGINE_ELIMIT, "9 dimensions");
}

TEST(Dropout, OldOpsetGivesBoolMask)
{
    ConstantGraph graph;
    graph.opset = 7;
    graph.input<float>("x", {3}, {1, 2, 3});
    graph.add("Dropout", {"x"}, {"y", "mask"});
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(numbers_of(graph.evaluate("mask")), (std::vector<float>{1, 1, 1}));
}

TEST(Expand, BroadcastsBothWays)
{
    ConstantGraph graph;
    graph.input<int8_t>("x", {2, 1}, {1, 2});
    graph.builder().ints("shape", {2, 1, 3});
    graph.add("Expand", {"x", "shape"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{2, 2, 3}));
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()),
              (std::vector<int8_t>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
}

TEST(Expand, RejectsNegativeShape)
{
    ConstantGraph graph;
    graph.input<float>("x", {1}, {1});
    graph.builder().ints("shape", {-1});
    graph.add("Expand", {"x", "shape"});
    graph.expect_failure(TENGINE_EINVAL, "shape[0] is -1");
}

TEST(Shape, IsKnownThoughTheInputIsNot)
{
    IrBuilder builder;
    builder.input("x", {2, 5, 7});
    set_node_int(builder.add("Shape", {"x"}, {"y"}), "start", -2);
    builder.add("Identity", {"x"}, {"z"});
    builder.outputs({"y", "z"});
    graph* execution = make_execution_graph(builder.get());
    ASSERT_NE(execution, nullptr) << tengine_error_message();
    EXPECT_EQ(values_of<int64_t>(find_tensor(execution, "y")), (std::vector<int64_t>{5, 7}));
    destroy_ir_graph(execution);
}

TEST(Shape, ClampsStartAndEnd)
{
    ConstantGraph graph;
    graph.input<float>("x", {4, 5, 6}, std::vector<float>(120));
    node* shape = graph.add("Shape", {"x"});
    set_node_int(shape, "start", -100);
    set_node_int(shape, "end", -1);
    EXPECT_EQ(values_of<int64_t>(graph.evaluate()), (std::vector<int64_t>{4, 5}));
}

}  // namespace
}  // namespace tengine::test

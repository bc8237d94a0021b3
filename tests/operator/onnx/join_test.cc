// SPDX-License-Identifier: Apache-2.0
// Concat and Split: errors, empty parts, absent outputs, old opsets.
#include <cstdint>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;

TEST(Concat, JoinsAlongInnerAxisWithEmptyPart)
{
    ConstantGraph graph;
    graph.input<int16_t>("a", {2, 1, 2}, {1, 2, 3, 4});
    graph.input<int16_t>("b", {2, 0, 2}, {});
    graph.input<int16_t>("c", {2, 2, 2}, {5, 6, 7, 8, 9, 10, 11, 12});
    set_node_int(graph.add("Concat", {"a", "b", "c"}), "axis", -2);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{2, 3, 2}));
    EXPECT_EQ(values_of<int16_t>(graph.evaluate()),
              (std::vector<int16_t>{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}));
}

TEST(Concat, RejectsWhatDoesNotFit)
{
    ConstantGraph shapes;
    shapes.input<float>("a", {2, 1}, {1, 2});
    shapes.input<float>("b", {1, 2}, {1, 2});
    set_node_int(shapes.add("Concat", {"a", "b"}), "axis", 0);
    shapes.expect_failure(TENGINE_EINVAL, "dimension 1 of input 1 is 2, expected 1 as in input 0");

    ConstantGraph types;
    types.input<float>("a", {1}, {1});
    types.input<int32_t>("b", {1}, {1});
    set_node_int(types.add("Concat", {"a", "b"}), "axis", 0);
    types.expect_failure(TENGINE_EDTYPE, "'a' is fp32 but 'b' is int32");

    ConstantGraph scalar;
    scalar.input<float>("a", {}, {1});
    set_node_int(scalar.add("Concat", {"a"}), "axis", 0);
    scalar.expect_failure(TENGINE_ERANGE, "axis 0");
}

// Split of 0 1 2 3 4 into outputs y and z.
struct SplitCase
{
    ConstantGraph graph;
    node* split;
    explicit SplitCase(const std::vector<int64_t>& sizes, int opset = 0)
    {
        graph.opset = opset;
        graph.input<float>("x", {5}, {0, 1, 2, 3, 4});
        if (!sizes.empty()) graph.builder().ints("sizes", sizes);
        split = graph.add(
            "Split",
            sizes.empty() ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "sizes"},
            {"y", "z"});
    }
};

TEST(Split, TakesSizesFromInputAttributeOrNumber)
{
    SplitCase input({4, 1});
    EXPECT_EQ(values_of<float>(input.graph.evaluate("z")), (std::vector<float>{4}));

    SplitCase attribute({}, 11);
    const int64_t sizes[] = {0, 5};
    set_node_ints(attribute.split, "split", sizes, 2);
    EXPECT_EQ(dims_of(attribute.graph.evaluate("y")), (Dims{0}));
    EXPECT_EQ(dims_of(attribute.graph.evaluate("z")), (Dims{5}));

    SplitCase number({}, 18);
    set_node_int(number.split, "num_outputs", 2);
    EXPECT_EQ(values_of<float>(number.graph.evaluate("z")), (std::vector<float>{3, 4}));
}

TEST(Split, RejectsWhatDoesNotAddUp)
{
    SplitCase({4, 2}).graph.expect_failure(TENGINE_EINVAL, "sum to 6");
    SplitCase({6, -1}).graph.expect_failure(TENGINE_EINVAL, "split[0] is 6");
    SplitCase({5}).graph.expect_failure(TENGINE_EINVAL, "1 sizes for 2 outputs");
    SplitCase({}).graph.expect_failure(TENGINE_EINVAL, "2 equal parts");
}

TEST(Split, HasAsManyPartsAsOneLikes)
{
    constexpr int kParts = 1500;
    ConstantGraph graph;
    std::vector<float> values;
    std::vector<std::string> outputs(kParts - 1);
    for (int i = 0; i < kParts; ++i)
        values.push_back(static_cast<float>(i));
    outputs.emplace_back("y");
    graph.input<float>("x", {kParts}, values);
    graph.builder().ints("sizes", std::vector<int64_t>(kParts, 1));
    graph.builder().add("Split", {"x", "sizes"}, outputs);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{kParts - 1}));
}

TEST(Split, SkipsOutputsNobodyWants)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 4}, {0, 1, 2, 3});
    graph.builder().ints("sizes", {1, 2, 1});
    set_node_int(graph.builder().add("Split", {"x", "sizes"}, {"first", "", "y"}), "axis", 1);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{3}));
}

}  // namespace
}  // namespace tengine::test

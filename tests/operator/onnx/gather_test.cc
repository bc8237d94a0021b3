// SPDX-License-Identifier: Apache-2.0
// Gather and Scatter in all forms: indices out of range, reductions by type, shapes that do not
// fit.
#include <cstdint>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Dims = std::vector<int>;

TEST(Gather, ScalarIndexDropsTheAxis)
{
    ConstantGraph graph;
    graph.input<Half>("x", {2, 2}, {1.0f, 2.0f, 3.0f, 4.0f});
    graph.input<int32_t>("indices", {}, {-1});
    set_node_int(graph.add("Gather", {"x", "indices"}), "axis", 1);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{2}));
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{2, 4}));
}

TEST(Gather, RejectsIndicesOutOfRange)
{
    for (const int64_t index : {INT64_C(2), INT64_C(-3), INT64_MIN, INT64_MAX}) {
        ConstantGraph graph;
        graph.input<float>("x", {2}, {1, 2});
        graph.builder().ints("indices", {0, index});
        graph.add("Gather", {"x", "indices"});
        graph.expect_failure(TENGINE_ERANGE, "at position 1 is out of range: expected -2 to 1");
    }
}

TEST(Gather, EmptyIndicesAndEmptyData)
{
    ConstantGraph graph;
    graph.input<float>("x", {0, 2}, {});
    graph.builder().ints("indices", {});
    graph.add("Gather", {"x", "indices"});
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{0, 2}));
}

TEST(Gather, RejectsFloatIndicesAndTooManyDimensions)
{
    ConstantGraph types;
    types.input<float>("x", {1}, {1});
    types.input<float>("indices", {1}, {0});
    types.add("Gather", {"x", "indices"});
    types.expect_failure(TENGINE_EDTYPE, "indices are fp32");

    ConstantGraph ranks;
    ranks.input<float>("x", {1, 1, 1, 1, 1}, {1});
    ranks.input<int64_t>("indices", {1, 1, 1, 1, 1}, {0});
    ranks.add("Gather", {"x", "indices"});
    ranks.expect_failure(TENGINE_ERANGE, "9 dimensions");
}

TEST(GatherElements, RejectsIndicesLongerThanData)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2}, {1, 2});
    graph.input<int64_t>("indices", {2, 1}, {0, 0});
    set_node_int(graph.add("GatherElements", {"x", "indices"}), "axis", 1);
    graph.expect_failure(TENGINE_EINVAL, "dimension 0 of indices is 2, data has 1");
}

TEST(GatherND, RejectsTuplesLongerThanTheRank)
{
    ConstantGraph graph;
    graph.input<float>("x", {2}, {1, 2});
    graph.input<int64_t>("indices", {1, 2}, {0, 0});
    graph.add("GatherND", {"x", "indices"});
    graph.expect_failure(TENGINE_EINVAL, "index tuples have 2 values");
}

TEST(GatherND, BatchesMatch)
{
    ConstantGraph graph;
    graph.input<int8_t>("x", {2, 3}, {1, 2, 3, 4, 5, 6});
    graph.input<int64_t>("indices", {2, 1}, {2, -3});
    set_node_int(graph.add("GatherND", {"x", "indices"}), "batch_dims", 1);
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{3, 4}));

    ConstantGraph wrong;
    wrong.input<int8_t>("x", {2, 3}, {1, 2, 3, 4, 5, 6});
    wrong.input<int64_t>("indices", {1, 1}, {2});
    set_node_int(wrong.add("GatherND", {"x", "indices"}), "batch_dims", 1);
    wrong.expect_failure(TENGINE_EINVAL, "batch dimension 0");
}

// Scatters 3 and 5 both to the middle of 1 2 4.
template <class T>
std::vector<T> scatter(const char* reduction)
{
    ConstantGraph graph;
    graph.input<T>("x", {3}, {T(1), T(2), T(4)});
    graph.builder().ints("indices", {1, -2});
    graph.input<T>("updates", {2}, {T(3), T(5)});
    set_node_text(graph.add("ScatterElements", {"x", "indices", "updates"}), "reduction", reduction,
                  std::string(reduction).size());
    return values_of<T>(graph.evaluate());
}

template <class T>
class ScatterTypes : public testing::Test
{
};
using Numbers = testing::Types<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t,
                               int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(ScatterTypes, Numbers);

TYPED_TEST(ScatterTypes, ReductionsCombineDuplicates)
{
    const auto middle = [](const char* reduction) {
        const auto values = scatter<TypeParam>(reduction);
        return values.size() == 3 ? static_cast<double>(values[1]) : -1.0;
    };
    EXPECT_EQ(middle("none"), 5);
    EXPECT_EQ(middle("add"), 10);
    EXPECT_EQ(middle("mul"), 30);
    EXPECT_EQ(middle("min"), 2);
    EXPECT_EQ(middle("max"), 5);
}

TEST(ScatterElements, IntegersWrap)
{
    ConstantGraph graph;
    graph.input<int32_t>("x", {1}, {INT32_MAX});
    graph.builder().ints("indices", {0});
    graph.input<int32_t>("updates", {1}, {1});
    set_node_text(graph.add("ScatterElements", {"x", "indices", "updates"}), "reduction", "add", 3);
    EXPECT_EQ(values_of<int32_t>(graph.evaluate()), (std::vector<int32_t>{INT32_MIN}));
}

TEST(ScatterElements, BoolHasNoReduction)
{
    ConstantGraph graph;
    graph.bools("x", {1}, {1});
    graph.builder().ints("indices", {0});
    graph.bools("updates", {1}, {1});
    set_node_text(graph.add("ScatterElements", {"x", "indices", "updates"}), "reduction", "add", 3);
    graph.expect_failure(TENGINE_EDTYPE, "not defined for bool");
}

TEST(Scatter, OldNameIsLowered)
{
    ConstantGraph graph;
    graph.opset = 10;
    graph.input<float>("x", {1, 3}, {1, 2, 3});
    graph.input<int64_t>("indices", {1, 1}, {2});
    graph.input<float>("updates", {1, 1}, {9});
    set_node_int(graph.add("Scatter", {"x", "indices", "updates"}), "axis", 1);
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{1, 2, 9}));
}

TEST(ScatterND, WritesSlicesAndChecksUpdates)
{
    ConstantGraph graph;
    graph.input<uint16_t>("x", {2, 2}, {1, 2, 3, 4});
    graph.input<int64_t>("indices", {1, 1}, {-1});
    graph.input<uint16_t>("updates", {1, 2}, {8, 9});
    graph.add("ScatterND", {"x", "indices", "updates"});
    EXPECT_EQ(values_of<uint16_t>(graph.evaluate()), (std::vector<uint16_t>{1, 2, 8, 9}));

    ConstantGraph wrong;
    wrong.input<float>("x", {2, 2}, {1, 2, 3, 4});
    wrong.input<int64_t>("indices", {1, 1}, {0});
    wrong.input<float>("updates", {1, 3}, {8, 9, 10});
    wrong.add("ScatterND", {"x", "indices", "updates"});
    wrong.expect_failure(TENGINE_EINVAL, "dimension 1 of updates is 3, expected 2");
}

TEST(ScatterND, RejectsIndicesOutOfRange)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 3}, std::vector<float>(6));
    graph.input<int64_t>("indices", {1, 2}, {1, 3});
    graph.input<float>("updates", {1}, {8});
    graph.add("ScatterND", {"x", "indices", "updates"});
    graph.expect_failure(TENGINE_ERANGE, "index 3 at position 1");
}

}  // namespace
}  // namespace tengine::test

// SPDX-License-Identifier: Apache-2.0
// Transpose, DepthToSpace and SpaceToDepth: sizes around the tiles of the copy, all element sizes,
// errors.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Dims = std::vector<int>;

// Transposes a x b x c elements by `perm` and compares each with its origin.
template <class T>
void check_transpose(Dims dims, std::vector<int64_t> perm)
{
    const int total = dims[0] * dims[1] * dims[2];
    std::vector<T> values(static_cast<size_t>(total));
    std::iota(values.begin(), values.end(), T(0));
    ConstantGraph graph;
    graph.input<T>("x", dims, values);
    set_node_ints(graph.add("Transpose", {"x"}), "perm", perm.data(), 3);
    const std::vector<T> result = values_of<T>(graph.evaluate());
    ASSERT_EQ(result.size(), values.size());
    const int strides[] = {dims[1] * dims[2], dims[2], 1};
    size_t position = 0;
    for (int i = 0; i < dims[perm[0]]; ++i)
        for (int j = 0; j < dims[perm[1]]; ++j)
            for (int k = 0; k < dims[perm[2]]; ++k)
                ASSERT_EQ(result[position++],
                          values[static_cast<size_t>(i * strides[perm[0]] + j * strides[perm[1]] +
                                                     k * strides[perm[2]])]);
}

TEST(Transpose, AwkwardSizes)
{
    std::vector<int64_t> perm = {0, 1, 2};
    do {
        check_transpose<uint8_t>({3, 17, 5}, perm);
        check_transpose<int16_t>({16, 1, 33}, perm);
        check_transpose<float>({1, 13, 31}, perm);
        check_transpose<double>({7, 32, 15}, perm);
    } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Transpose, RejectsWhatIsNoPermutation)
{
    for (const std::vector<int64_t>& perm :
         {std::vector<int64_t>{0, 0}, {0, 2}, {-1, 0}, {0, INT64_MIN}, {0, 1, 2}}) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 2}, {1, 2});
        set_node_ints(graph.add("Transpose", {"x"}), "perm", perm.data(),
                      static_cast<int>(perm.size()));
        graph.expect_failure(TENGINE_EINVAL, "perm");
    }
}

TEST(Transpose, ScalarStays)
{
    ConstantGraph graph;
    graph.input<float>("x", {}, {3});
    graph.add("Transpose", {"x"});
    EXPECT_EQ(values_of<float>(graph.evaluate()), (std::vector<float>{3}));
}

TEST(DepthToSpace, RejectsChannelsThatMakeNoBlocks)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 2, 1, 1}, {1, 2});
    set_node_int(graph.add("DepthToSpace", {"x"}), "blocksize", 2);
    graph.expect_failure(TENGINE_EINVAL, "2 channels do not divide into blocks of 2 x 2");
}

TEST(SpaceToDepth, UndoesDepthToSpace)
{
    ConstantGraph graph;
    const std::vector<int8_t> values = {1, 2, 3, 4, 5, 6, 7, 8};
    graph.input<int8_t>("x", {1, 4, 1, 2}, values);
    set_node_int(graph.add("DepthToSpace", {"x"}, {"wide"}), "blocksize", 2);
    set_node_int(graph.add("SpaceToDepth", {"wide"}), "blocksize", 2);
    EXPECT_EQ(dims_of(graph.evaluate("wide")), (Dims{1, 1, 2, 4}));
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), values);
}

TEST(SpaceToDepth, RejectsBlocksizeOutsideItsRange)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 1, 1}, {1});
    EXPECT_EQ(set_node_int(graph.add("SpaceToDepth", {"x"}), "blocksize", 0), TENGINE_ERANGE);
}

}  // namespace
}  // namespace tengine::test

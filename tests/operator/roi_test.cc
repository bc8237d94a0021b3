// SPDX-License-Identifier: Apache-2.0
// Pools over regions of interest: MaxRoiPool (which the ONNX suite has not), modes and old opsets
// of RoiAlign, hostile regions.
#include <cmath>
#include <limits>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

// 4 x 4 counting from 0, twice.
template <class T>
std::vector<T> two_images()
{
    std::vector<T> values;
    for (int i = 0; i < 32; ++i)
        values.push_back(static_cast<T>(static_cast<float>(i)));
    return values;
}

template <class T>
std::vector<T> as(const std::vector<float>& values)
{
    return {values.begin(), values.end()};
}

template <class T>
class Roi : public testing::Test
{
};
using Floats = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(Roi, Floats);

TYPED_TEST(Roi, MaximumOfBins)
{
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<TypeParam>());
    // The second is outside but for one corner, in the other image.
    graph.input("regions", {2, 5}, as<TypeParam>({0, 0, 0, 6, 6, 1, 6, 6, 20, 20}));
    node* node = graph.add("MaxRoiPool", {"x", "regions"});
    const int64_t shape[] = {2, 2};
    ASSERT_EQ(set_node_ints(node, "pooled_shape", shape, 2), 0);
    ASSERT_EQ(set_node_float(node, "spatial_scale", 0.5f), 0);
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{2, 1, 2, 2}));
    EXPECT_EQ(numbers_of(y), (std::vector<float>{5, 7, 13, 15, 31, 0, 0, 0}));
}

// A plane x + 4 y is reproduced by bilinear interpolation.
TYPED_TEST(Roi, AlignSamplesAPlane)
{
    const auto align = [](const char* mode, int opset) {
        ConstantGraph graph;
        graph.opset = opset;
        graph.input("x", {2, 1, 4, 4}, two_images<TypeParam>());
        graph.input("regions", {1, 4}, as<TypeParam>({0.5f, 0.5f, 2.5f, 2.5f}));
        graph.input<int64_t>("images", {1}, {1});
        node* node = graph.add("RoiAlign", {"x", "regions", "images"});
        EXPECT_EQ(set_node_text(node, "mode", mode, 3), 0);
        EXPECT_EQ(set_node_int(node, "sampling_ratio", 2), 0);
        return numbers_of(graph.evaluate());
    };
    // Middle of the region at (1, 1) with the shift of half a pixel, (1.5, 1.5) without.
    EXPECT_EQ(align("avg", 16), (std::vector<float>{16 + 5}));
    EXPECT_EQ(align("avg", 10), (std::vector<float>{16 + 7.5f}));
    EXPECT_EQ(align("max", 16), (std::vector<float>{16 + 5 + 2.5f}));
}

TEST(RoiAlign, RefusesImagesThatAreNot)
{
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {1, 4}, {0, 0, 1, 1});
    graph.input<int64_t>("images", {1}, {2});
    graph.add("RoiAlign", {"x", "regions", "images"});
    graph.expect_failure(TENGINE_ERANGE, "region 0 is in image 2, there are 2");
}

TEST(RoiAlign, HostileRegions)
{
    const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {3, 4},
                       {nan, nan, nan, nan, -infinity, 0, infinity, 1, 5, 5, -5, -5});
    graph.input<int64_t>("images", {3}, {0, 0, 0});
    graph.add("RoiAlign", {"x", "regions", "images"});
    EXPECT_EQ(dims_of(graph.evaluate()), (std::vector<int>{3, 1, 1, 1}));
}

TEST(MaxRoiPool, HostileRegions)
{
    const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {3, 5},
                       {0, nan, nan, nan, nan, 0, -infinity, 0, infinity, 1, 1, 9, 9, -9, -9});
    const int64_t shape[] = {1, 1};
    ASSERT_EQ(set_node_ints(graph.add("MaxRoiPool", {"x", "regions"}), "pooled_shape", shape, 2),
              0);
    EXPECT_EQ(dims_of(graph.evaluate()), (std::vector<int>{3, 1, 1, 1}));
}

TEST(MaxRoiPool, RefusesImagesThatAreNot)
{
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {1, 5}, {std::nanf(""), 0, 0, 1, 1});
    const int64_t shape[] = {1, 1};
    ASSERT_EQ(set_node_ints(graph.add("MaxRoiPool", {"x", "regions"}), "pooled_shape", shape, 2),
              0);
    graph.expect_failure(TENGINE_ERANGE, "region 0 is in image");
}

}  // namespace
}  // namespace tengine::test

// SPDX-License-Identifier: Apache-2.0
// Pools over regions of interest: MaxRoiPool (which the ONNX suite lacks), modes and old opsets of
// RoiAlign, hostile regions.
#include <cmath>
#include <limits>
#include <numeric>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

// Two images of 4 x 4, counting from 0.
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
    // The second is outside except for one corner, in the other image.
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
    // The centre of the region is (1, 1) with the shift of half a pixel, (1.5, 1.5) without.
    EXPECT_EQ(align("avg", 16), (std::vector<float>{16 + 5}));
    EXPECT_EQ(align("avg", 10), (std::vector<float>{16 + 7.5f}));
    // The last pixel of the last sample, at (1.5, 1.5), with its weight.
    EXPECT_EQ(align("max", 16), (std::vector<float>{(16 + 10) / 4.0f}));
}

// More channels than are sampled together, each a plane x + 4 y that begins 16 higher.
TEST(RoiAlign, ManyChannels)
{
    constexpr int kCount = 35;
    std::vector<float> pixels(16 * kCount);
    std::iota(pixels.begin(), pixels.end(), 0.0f);
    for (const char* mode : {"avg", "max"}) {
        ConstantGraph graph;
        graph.input("x", {1, kCount, 4, 4}, pixels);
        graph.input<float>("regions", {2, 4}, {0.5f, 0.5f, 2.5f, 2.5f, 1.5f, 1.5f, 3.5f, 3.5f});
        graph.input<int64_t>("images", {2}, {0, 0});
        node* node = graph.add("RoiAlign", {"x", "regions", "images"});
        ASSERT_EQ(set_node_text(node, "mode", mode, 3), 0);
        ASSERT_EQ(set_node_int(node, "sampling_ratio", 1), 0);
        const std::vector<float> values = numbers_of(graph.evaluate());
        ASSERT_EQ(values.size(), 2U * kCount);
        for (int c = 0; c < kCount; ++c) {  // the one sample of a region is at a pixel
            EXPECT_EQ(values[c], static_cast<float>(16 * c + 5)) << mode << ' ' << c;
            EXPECT_EQ(values[kCount + c], static_cast<float>(16 * c + 10)) << mode << ' ' << c;
        }
    }
}

TEST(RoiAlign, RefusesImagesThatAreNot)
{
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {1, 4}, {0, 0, 1, 1});
    graph.input<int64_t>("images", {1}, {2});
    graph.add("RoiAlign", {"x", "regions", "images"});
    graph.expect_failure(TENGINE_ERANGE, "region 0 is in image 2, expected an index below 2");
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

// There are 2 bins: only the first pixel of the first is at 0 times infinity.
TEST(MaxRoiPool, InfiniteRegionsInSeveralBins)
{
    const float infinity = std::numeric_limits<float>::infinity();
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {3, 5},
                       {0, 0, 0, infinity, infinity, 1, -infinity, -infinity, infinity, infinity, 0,
                        -infinity, -infinity, 3, 3});
    const int64_t shape[] = {2, 2};
    ASSERT_EQ(set_node_ints(graph.add("MaxRoiPool", {"x", "regions"}), "pooled_shape", shape, 2),
              0);
    for (const float value : numbers_of(graph.evaluate())) {
        EXPECT_GE(value, 0);
        EXPECT_LE(value, 31);
    }
}

// The test's time limit bounds the sampling of regions this large. The first region overlaps the
// image, a constant, in part; the second does not overlap it.
TEST(RoiAlign, RegionsFarLargerThanTheImage)
{
    for (const char* mode : {"avg", "max"}) {
        ConstantGraph graph;
        graph.input("x", {2, 1, 4, 4}, two_images<float>());
        graph.input<float>(
            "regions", {3, 4},
            {-1e9f, -1e9f, 1e9f, 1e9f, 10, 10, 1e9f, 1e9f, -3e38f, -3e38f, 3e38f, 3e38f});
        graph.input<int64_t>("images", {3}, {1, 1, 1});
        node* node = graph.add("RoiAlign", {"x", "regions", "images"});
        ASSERT_EQ(set_node_text(node, "mode", mode, 3), 0);
        const std::vector<float> y = numbers_of(graph.evaluate());
        ASSERT_EQ(y.size(), 3U);
        if (*mode == 'a')
            EXPECT_LT(y[0], 1e-12);
        else
            EXPECT_NEAR(y[0], 31, 5);
        EXPECT_EQ(y[1], 0);
    }
}

// Constants of 1: the mean of a bin is the share of its samples that are not outside the image, by
// at least a pixel.
TEST(RoiAlign, SamplesBesideTheImageAreZero)
{
    const auto align = [](const char* mode, std::vector<float> region, int ratio) {
        ConstantGraph graph;
        graph.input("x", {1, 1, 4, 4}, std::vector<float>(16, 1));
        graph.input("regions", {1, 4}, region);
        graph.input<int64_t>("images", {1}, {0});
        node* node = graph.add("RoiAlign", {"x", "regions", "images"});
        EXPECT_EQ(set_node_text(node, "mode", mode, 3), 0);
        EXPECT_EQ(set_node_int(node, "sampling_ratio", ratio), 0);
        return numbers_of(graph.evaluate()).at(0);
    };
    // 16 samples at -6, -5 ... 9; -1 to 4 are in.
    const std::vector<float> around = {-6, -6, 10, 10};
    EXPECT_FLOAT_EQ(align("avg", around, 0), 6 * 6 / 256.0f);
    EXPECT_FLOAT_EQ(align("avg", around, 16), 6 * 6 / 256.0f);
    EXPECT_EQ(align("max", around, 0), 1);
    // An inverted region, and a point.
    EXPECT_FLOAT_EQ(align("avg", {10, 10, -6, -6}, 16), 6 * 6 / 256.0f);
    EXPECT_EQ(align("avg", {4.5f, 4.5f, 4.5f, 4.5f}, 3), 1);
    EXPECT_EQ(align("avg", {0.5f, 0.5f, 0.5f, 0.5f}, 3), 1);
    EXPECT_EQ(align("max", {5, 5, 5, 5}, 3), 0);
}

TEST(RoiAlign, RefusesMoreSamplesThanItCanTake)
{
    ConstantGraph graph;
    graph.input("x", {2, 1, 4, 4}, two_images<float>());
    graph.input<float>("regions", {1, 4}, {0, 0, 1, 1});
    graph.input<int64_t>("images", {1}, {2});
    node* node = graph.add("RoiAlign", {"x", "regions", "images"});
    EXPECT_EQ(set_node_int(node, "sampling_ratio", 1025), TENGINE_ERANGE);
    EXPECT_STREQ(tengine_error_message(),
                 "RoiAlign 'y': attribute 'sampling_ratio' is 1025, expected 0 to 1024");
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

// SPDX-License-Identifier: Apache-2.0
// Resize, Upsample and GridSample beyond the cases of the ONNX suite: other ranks, integers, fp16,
// opset 18's attributes, old opsets, errors.
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>

#include "constant_graph.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;
using Dims = std::vector<int>;
using Floats = std::vector<float>;

void set_text(node* node, const char* name, const std::string& value)
{
    ASSERT_EQ(set_node_text(node, name, value.data(), value.size()), TENGINE_OK)
        << tengine_error_message();
}

// Resize of a one-dimensional input.
struct ResizeCase
{
    ConstantGraph graph;
    node* resize;
    template <class T>
    ResizeCase(const std::vector<T>& values, const char* mode, const Floats& scales,
               const std::vector<int64_t>& sizes = {})
    {
        graph.input<T>("x", {static_cast<int>(values.size())}, values);
        if (!scales.empty()) graph.builder().floats("scales", {1}, scales);
        if (!sizes.empty()) graph.builder().ints("sizes", sizes);
        std::vector<std::string> inputs = {"x", "", scales.empty() ? "" : "scales"};
        if (!sizes.empty()) inputs.push_back("sizes");
        resize = graph.add("Resize", inputs);
        set_text(resize, "mode", mode);
    }
};

TEST(Resize, LinearInEveryFloatType)
{
    const Floats expected = {1, 1.5f, 2.5f, 3};
    const auto check = [&](auto zero) {
        using T = decltype(zero);
        ResizeCase resize(std::vector<T>{T(1), T(3)}, "linear", {2});
        EXPECT_EQ(numbers_of(resize.graph.evaluate()), expected);
    };
    check(0.0f);
    check(Half(0.0f));
    check(BFloat16(0.0f));
    check(0.0);
}

TEST(Resize, IntegersAreRoundedAndClipped)
{
    ResizeCase halves(std::vector<uint8_t>{0, 1, 255}, "linear", {2});
    EXPECT_EQ(values_of<uint8_t>(halves.graph.evaluate()),
              (std::vector<uint8_t>{0, 0, 1, 64, 192, 255}));

    ResizeCase cubic(std::vector<int8_t>{-128, -128, 127, 127}, "cubic", {2});
    const auto values = values_of<int8_t>(cubic.graph.evaluate());
    ASSERT_EQ(values.size(), 8u);
    EXPECT_EQ(values[2], -128);
    EXPECT_EQ(values[5], 127);

    const int64_t large = std::numeric_limits<int64_t>::max();
    ResizeCase longs(std::vector<int64_t>{large, large}, "linear", {2});
    EXPECT_EQ(values_of<int64_t>(longs.graph.evaluate()), std::vector<int64_t>(4, large));
}

TEST(Resize, NearestMovesAnyElementSize)
{
    ResizeCase doubles(std::vector<double>{1, 2, 3}, "nearest", {}, {6});
    EXPECT_EQ(values_of<double>(doubles.graph.evaluate()), (std::vector<double>{1, 1, 2, 2, 3, 3}));
    ConstantGraph bools;
    bools.bools("x", {2}, {0, 1});
    bools.builder().floats("scales", {1}, {2});
    bools.add("Resize", {"x", "", "scales"});
    EXPECT_EQ(numbers_of(bools.evaluate()), (Floats{0, 0, 1, 1}));
}

TEST(Resize, ScalesAreMultipliedAsFloats)
{
    // 0.7f is a little less than 0.7; ten elements still become seven.
    ResizeCase resize(Floats(10), "nearest", {0.7f});
    EXPECT_EQ(dims_of(resize.graph.evaluate()), (Dims{7}));
}

TEST(Resize, ThreeDimensionsAndMoreInParallelAxes)
{
    ConstantGraph graph;
    graph.input<float>("x", {2, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    graph.builder().ints("sizes", {1, 1, 1, 1});
    node* resize = graph.add("Resize", {"x", "", "", "sizes"});
    set_text(resize, "mode", "linear");
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{7.5f}));
}

TEST(Resize, AntialiasTakesTheWholeWindow)
{
    // A triangle of radius 2 around 1.5 in 0 4 8 12: weights 1 3 3 1; positions beyond the edge
    // have none.
    ResizeCase resize(Floats{0, 4, 8, 12}, "linear", {0.5f});
    EXPECT_EQ(set_node_int(resize.resize, "antialias", 1), TENGINE_OK);
    EXPECT_EQ(set_node_int(resize.resize, "exclude_outside", 1), TENGINE_OK);
    const Floats values = numbers_of(resize.graph.evaluate());
    ASSERT_EQ(values.size(), 2u);
    EXPECT_FLOAT_EQ(values[0], (0 * 3 + 4 * 3 + 8 * 1) / 7.0f);
    EXPECT_FLOAT_EQ(values[1], (4 * 1 + 8 * 3 + 12 * 3) / 7.0f);
}

TEST(Resize, AxesAndAspectRatio)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 4, 8}, Floats(32));
    graph.builder().ints("sizes", {8, 12});
    node* resize = graph.add("Resize", {"x", "", "", "sizes"});
    const int64_t axes[] = {1, -1};
    ASSERT_EQ(set_node_ints(resize, "axes", axes, 2), TENGINE_OK);
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{1, 8, 12}));
    set_text(resize, "keep_aspect_ratio_policy", "not_larger");
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{1, 6, 12}));
    set_text(resize, "keep_aspect_ratio_policy", "not_smaller");
    EXPECT_EQ(dims_of(graph.evaluate()), (Dims{1, 8, 16}));
}

TEST(Resize, RejectsHostileInputs)
{
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float scale : {0.0f, -1.0f, infinity, std::numeric_limits<float>::quiet_NaN()})
        ResizeCase(Floats{1}, "linear", {scale}).graph.expect_failure(TENGINE_ERANGE, "scales[0]");
    ResizeCase(Floats{1, 2}, "linear", {1e30f}).graph.expect_failure(TENGINE_ERANGE, "1e+30");
    ResizeCase(Floats{1}, "linear", {}, {-1}).graph.expect_failure(TENGINE_ERANGE, "-1");
    ResizeCase(Floats{1}, "linear", {}, {INT64_MAX}).graph.expect_failure(TENGINE_ERANGE, "axis 0");
    ResizeCase(Floats{1}, "linear", {}).graph.expect_failure(TENGINE_EINVAL, "one of scales");
    ResizeCase(Floats{1}, "linear", {1}, {1}).graph.expect_failure(TENGINE_EINVAL, "one of scales");
    ResizeCase(Floats{1}, "linear", {}, {1, 1})
        .graph.expect_failure(TENGINE_EINVAL, "2 sizes for 1 axes");
    ResizeCase(Floats{}, "linear", {}, {4}).graph.expect_failure(TENGINE_ERANGE, "0 elements");
}

// Values that no integer represents: an axis that vanishes has a scale of 0, whose filter is
// infinitely wide, and the slope of the cubic filter comes from the file.
TEST(Resize, WhatNoIntegerCanHold)
{
    ResizeCase empty(Floats{1, 2}, "linear", {}, {0});
    ASSERT_EQ(set_node_int(empty.resize, "antialias", 1), TENGINE_OK);
    EXPECT_EQ(dims_of(empty.graph.evaluate()), Dims{0});
    ResizeCase slope(std::vector<uint8_t>{1, 2}, "cubic", {2});
    ASSERT_EQ(set_node_float(slope.resize, "cubic_coeff_a", std::numeric_limits<float>::infinity()),
              TENGINE_OK);
    const auto values = values_of<uint8_t>(slope.graph.evaluate());
    ASSERT_EQ(values.size(), 4U);
    EXPECT_EQ(values[0], 0);
}

TEST(Resize, OldOpsetRoundsDown)
{
    ConstantGraph graph;
    graph.opset = 10;
    graph.input<float>("x", {4}, {0, 1, 2, 3});
    graph.builder().floats("scales", {1}, {0.5f});
    graph.add("Resize", {"x", "scales"});
    EXPECT_EQ(numbers_of(graph.evaluate()), (Floats{0, 2}));
}

TEST(Upsample, AttributeAndInput)
{
    ConstantGraph attribute;
    attribute.opset = 7;
    attribute.input<float>("x", {2}, {1, 2});
    const float scale = 2;
    set_node_floats(attribute.add("Upsample", {"x"}), "scales", &scale, 1);
    EXPECT_EQ(numbers_of(attribute.evaluate()), (Floats{1, 1, 2, 2}));

    ConstantGraph input;
    input.opset = 9;
    input.input<float>("x", {2}, {1, 2});
    input.builder().floats("scales", {1}, {2});
    set_text(input.add("Upsample", {"x", "scales"}), "mode", "linear");
    EXPECT_EQ(numbers_of(input.evaluate()), (Floats{1, 1.5f, 2, 2}));
}

// One row of three, read at these positions of its width.
struct GridCase
{
    ConstantGraph graph;
    node* sample;
    template <class T>
    GridCase(const std::vector<T>& row, const Floats& places)
    {
        graph.input<T>("x", {1, 1, static_cast<int>(row.size())}, row);
        graph.input<float>("grid", {1, static_cast<int>(places.size()), 1}, places);
        sample = graph.add("GridSample", {"x", "grid"});
    }
};

TEST(GridSample, OneDimension)
{
    GridCase grid(Floats{1, 2, 4}, {-1, 0, 1, 5});
    set_node_int(grid.sample, "align_corners", 1);
    EXPECT_EQ(numbers_of(grid.graph.evaluate()), (Floats{1, 2, 4, 0}));
    set_text(grid.sample, "padding_mode", "border");
    EXPECT_EQ(numbers_of(grid.graph.evaluate()), (Floats{1, 2, 4, 4}));
    set_text(grid.sample, "padding_mode", "reflection");
    EXPECT_EQ(numbers_of(grid.graph.evaluate()), (Floats{1, 2, 4, 4}));
}

TEST(GridSample, ModesHaveTheNamesOfTheirOpset)
{
    const std::tuple<const char*, const char*, Floats> modes[] = {
        {"bilinear", "linear", {2, 3}}, {"bicubic", "cubic", {2, 3.46875f}}};
    for (const auto& [old_name, name, expected] : modes) {
        GridCase grid(Floats{1, 2, 4}, {0, 0.5f});
        set_node_int(grid.sample, "align_corners", 1);
        EXPECT_EQ(set_node_text(grid.sample, "mode", old_name, strlen(old_name)), TENGINE_ERANGE);
        set_text(grid.sample, "mode", name);
        EXPECT_EQ(numbers_of(grid.graph.evaluate()), expected) << name;

        grid.graph.opset = 19;
        node* old = grid.graph.add("GridSample", {"x", "grid"}, {"z"});
        set_node_int(old, "align_corners", 1);
        EXPECT_EQ(set_node_text(old, "mode", name, strlen(name)), TENGINE_ERANGE);
        set_text(old, "mode", old_name);
        EXPECT_EQ(numbers_of(grid.graph.evaluate("z")), expected) << old_name;
    }
}

TEST(GridSample, SurvivesAnyGrid)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const char* padding : {"zeros", "border", "reflection"})
        for (const char* mode : {"nearest", "linear", "cubic"}) {
            GridCase grid(std::vector<int16_t>{7}, {infinity, -infinity, nan, 1e30f});
            set_text(grid.sample, "padding_mode", padding);
            set_text(grid.sample, "mode", mode);
            const int16_t expected = std::string(padding) == "zeros" ? 0 : 7;
            EXPECT_EQ(values_of<int16_t>(grid.graph.evaluate()), std::vector<int16_t>(4, expected));
        }
}

TEST(GridSample, RejectsGridThatDoesNotFit)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 2, 2}, Floats(4));
    graph.input<float>("grid", {1, 1, 1, 3}, Floats(3));
    graph.add("GridSample", {"x", "grid"});
    graph.expect_failure(TENGINE_EINVAL, "grid");
}

}  // namespace
}  // namespace tengine::test

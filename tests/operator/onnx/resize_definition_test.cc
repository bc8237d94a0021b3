// SPDX-License-Identifier: Apache-2.0
// Sizes and coordinates of Resize against ONNX's text, implemented again here: the kernels and the
// reference both take the sizes and scales from operator/onnx/resize_ops.c. The sizes are those of
// exact fractions of integers. Linear interpolation of 0 1 2 … gives the coordinate itself inside
// the input.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "constant_graph.h"
#include "operator/onnx/resize_param.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

// Not negative, in lowest terms, so that products of a few stay small.
struct Fraction
{
    int64_t above, below;

    Fraction(int64_t a, int64_t b = 1) : above(a / std::gcd(a, b)), below(b / std::gcd(a, b)) {}
    double value() const { return static_cast<double>(above) / static_cast<double>(below); }
    int64_t floor() const { return above / below; }
    int64_t round_half_up() const { return (2 * above + below) / (2 * below); }
};

Fraction operator*(const Fraction& a, const Fraction& b)
{
    return {a.above * b.above, a.below * b.below};
}
bool operator<(const Fraction& a, const Fraction& b)
{
    return a.above * b.below < b.above * a.below;
}

struct Axis
{
    Fraction scale = {1};
    Fraction length = {1};  // length_resized: with scales it is not rounded (suite: align_corners)
    int64_t size = 1;       // of the output
    Fraction begin = {0}, end = {1};
};

// floor(input_dimension * (roi_end - roi_start) * scale)
Axis scale_axis(int64_t dim, Fraction scale, Fraction begin = {0}, Fraction end = {1})
{
    const Fraction part = {end.above * begin.below - begin.above * end.below,
                           end.below * begin.below};
    const Fraction length = Fraction(dim) * part * scale;
    return {scale, length, length.floor(), begin, end};
}

// "stretch": the sizes. not_larger, not_smaller: the smallest or the largest of sizes / dims is the
// scale of all axes, and round_int(scale * dim), halves up, the size of each.
std::vector<Axis> size_axes(const Ints& dims, const Ints& sizes, const std::string& policy)
{
    std::vector<Fraction> scales;
    for (size_t i = 0; i < dims.size(); ++i)
        scales.emplace_back(sizes[i], dims[i]);
    const Fraction least = *std::min_element(scales.begin(), scales.end());
    const Fraction largest = *std::max_element(scales.begin(), scales.end());
    std::vector<Axis> axes;
    for (size_t i = 0; i < dims.size(); ++i) {
        const Fraction scale = policy == "stretch"      ? scales[i]
                               : policy == "not_larger" ? least
                                                        : largest;
        const int64_t size = (scale * Fraction(dims[i])).round_half_up();
        axes.push_back({scale, {size}, size, {0}, {1}});
    }
    return axes;
}

// Returns x_original of x_resized.
double find_source(const std::string& mode, const Axis& axis, int64_t dim, int64_t i)
{
    const double x = static_cast<double>(i), scale = axis.scale.value();
    const double resized = axis.length.value(), original = static_cast<double>(dim);
    const double begin = axis.begin.value(), end = axis.end.value();
    if (mode == "half_pixel") return (x + 0.5) / scale - 0.5;
    if (mode == "half_pixel_symmetric") {
        const double adjustment = static_cast<double>(axis.size) / (scale * original);
        const double center = original / 2, offset = center * (1 - adjustment);
        return offset + (x + 0.5) / scale - 0.5;
    }
    if (mode == "pytorch_half_pixel") return resized > 1 ? (x + 0.5) / scale - 0.5 : 0;
    if (mode == "align_corners") return resized == 1 ? 0 : x * (original - 1) / (resized - 1);
    if (mode == "asymmetric") return x / scale;
    if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / scale;
    return resized > 1 ? begin * (original - 1) + x * (end - begin) * (original - 1) / (resized - 1)
                       : 0.5 * (begin + end) * (original - 1);
}

const char* const kModes[] = {"half_pixel",        "half_pixel_symmetric", "pytorch_half_pixel",
                              "align_corners",     "asymmetric",           "tf_half_pixel_for_nn",
                              "tf_crop_and_resize"};
constexpr float kBeside = -100;  // extrapolation_value

// A graph of one Resize, linear.
class ResizeGraph
{
  public:
    // Along each axis the values count from 0, along the last axis in ones.
    explicit ResizeGraph(const Ints& dims)
    {
        const int64_t last = dims.back();
        Floats ramp(static_cast<size_t>(
            std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>())));
        for (size_t i = 0; i < ramp.size(); ++i)
            ramp[i] = static_cast<float>(static_cast<int64_t>(i) % last);
        graph_.input<float>("x", {dims.begin(), dims.end()}, ramp);
    }
    void floats(const char* name, const Floats& values)
    {
        graph_.builder().floats(name, {static_cast<int>(values.size())}, values);
    }
    void ints(const char* name, const Ints& values) { graph_.builder().ints(name, values); }

    node* add(const std::vector<std::string>& inputs)
    {
        resize_ = graph_.add("Resize", inputs);
        text("mode", "linear");
        EXPECT_EQ(set_node_float(resize_, "extrapolation_value", kBeside), TENGINE_OK);
        return resize_;
    }
    void text(const char* name, const std::string& value)
    {
        ASSERT_EQ(set_node_text(resize_, name, value.data(), value.size()), TENGINE_OK);
    }
    const tensor* evaluate() { return graph_.evaluate(); }

  private:
    ConstantGraph graph_;
    node* resize_ = nullptr;
};

// Checks the one axis of `output`, or the last of several.
void expect_coordinates(const tensor* output, const std::string& mode, const Axis& axis,
                        int64_t dim)
{
    const Floats values = numbers_of(output);
    const double last = static_cast<double>(dim - 1);
    const bool is_copy = axis.size == dim && axis.scale.value() == 1 && axis.begin.above == 0 &&
                         axis.end.value() == 1;
    for (int64_t i = 0; i < axis.size; ++i) {
        const double source = is_copy ? static_cast<double>(i) : find_source(mode, axis, dim, i);
        const bool is_beside = mode == "tf_crop_and_resize" && (source < 0 || source > last);
        const double wanted = is_beside ? kBeside : std::min(std::max(source, 0.0), last);
        ASSERT_NEAR(values[static_cast<size_t>(i)], wanted, 1e-5 * static_cast<double>(dim))
            << mode << ": " << i << " of " << axis.size << " from " << dim << ", scale "
            << axis.scale.above << "/" << axis.scale.below;
    }
}

TEST(ResizeDefinition, ScalesOfEveryMode)
{
    for (const char* mode : kModes)
        for (const int64_t dim : {1, 2, 3, 7, 16})
            for (const Fraction scale :
                 {Fraction(1), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(5, 4),
                  Fraction(2), Fraction(21, 8), Fraction(4)}) {
                const Axis axis = scale_axis(dim, scale);
                ResizeGraph graph({dim});
                graph.floats("roi", {0, 1});
                graph.floats("scales", {static_cast<float>(scale.value())});
                graph.add({"x", "roi", "scales"});
                graph.text("coordinate_transformation_mode", mode);
                const tensor* output = graph.evaluate();
                ASSERT_TRUE(output);
                ASSERT_EQ(output->dims[0], axis.size) << mode << " " << dim << " " << scale.value();
                expect_coordinates(output, mode, axis, dim);
                if (HasFatalFailure()) return;
            }
}

TEST(ResizeDefinition, SizesOfEveryMode)
{
    for (const char* mode : kModes)
        for (const int64_t dim : {1, 2, 5, 13})
            for (int64_t size = 1; size <= 17; size += 2) {
                const Axis axis = size_axes({dim}, {size}, "stretch").front();
                ResizeGraph graph({dim});
                graph.floats("roi", {0, 1});
                graph.ints("sizes", {size});
                graph.add({"x", "roi", "", "sizes"});
                graph.text("coordinate_transformation_mode", mode);
                const tensor* output = graph.evaluate();
                ASSERT_TRUE(output);
                ASSERT_EQ(output->dims[0], size);
                expect_coordinates(output, mode, axis, dim);
                if (HasFatalFailure()) return;
            }
}

TEST(ResizeDefinition, RegionsAreCutOut)
{
    for (const int64_t dim : {1, 4, 9})
        for (int64_t begin = 0; begin < 8; ++begin)
            for (int64_t end = begin; end <= 10; ++end)
                for (const Fraction scale : {Fraction(1, 2), Fraction(1), Fraction(5, 2)}) {
                    const Axis axis = scale_axis(dim, scale, {begin, 8}, {end, 8});
                    ResizeGraph graph({dim});
                    graph.floats("roi",
                                 {static_cast<float>(begin) / 8, static_cast<float>(end) / 8});
                    graph.floats("scales", {static_cast<float>(scale.value())});
                    graph.add({"x", "roi", "scales"});
                    graph.text("coordinate_transformation_mode", "tf_crop_and_resize");
                    const tensor* output = graph.evaluate();
                    ASSERT_TRUE(output);
                    ASSERT_EQ(output->dims[0], axis.size) << dim << " " << begin << " " << end;
                    expect_coordinates(output, "tf_crop_and_resize", axis, dim);
                    if (HasFatalFailure()) return;
                }
}

// `axes` names them in any order and from the end.
TEST(ResizeDefinition, PoliciesOfTwoAxes)
{
    for (const char* policy : {"stretch", "not_larger", "not_smaller"})
        for (const char* mode : {"half_pixel", "asymmetric", "align_corners"})
            for (int64_t height = 1; height <= 5; height += 2)
                for (int64_t width = 2; width <= 6; width += 2)
                    for (int64_t size = 3; size <= 8; ++size) {
                        const std::vector<Axis> axes =
                            size_axes({width, height}, {size, 7}, policy);
                        ResizeGraph graph({2, height, width});
                        graph.ints("sizes", {size, 7});
                        node* resize = graph.add({"x", "", "", "sizes"});
                        const int64_t named[] = {-1, 1};
                        ASSERT_EQ(set_node_ints(resize, "axes", named, 2), TENGINE_OK);
                        graph.text("keep_aspect_ratio_policy", policy);
                        graph.text("coordinate_transformation_mode", mode);
                        const tensor* output = graph.evaluate();
                        ASSERT_TRUE(output);
                        ASSERT_EQ(dims_of(output),
                                  (std::vector<int>{2, static_cast<int>(axes[1].size),
                                                    static_cast<int>(axes[0].size)}))
                            << policy << " " << height << "x" << width << " to " << size;
                        expect_coordinates(output, mode, axes[0], width);
                        if (HasFatalFailure()) return;
                    }
}

// A node whose shapes change without a new graph.
struct Resolved
{
    ConstantGraph graph;
    node* resize;
    tensor* x;
    tensor* given;

    Resolved(bool has_scales, const std::string& policy)
    {
        graph.input<float>("x", {1, 1}, {0});
        if (has_scales)
            graph.builder().floats("given", {2}, {1, 1});
        else
            graph.builder().ints("given", {1, 1});
        resize = has_scales ? graph.add("Resize", {"x", "", "given"})
                            : graph.add("Resize", {"x", "", "", "given"});
        EXPECT_EQ(set_node_text(resize, "keep_aspect_ratio_policy", policy.data(), policy.size()),
                  TENGINE_OK);
        x = get_ir_node_input(resize, 0);
        given = get_ir_node_input(resize, has_scales ? 2 : 3);
    }
    Ints sizes(int height, int width)
    {
        x->dims[0] = height;
        x->dims[1] = width;
        resize_axis axes[MAX_SHAPE_DIM_NUM];
        EXPECT_EQ(resolve_resize(resize, axes), TENGINE_OK) << tengine_error_message();
        return {axes[0].size, axes[1].size};
    }
};

// The scale itself need not be a double: 11 x 22 to 8 x 15 is 15 / 22 * 11 = 7.5, and so 8.
TEST(ResizeDefinition, PoliciesRoundHalvesUp)
{
    constexpr int kMost = 24;
    for (const char* policy : {"not_larger", "not_smaller"}) {
        Resolved node(false, policy);
        for (int height = 1; height <= kMost; ++height)
            for (int width = 1; width <= kMost; ++width)
                for (int64_t tall = 0; tall <= kMost; ++tall)
                    for (int64_t wide = 1; wide <= kMost; ++wide) {
                        node.given->i64[0] = tall;
                        node.given->i64[1] = wide;
                        const auto axes = size_axes({height, width}, {tall, wide}, policy);
                        const Ints wanted = {axes[0].size, axes[1].size};
                        ASSERT_EQ(node.sizes(height, width), wanted)
                            << policy << ": " << height << "x" << width << " to " << tall << "x"
                            << wide;
                    }
    }
}

// Returns the integer part of the float next to `product`.
int64_t floor_of(double product)
{
    return static_cast<int64_t>(static_cast<float>(product));
}

// The product is a float, as in ONNX's own shape inference: 0.7f * 10 is 7, although exactly it is
// slightly less. Products with eighths are exact.
TEST(ResizeDefinition, ScalesAreRoundedDown)
{
    Resolved node(true, "stretch");
    for (const int64_t below : {8, 10})
        for (int64_t above = 1; above <= 50; ++above) {
            const float scale = static_cast<float>(above) / static_cast<float>(below);
            node.given->f32[0] = scale;
            node.given->f32[1] = 1;
            for (int dim = 1; dim <= 600; ++dim)
                ASSERT_EQ(node.sizes(dim, 3),
                          (Ints{below == 8 ? above * dim / 8 : floor_of(dim * double{scale}), 3}))
                    << dim << " by " << above << "/" << below;
        }
}

}  // namespace
}  // namespace tengine::test

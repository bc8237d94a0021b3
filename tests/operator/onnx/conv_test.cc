// SPDX-License-Identifier: Apache-2.0
// Convolutions against their definition, on shapes and types the ONNX suite leaves out; and
// refusals of shape inference.
#include <random>

#include "constant_graph.h"
#include "operator/onnx/window.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

using cpu::BFloat16;
using cpu::Half;

using Ints = std::vector<int64_t>;

void set(node* node, const char* name, const Ints& values)
{
    ASSERT_EQ(set_node_ints(node, name, values.data(), static_cast<int>(values.size())), 0);
}

// Small whole numbers: sums are exact in every type.
template <class T>
std::vector<T> numbers(int64_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<T> values(static_cast<size_t>(count));
    for (T& value : values)
        value = static_cast<T>(static_cast<int>(random() % 7) - 3);
    return values;
}

int64_t product(const std::vector<int>& dims)
{
    int64_t result = 1;
    for (const int dim : dims)
        result *= dim;
    return result;
}

// A convolution over two spatial axes; a first axis of size 1 means only one.
struct Case
{
    int batch, channels, height, width;
    int filters, kernel_height, kernel_width;
    int group;
    Ints strides, dilations, pads;
};

std::vector<int> input_dims(const Case& c)
{
    return {c.batch, c.channels, c.height, c.width};
}

int extent(int kernel, int64_t dilation)
{
    return (kernel - 1) * static_cast<int>(dilation) + 1;
}

// Calls body(n, m, c, ky, kx, oy, ox, iy, ix) for all matching elements of a Conv: input coordinate
// = output coordinate * stride + k * dilation - pad.
template <class Body>
void for_each_product(const Case& c, int rows, int columns, int input_rows, int input_columns,
                      const Body& body)
{
    for (int ky = 0; ky < c.kernel_height; ++ky)
        for (int kx = 0; kx < c.kernel_width; ++kx)
            for (int oy = 0; oy < rows; ++oy)
                for (int ox = 0; ox < columns; ++ox) {
                    const int64_t iy = oy * c.strides[0] + ky * c.dilations[0] - c.pads[0];
                    const int64_t ix = ox * c.strides[1] + kx * c.dilations[1] - c.pads[1];
                    if (iy >= 0 && iy < input_rows && ix >= 0 && ix < input_columns)
                        body(ky * c.kernel_width + kx, oy * columns + ox, iy * input_columns + ix);
                }
}

int forward_size(int input, int kernel, int64_t stride, int64_t dilation, int64_t pads)
{
    return static_cast<int>((input + pads - extent(kernel, dilation)) / stride) + 1;
}

const std::vector<Case> kCases = {
    {1, 1, 5, 5, 1, 3, 3, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {2, 3, 7, 9, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {1, 4, 8, 8, 6, 3, 5, 2, {2, 1}, {1, 2}, {2, 3, 0, 1}},
    {1, 6, 13, 7, 6, 3, 3, 6, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {1, 2, 1, 300, 3, 1, 7, 1, {1, 3}, {1, 4}, {0, 9, 0, 2}},
    {1, 5, 4, 1, 2, 1, 1, 1, {3, 1}, {1, 1}, {0, 0, 0, 0}},
    {1, 2, 6, 6, 2, 2, 2, 1, {4, 5}, {3, 3}, {5, 4, 3, 6}},
    {0, 2, 6, 6, 2, 2, 2, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},
};

void set_window(node* node, const Case& c)
{
    set(node, "strides", c.strides);
    set(node, "dilations", c.dilations);
    set(node, "pads", c.pads);
    ASSERT_EQ(set_node_int(node, "group", c.group), 0);
}

template <class T>
class FloatConv : public testing::Test
{
};
using Floats = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(FloatConv, Floats);

TYPED_TEST(FloatConv, ForwardIsItsDefinition)
{
    for (size_t number = 0; number < kCases.size(); ++number) {
        SCOPED_TRACE(number);
        const Case& c = kCases[number];
        const int group_channels = c.channels / c.group, group_filters = c.filters / c.group;
        const std::vector<int> weight_dims = {c.filters, group_channels, c.kernel_height,
                                              c.kernel_width};
        const auto x = numbers<TypeParam>(product(input_dims(c)), 1);
        const auto w = numbers<TypeParam>(product(weight_dims), 2);
        const auto bias = numbers<TypeParam>(c.filters, 3);
        ConstantGraph graph;
        graph.input("x", input_dims(c), x);
        graph.input("w", weight_dims, w);
        graph.input("bias", {c.filters}, bias);
        set_window(graph.add("Conv", {"x", "w", "bias"}), c);
        const tensor* y = graph.evaluate();
        ASSERT_NE(y, nullptr);

        const int rows = forward_size(c.height, c.kernel_height, c.strides[0], c.dilations[0],
                                      c.pads[0] + c.pads[2]);
        const int columns = forward_size(c.width, c.kernel_width, c.strides[1], c.dilations[1],
                                         c.pads[1] + c.pads[3]);
        ASSERT_EQ(dims_of(y), (std::vector<int>{c.batch, c.filters, rows, columns}));
        std::vector<float> expected(static_cast<size_t>(y->elem_num));
        for (int n = 0; n < c.batch; ++n)
            for (int m = 0; m < c.filters; ++m) {
                float* plane = expected.data() + (n * c.filters + m) * rows * columns;
                std::fill_n(plane, rows * columns, static_cast<float>(bias[size_t(m)]));
                for (int k = 0; k < group_channels; ++k)
                    for_each_product(
                        c, rows, columns, c.height, c.width,
                        [&](int64_t tap, int64_t out, int64_t in) {
                            const int64_t channel =
                                n * c.channels + m / group_filters * group_channels + k;
                            plane[out] += float(x[size_t(channel * c.height * c.width + in)]) *
                                          float(w[size_t((m * group_channels + k) *
                                                             c.kernel_height * c.kernel_width +
                                                         tap)]);
                        });
            }
        EXPECT_EQ(numbers_of(y), expected);
    }
}

// Input and output exchange their roles: every input value is added to the outputs that a forward
// convolution with the same window would have read.
TYPED_TEST(FloatConv, TransposedIsItsDefinition)
{
    for (size_t number = 0; number < kCases.size(); ++number) {
        SCOPED_TRACE(number);
        const Case& c = kCases[number];
        const int group_channels = c.channels / c.group, group_filters = c.filters / c.group;
        const std::vector<int> weight_dims = {c.channels, group_filters, c.kernel_height,
                                              c.kernel_width};
        const auto x = numbers<TypeParam>(product(input_dims(c)), 1);
        const auto w = numbers<TypeParam>(product(weight_dims), 2);
        ConstantGraph graph;
        graph.input("x", input_dims(c), x);
        graph.input("w", weight_dims, w);
        node* node = graph.add("ConvTranspose", {"x", "w"});
        set_window(node, c);
        set(node, "output_padding", {1, 2});
        const tensor* y = graph.evaluate();
        ASSERT_NE(y, nullptr);

        const int rows = static_cast<int>((c.height - 1) * c.strides[0] - c.pads[0] - c.pads[2]) +
                         extent(c.kernel_height, c.dilations[0]) + 1;
        const int columns = static_cast<int>((c.width - 1) * c.strides[1] - c.pads[1] - c.pads[3]) +
                            extent(c.kernel_width, c.dilations[1]) + 2;
        ASSERT_EQ(dims_of(y), (std::vector<int>{c.batch, c.filters, rows, columns}));
        std::vector<float> expected(static_cast<size_t>(y->elem_num));
        for (int n = 0; n < c.batch; ++n)
            for (int k = 0; k < c.channels; ++k)
                for (int m = 0; m < group_filters; ++m)
                    for_each_product(c, c.height, c.width, rows, columns,
                                     [&](int64_t tap, int64_t in, int64_t out) {
                                         const int64_t filter =
                                             n * c.filters + k / group_channels * group_filters + m;
                                         const int64_t channel = n * c.channels + k;
                                         expected[size_t(filter * rows * columns + out)] +=
                                             float(x[size_t(channel * c.height * c.width + in)]) *
                                             float(w[size_t((k * group_filters + m) *
                                                                c.kernel_height * c.kernel_width +
                                                            tap)]);
                                     });
        EXPECT_EQ(numbers_of(y), expected);
    }
}

TEST(Conv, FourSpatialAxes)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 2, 2, 2, 2}, std::vector<float>(16, 1));
    graph.input<float>("w", {1, 1, 2, 2, 2, 2}, std::vector<float>(16, 2));
    set(graph.add("Conv", {"x", "w"}), "pads", {0, 0, 0, 1, 0, 0, 0, 0});
    const tensor* y = graph.evaluate();
    EXPECT_EQ(dims_of(y), (std::vector<int>{1, 1, 1, 1, 1, 2}));
    EXPECT_EQ(numbers_of(y), (std::vector<float>{16, 32}));
}

TEST(Conv, QuantizedPerChannel)
{
    ConstantGraph graph;
    graph.input<int8_t>("x", {1, 1, 1, 3}, {-5, 0, 7});
    graph.input<float>("x_scale", {}, {0.5f});
    graph.input<int8_t>("x_zero", {}, {1});
    graph.input<int8_t>("w", {2, 1, 1, 2}, {1, 2, 3, -4});
    graph.input<float>("w_scale", {2}, {2, 0.25f});
    graph.input<int8_t>("w_zero", {2}, {0, 1});
    graph.input<float>("y_scale", {}, {0.5f});
    graph.input<uint8_t>("y_zero", {}, {10});
    graph.input<int32_t>("bias", {2}, {4, 100});
    node* node = graph.add("QLinearConv", {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero",
                                           "y_scale", "y_zero", "bias"});
    set(node, "pads", {0, 0, 0, 1});
    // Sums: x - 1 = -6 -1 6, padding 0; w = {1 2}, {2 -5} less their zero points. Channel 0: -8+4,
    // 11+4, 6+4, times 2; channel 1: -7+100, -32+100, 12+100, times 0.25.
    EXPECT_EQ(values_of<uint8_t>(graph.evaluate()), (std::vector<uint8_t>{2, 40, 30, 33, 27, 38}));
}

TEST(Conv, IntegerWithZeroPoints)
{
    ConstantGraph graph;
    graph.input<uint8_t>("x", {1, 1, 3}, {0, 128, 255});
    graph.input<int8_t>("w", {1, 1, 2}, {-128, 127});
    graph.input<uint8_t>("x_zero", {}, {128});
    graph.add("ConvInteger", {"x", "w", "x_zero"});
    EXPECT_EQ(values_of<int32_t>(graph.evaluate()), (std::vector<int32_t>{16384, 16129}));
}

TEST(Conv, MultiplyAccumulates)
{
    ConstantGraph graph;
    graph.input("x", {1, 4, 8, 8}, std::vector<float>(256));
    graph.input("w", {6, 2, 3, 3}, std::vector<float>(108));
    node* node = graph.add("Conv", {"x", "w"});
    set_node_int(node, "group", 2);
    ASSERT_EQ(node->op.infer_shape(node), 0);
    EXPECT_EQ(get_ir_node_macs(node), 6 * 6 * 6 * 2 * 9);
}

struct Refusal
{
    const char* name;
    Ints values;
    std::vector<int> x, w;
    int code;
    const char* part;
};

TEST(Conv, RefusesWhatDoesNotFit)
{
    constexpr int64_t kHuge = INT32_MAX;
    const Refusal refusals[] = {
        {"strides",
         {1},
         {1, 3, 8, 8},
         {4, 3, 3, 3},
         TENGINE_EINVAL,
         "strides has 1 values, expected 2"},
        {"pads",
         {1, 1},
         {1, 3, 8, 8},
         {4, 3, 3, 3},
         TENGINE_EINVAL,
         "pads has 2 values, expected 4"},
        {"kernel_shape", {3, 5}, {1, 3, 8, 8}, {4, 3, 3, 3}, TENGINE_EINVAL, "kernel_shape says 5"},
        {"strides", {1, 1}, {1, 3, 2, 8}, {4, 3, 3, 3}, TENGINE_EINVAL, "no window of extent 3"},
        {"dilations", {kHuge, 1}, {1, 3, 8, 8}, {4, 3, 3, 3}, TENGINE_EINVAL, "no window"},
        {"pads", {kHuge, 0, kHuge, 0}, {1, 3, 8, 8}, {4, 3, 3, 3}, TENGINE_EINVAL, "no window"},
        {"strides", {1, 1}, {1, 3, 8, 8}, {4, 2, 3, 3}, TENGINE_EINVAL, "2 input channels"},
        {"strides", {1, 1}, {1, 3, 8}, {4, 3, 3, 3}, TENGINE_EINVAL, "equal ranks"},
        {"strides", {1, 1}, {1, 3, 8, 8}, {4, 3, 0, 3}, TENGINE_EINVAL, "kernel is 0"},
    };
    for (const Refusal& refusal : refusals) {
        SCOPED_TRACE(refusal.part);
        ConstantGraph graph;
        graph.input("x", refusal.x, std::vector<float>(size_t(product(refusal.x))));
        graph.input("w", refusal.w, std::vector<float>(size_t(product(refusal.w))));
        set(graph.add("Conv", {"x", "w"}), refusal.name, refusal.values);
        graph.expect_failure(refusal.code, refusal.part);
    }
}

TEST(Conv, RefusesOtherTypes)
{
    ConstantGraph graph;
    graph.input<int32_t>("x", {1, 1, 2}, {1, 2});
    graph.input<int32_t>("w", {1, 1, 1}, {1});
    graph.add("Conv", {"x", "w"});
    graph.expect_failure(TENGINE_EDTYPE, "is int32, expected one of: fp32 fp16");
}

TEST(ConvTranspose, OutputShapeMayExceedWhatIsCovered)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 2}, {1, 2});
    graph.input<float>("w", {1, 1, 2}, {1, 10});
    node* node = graph.add("ConvTranspose", {"x", "w"});
    set(node, "strides", {2});
    set(node, "output_shape", {6});
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{1, 10, 2, 20, 0, 0}));
}

TEST(ConvTranspose, PadsThatLeaveNothing)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 2}, {1, 2});
    graph.input<float>("w", {1, 1, 2}, {1, 10});
    set(graph.add("ConvTranspose", {"x", "w"}), "pads", {2, 1});
    graph.expect_failure(TENGINE_EINVAL, "leaves nothing of an output of 3");
}

}  // namespace
}  // namespace tengine::test

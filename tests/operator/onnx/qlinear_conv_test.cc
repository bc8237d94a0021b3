// SPDX-License-Identifier: Apache-2.0
// QLinearConv and QLinearMatMul of all types against exact arithmetic, sums beyond int32, and the
// values that shape inference refuses.
#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

struct ConvCase
{
    int channels, height, width;
    int filters, kernel_height, kernel_width;
    int group;
    std::vector<int64_t> strides, dilations, pads;
    bool per_channel, with_bias;
};

const std::vector<ConvCase> kConvCases = {
    {1, 1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, false, false},
    {3, 7, 9, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, true},
    {4, 8, 8, 6, 3, 5, 2, {2, 1}, {1, 2}, {2, 3, 0, 1}, false, true},
    {6, 13, 7, 6, 3, 3, 6, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, false},
    {2, 1, 300, 3, 1, 7, 1, {1, 3}, {1, 4}, {0, 9, 0, 2}, false, true},
    {17, 5, 5, 9, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, true, true},
};

constexpr float kInputScale = 0.021f, kResultScale = 0.93f;

// Computes one output element in integers.
template <class X, class W>
int64_t convolve(const ConvCase& c, const std::vector<X>& x, int x_zero, const std::vector<W>& w,
                 int w_zero, int filter, int row, int column)
{
    const int group_channels = c.channels / c.group;
    const int first = filter / (c.filters / c.group) * group_channels;
    int64_t sum = 0;
    for (int channel = 0; channel < group_channels; ++channel)
        for (int ky = 0; ky < c.kernel_height; ++ky)
            for (int kx = 0; kx < c.kernel_width; ++kx) {
                const int64_t iy = row * c.strides[0] + ky * c.dilations[0] - c.pads[0];
                const int64_t ix = column * c.strides[1] + kx * c.dilations[1] - c.pads[1];
                if (iy < 0 || iy >= c.height || ix < 0 || ix >= c.width) continue;
                const int64_t from = ((first + channel) * c.height + iy) * c.width + ix;
                const int tap =
                    ((filter * group_channels + channel) * c.kernel_height + ky) * c.kernel_width +
                    kx;
                sum += (x[static_cast<size_t>(from)] - x_zero) *
                       (w[static_cast<size_t>(tap)] - w_zero);
            }
    return sum;
}

template <class X, class W, class Y>
void check_conv(const ConvCase& c, int x_zero, int w_zero, int y_zero)
{
    const int weights = c.filters * c.channels / c.group * c.kernel_height * c.kernel_width;
    const auto x = random_bytes<X>(static_cast<size_t>(c.channels * c.height * c.width), 1);
    const auto w = random_bytes<W>(static_cast<size_t>(weights), 2);
    const int scale_num = c.per_channel ? c.filters : 1;
    std::vector<float> w_scale;
    std::vector<int32_t> bias;
    for (int i = 0; i < scale_num; ++i)
        w_scale.push_back(0.013f + 0.0017f * static_cast<float>(i));
    for (int i = 0; i < c.filters; ++i)
        bias.push_back(1009 * (i - 2));

    ConstantGraph graph;
    add_tensor<X>(&graph, "x", {1, c.channels, c.height, c.width}, x, kInputScale, x_zero);
    graph.input<W>("w", {c.filters, c.channels / c.group, c.kernel_height, c.kernel_width}, w);
    graph.input<float>("w_scale", {scale_num}, w_scale);
    graph.input<W>("w_zero", {}, {static_cast<W>(w_zero)});
    graph.input<int32_t>("bias", {c.filters}, bias);
    add_result<Y>(&graph, kResultScale, y_zero);
    node* node = graph.add("QLinearConv", {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero",
                                           "y_scale", "y_zero", c.with_bias ? "bias" : ""});
    set_node_ints(node, "strides", c.strides.data(), 2);
    set_node_ints(node, "dilations", c.dilations.data(), 2);
    set_node_ints(node, "pads", c.pads.data(), 4);
    set_node_int(node, "group", c.group);
    const tensor* y = graph.evaluate();
    ASSERT_NE(y, nullptr);
    const auto values = values_of<Y>(y);
    const int columns = y->dims[3], plane = y->dims[2] * columns;
    for (int i = 0; i < c.filters * plane; ++i) {
        const size_t filter = static_cast<size_t>(i / plane);
        const int64_t sum =
            convolve(c, x, x_zero, w, w_zero, i / plane, i % plane / columns, i % columns) +
            (c.with_bias ? bias[filter] : 0);
        const long double real = static_cast<long double>(sum) * kInputScale *
                                 w_scale[c.per_channel ? filter : 0] / kResultScale;
        ASSERT_EQ(values[static_cast<size_t>(i)], quantize<Y>(real, y_zero)) << i;
    }
}

TEST(QLinearConv, IsItsDefinition)
{
    for (size_t number = 0; number < kConvCases.size(); ++number) {
        SCOPED_TRACE(number);
        const ConvCase& c = kConvCases[number];
        check_conv<int8_t, int8_t, int8_t>(c, -128, 0, 127);
        check_conv<int8_t, int8_t, uint8_t>(c, 127, 0, 0);
        check_conv<int8_t, uint8_t, int8_t>(c, 5, 255, -128);
        check_conv<int8_t, uint8_t, uint8_t>(c, 0, 128, 255);
        check_conv<uint8_t, int8_t, int8_t>(c, 0, -128, 0);
        check_conv<uint8_t, int8_t, uint8_t>(c, 255, 0, 128);
        check_conv<uint8_t, uint8_t, int8_t>(c, 128, 0, -1);
        check_conv<uint8_t, uint8_t, uint8_t>(c, 117, 128, 1);
    }
}

// 70000 products of 255 * 255 exceed int32; with such a scale their sum is still in the range.
TEST(QLinearConv, SumsBeyondThirtyTwoBitsSaturate)
{
    constexpr int kChannels = 70000;
    const auto evaluate = [](float y_scale, uint8_t weight) {
        ConstantGraph graph;
        add_tensor<uint8_t>(&graph, "x", {1, kChannels, 1}, std::vector<uint8_t>(kChannels, 255), 1,
                            0);
        add_tensor<uint8_t>(&graph, "w", {1, kChannels, 1}, std::vector<uint8_t>(kChannels, weight),
                            1, 0);
        add_result<uint8_t>(&graph, y_scale, 0);
        graph.add("QLinearConv",
                  {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"});
        return values_of<uint8_t>(graph.evaluate());
    };
    EXPECT_EQ(evaluate(17850000, 100), std::vector<uint8_t>{100});
    EXPECT_EQ(evaluate(16777216, 255), std::vector<uint8_t>{128});  // 2^31 - 1 steps of 2^-24
}

TEST(QLinearConv, ScalesOfZeroLeaveTheZeroPoint)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "x", {1, 1, 2}, {-128, 127}, 1, 0);
    graph.input<int8_t>("w", {2, 1, 1}, {127, 1});
    graph.input<float>("w_scale", {2}, {0, 1});
    graph.input<int8_t>("w_zero", {2}, {0, 0});
    add_result<int8_t>(&graph, 1, 7);
    graph.add("QLinearConv",
              {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"});
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{7, 7, -121, 127}));
}

TEST(QLinearConv, RefusesWhatDoesNotFit)
{
    const auto refuse = [](size_t index, const char* name, int code, const char* part) {
        ConstantGraph graph;
        add_tensor<int8_t>(&graph, "x", {1, 1, 2}, {1, 2}, 1, 0);
        add_tensor<int8_t>(&graph, "w", {3, 1, 1}, {1, 2, 3}, 1, 0);
        add_result<int8_t>(&graph, 1, 0);
        graph.input<float>("infinite", {3}, {1, INFINITY, 1});
        graph.input<float>("none", {}, {0});
        graph.input<float>("two", {2}, {1, 1});
        graph.input<uint8_t>("other", {}, {0});
        std::vector<std::string> inputs = {"x",       "x_scale", "x_zero",  "w",
                                           "w_scale", "w_zero",  "y_scale", "y_zero"};
        inputs[index] = name;
        graph.add("QLinearConv", inputs);
        graph.expect_failure(code, part);
    };
    refuse(4, "infinite", TENGINE_ERANGE,
           "value 1 of scale 'infinite' is inf, expected a number of 0 or more");
    refuse(4, "two", TENGINE_EINVAL,
           "'two' has rank 1 and 2 values, expected 1 value or a list of 3");
    refuse(6, "none", TENGINE_ERANGE, "scale 'none' is 0, expected a positive number");
    refuse(2, "other", TENGINE_EDTYPE, "input 2 'other' is uint8, expected one of: int8");
}

template <class A, class B, class Y>
void check_matmul()
{
    constexpr int kBatch = 2, kRows = 3, kDepth = 19, kColumns = 131;
    const auto a = random_bytes<A>(kBatch * kRows * kDepth, 3);
    const auto b = random_bytes<B>(kDepth * kColumns, 4);
    std::vector<float> b_scale(kColumns);
    for (int j = 0; j < kColumns; ++j)
        b_scale[static_cast<size_t>(j)] = 0.02f + 1e-4f * static_cast<float>(j);
    ConstantGraph graph;
    add_tensor<A>(&graph, "a", {kBatch, kRows, kDepth}, a, 0.05f, 11);
    graph.input<B>("b", {kDepth, kColumns}, b);
    graph.input<float>("b_scale", {kColumns}, b_scale);
    graph.input<B>("b_zero", {}, {3});
    add_result<Y>(&graph, 0.71f, 9);
    graph.add("QLinearMatMul",
              {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
    const auto y = values_of<Y>(graph.evaluate());
    ASSERT_EQ(y.size(), static_cast<size_t>(kBatch * kRows * kColumns));
    for (size_t i = 0; i < y.size(); ++i) {
        const size_t row = i / kColumns, column = i % kColumns;
        int64_t sum = 0;
        for (size_t k = 0; k < kDepth; ++k)
            sum += (a[row * kDepth + k] - 11) * (b[k * kColumns + column] - 3);
        const long double real = static_cast<long double>(sum) * 0.05f * b_scale[column] / 0.71f;
        ASSERT_EQ(y[i], quantize<Y>(real, 9)) << i;
    }
}

TEST(QLinearMatMul, OfEveryTypes)
{
    check_matmul<int8_t, int8_t, int8_t>();
    check_matmul<int8_t, int8_t, uint8_t>();
    check_matmul<int8_t, uint8_t, int8_t>();
    check_matmul<int8_t, uint8_t, uint8_t>();
    check_matmul<uint8_t, int8_t, int8_t>();
    check_matmul<uint8_t, int8_t, uint8_t>();
    check_matmul<uint8_t, uint8_t, int8_t>();
    check_matmul<uint8_t, uint8_t, uint8_t>();
}

// Lists of scales for each matrix of a stack.
TEST(QLinearMatMul, ScalesPerMatrix)
{
    ConstantGraph graph;
    graph.input<int8_t>("a", {2, 1, 1}, {10, 10});
    graph.input<float>("a_scale", {2, 1, 1}, {1, 2});
    graph.input<int8_t>("a_zero", {}, {0});
    graph.input<int8_t>("b", {2, 1, 2}, {1, 2, 1, 2});
    graph.input<float>("b_scale", {2, 1, 2}, {1, 1, 0.5f, 0.25f});
    graph.input<int8_t>("b_zero", {}, {0});
    add_result<int8_t>(&graph, 1, 0);
    graph.add("QLinearMatMul",
              {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{10, 20, 10, 10}));
}

}  // namespace
}  // namespace tengine::test

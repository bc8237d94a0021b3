// SPDX-License-Identifier: Apache-2.0
// QLinearAveragePool and QLinearGlobalAveragePool against their definition, and refusals of shape
// inference.
#include "operator/param.h"
#include "quantized_graph.h"

namespace tengine::test {
namespace {

constexpr const char* kPool = "com.microsoft.QLinearAveragePool";
constexpr const char* kGlobalPool = "com.microsoft.QLinearGlobalAveragePool";

struct PoolCase
{
    int height, width;
    std::vector<int64_t> kernel, strides, dilations, pads;
    bool ceil_mode, count_padding;
};

const std::vector<PoolCase> kPoolCases = {
    {5, 5, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}, false, false},
    {7, 9, {3, 2}, {2, 1}, {1, 1}, {1, 1, 1, 0}, false, false},
    {7, 9, {3, 2}, {2, 1}, {1, 1}, {1, 1, 1, 0}, false, true},
    {8, 6, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, false},
    {8, 6, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, true},
    {4, 300, {2, 5}, {1, 2}, {2, 3}, {1, 4, 0, 2}, false, false},
    {2, 2, {4, 4}, {1, 1}, {1, 1}, {3, 3, 3, 3}, false, false},
};

// Walks one window along an axis: calls body(input position, in padding).
template <class Body>
void for_each_tap(const PoolCase& c, int axis, int output, int size, const Body& body)
{
    const size_t i = static_cast<size_t>(axis);
    for (int64_t k = 0; k < c.kernel[i]; ++k) {
        const int64_t at = output * c.strides[i] + k * c.dilations[i] - c.pads[i];
        if (at >= size + c.pads[i + 2]) continue;  // beyond the padding: never counted
        body(at, at < 0 || at >= size);
    }
}

template <class X, class Y>
void check_pool(const PoolCase& c, float x_scale, int x_zero, float y_scale, int y_zero)
{
    const auto x = random_bytes<X>(static_cast<size_t>(2 * c.height * c.width), 5);
    ConstantGraph graph;
    add_tensor(&graph, "x", {1, 2, c.height, c.width}, x, x_scale, x_zero);
    add_result<Y>(&graph, y_scale, y_zero);
    node* node = graph.add(kPool, {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
    set_node_ints(node, "kernel_shape", c.kernel.data(), 2);
    set_node_ints(node, "strides", c.strides.data(), 2);
    set_node_ints(node, "dilations", c.dilations.data(), 2);
    set_node_ints(node, "pads", c.pads.data(), 4);
    set_node_int(node, "ceil_mode", c.ceil_mode);
    set_node_int(node, "count_include_pad", c.count_padding);
    const tensor* y = graph.evaluate();
    ASSERT_NE(y, nullptr);
    const auto values = values_of<Y>(y);
    const int rows = y->dims[2], columns = y->dims[3];
    for (int i = 0; i < 2 * rows * columns; ++i) {
        const int channel = i / (rows * columns), row = i / columns % rows, column = i % columns;
        int64_t sum = 0, count = 0;
        for_each_tap(c, 0, row, c.height, [&](int64_t iy, bool above) {
            for_each_tap(c, 1, column, c.width, [&](int64_t ix, bool beside) {
                if (above || beside) {
                    count += c.count_padding;
                } else {
                    ++count;
                    sum +=
                        x[static_cast<size_t>((channel * c.height + iy) * c.width + ix)] - x_zero;
                }
            });
        });
        const long double mean =
            count ? static_cast<long double>(sum) * x_scale / static_cast<long double>(count) : 0;
        ASSERT_EQ(values[static_cast<size_t>(i)], quantize<Y>(mean / y_scale, y_zero)) << i;
    }
}

TEST(QLinearAveragePool, IsItsDefinition)
{
    for (size_t number = 0; number < kPoolCases.size(); ++number) {
        SCOPED_TRACE(number);
        check_pool<int8_t, int8_t>(kPoolCases[number], 0.0371f, -128, 0.0293f, 127);
        check_pool<int8_t, uint8_t>(kPoolCases[number], 0.0371f, 127, 0.0293f, 0);
        check_pool<uint8_t, int8_t>(kPoolCases[number], 0.0371f, 0, 0.0293f, -128);
        check_pool<uint8_t, uint8_t>(kPoolCases[number], 0.0371f, 255, 0.0293f, 255);
    }
}

TEST(QLinearAveragePool, TiesGoToEven)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "x", {1, 1, 1, 8}, {0, 1, 1, 2, 2, 3, 0, -1}, 1, 0);
    add_result<int8_t>(&graph, 1, 0);
    node* node = graph.add(kPool, {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
    const int64_t window[] = {1, 2};
    set_node_ints(node, "kernel_shape", window, 2);
    set_node_ints(node, "strides", window, 2);
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{0, 2, 2, 0}));
}

TEST(QLinearAveragePool, RefusesWhatDoesNotFit)
{
    const auto refuse = [](const char* attribute, int64_t value, const std::vector<int64_t>& kernel,
                           int code, const char* part) {
        ConstantGraph graph;
        add_tensor<int8_t>(&graph, "x", {1, 1, 4, 4}, std::vector<int8_t>(16), 1, 0);
        add_result<int8_t>(&graph, 1, 0);
        node* node = graph.add(kPool, {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
        set_node_ints(node, "kernel_shape", kernel.data(), static_cast<int>(kernel.size()));
        set_node_int(node, attribute, value);
        graph.expect_failure(code, part);
    };
    refuse("channels_last", 1, {2, 2, 2, 2, 2, 2, 2}, TENGINE_EINVAL,
           "the rank is 9, expected 3 to 8");
    refuse("ceil_mode", 0, {2}, TENGINE_EINVAL, "kernel_shape has 1 values, expected 2");
    refuse("ceil_mode", 0, {9, 9}, TENGINE_EINVAL, "no window of extent 9");
}

TEST(QLinearGlobalAveragePool, IsItsDefinition)
{
    const auto check = [](auto input_type, auto output_type) {
        using X = decltype(input_type);
        using Y = decltype(output_type);
        const auto x = random_bytes<X>(3 * 35, 9);
        ConstantGraph graph;
        add_tensor(&graph, "x", {1, 3, 5, 7}, x, 0.11f, 6);
        add_result<Y>(&graph, 0.07f, 60);
        graph.add(kGlobalPool, {"x", "x_scale", "x_zero", "y_scale", "y_zero"});
        const tensor* y = graph.evaluate();
        ASSERT_EQ(dims_of(y), (std::vector<int>{1, 3, 1, 1}));
        for (size_t c = 0; c < 3; ++c) {
            long double sum = 0;
            for (size_t i = 0; i < 35; ++i)
                sum += x[c * 35 + i] - 6;
            EXPECT_EQ(values_of<Y>(y)[c], quantize<Y>(sum * 0.11f / 35 / 0.07f, 60));
        }
    };
    check(int8_t{}, int8_t{});
    check(int8_t{}, uint8_t{});
    check(uint8_t{}, int8_t{});
    check(uint8_t{}, uint8_t{});
}

TEST(QLinearGlobalAveragePool, RefusesWhatDoesNotFit)
{
    ConstantGraph graph;
    add_tensor<int8_t>(&graph, "x", {1, 2}, {1, 2}, 1, 0);
    add_result<int8_t>(&graph, 1, 0);
    set_node_int(graph.add(kGlobalPool, {"x", "x_scale", "x_zero", "y_scale", "y_zero"}),
                 "channels_last", 1);
    graph.expect_failure(TENGINE_EINVAL, "the rank is 2, expected 3 to 8");
}

}  // namespace
}  // namespace tengine::test

// SPDX-License-Identifier: Apache-2.0
// Pools against their definition on shapes and types the ONNX suite leaves out, MaxUnpool, and
// refusals of shape inference.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "constant_graph.h"
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

template <class T>
std::vector<T> numbers(int count)
{
    std::vector<T> values;
    for (int i = 0; i < count; ++i)
        values.push_back(static_cast<T>(i * 37 % 101));
    return values;
}

// One axis: the windows of a list.
struct Case
{
    int width, kernel;
    int64_t stride, dilation, begin, end;
    bool ceil;
    int outputs;
};

const Case kCases[] = {
    {10, 3, 1, 1, 0, 0, false, 8},
    {10, 3, 2, 1, 1, 1, false, 5},
    {10, 3, 2, 2, 0, 1, true, 4},
    {300, 4, 2, 3, 3, 2, false, 148},
    {2, 3, 2, 1, 0, 0, true, 1},
    // The fourth window would start in the padding.
    {5, 2, 2, 1, 0, 1, true, 3},
};

void set_window(node* node, const Case& c)
{
    set(node, "kernel_shape", {c.kernel});
    set(node, "strides", {c.stride});
    set(node, "dilations", {c.dilation});
    set(node, "pads", {c.begin, c.end});
    ASSERT_EQ(set_node_int(node, "ceil_mode", c.ceil), 0);
}

struct Window
{
    std::vector<double> values;
    int positions = 0;  // including those in the padding
};

template <class T>
Window look(const Case& c, const T* x, int output)
{
    Window window;
    for (int k = 0; k < c.kernel; ++k) {
        const int64_t at = output * c.stride + k * c.dilation - c.begin;
        if (at < c.width + c.end) ++window.positions;
        if (at >= 0 && at < c.width) window.values.push_back(static_cast<float>(x[at]));
    }
    return window;
}

double sum_of(const std::vector<double>& values, int power)
{
    double sum = 0;
    for (const double value : values)
        sum += std::pow(std::fabs(value), power);
    return sum;
}

template <class T>
class FloatPool : public testing::Test
{
};
using Floats = testing::Types<float, Half, BFloat16, double>;
TYPED_TEST_SUITE(FloatPool, Floats);

// Pools two channels with `op` and compares each window with `define`.
template <class T, class Configure, class Define>
void check_pool(const char* op, const Configure& configure, const Define& define)
{
    for (const Case& c : kCases) {
        SCOPED_TRACE(testing::Message() << op << " width " << c.width << " kernel " << c.kernel);
        const auto x = numbers<T>(2 * c.width);
        ConstantGraph graph;
        graph.input("x", {1, 2, c.width}, x);
        node* node = graph.add(op, {"x"});
        set_window(node, c);
        configure(node);
        const tensor* y = graph.evaluate();
        ASSERT_EQ(dims_of(y), (std::vector<int>{1, 2, c.outputs}));
        const std::vector<float> results = numbers_of(y);
        for (int i = 0; i < 2 * c.outputs; ++i) {
            const Window window = look(c, x.data() + i / c.outputs * c.width, i % c.outputs);
            const auto expected = static_cast<float>(static_cast<T>(define(window)));
            EXPECT_FLOAT_EQ(results[size_t(i)], expected) << i;
        }
    }
}

TYPED_TEST(FloatPool, IsItsDefinition)
{
    const auto as_is = [](node*) {};
    check_pool<TypeParam>("MaxPool", as_is, [](const Window& window) {
        return *std::max_element(window.values.begin(), window.values.end());
    });
    check_pool<TypeParam>("AveragePool", as_is, [](const Window& window) {
        return sum_of(window.values, 1) / static_cast<double>(window.values.size());
    });
    check_pool<TypeParam>(
        "AveragePool", [](node* node) { set_node_int(node, "count_include_pad", 1); },
        [](const Window& window) { return sum_of(window.values, 1) / window.positions; });
    for (int p = 1; p <= 3; ++p)
        check_pool<TypeParam>(
            "LpPool", [p](node* node) { set_node_int(node, "p", p); },
            [p](const Window& window) { return std::pow(sum_of(window.values, p), 1.0 / p); });
}

TYPED_TEST(FloatPool, WholeChannels)
{
    const std::vector<float> x = {3, -4, 0, 0, 1, 1};
    const auto check = [&](const char* op, int p, std::vector<float> expected) {
        ConstantGraph graph;
        graph.input("x", {1, 3, 1, 2}, std::vector<TypeParam>(x.begin(), x.end()));
        node* node = graph.add(op, {"x"});
        if (p != 0) set_node_int(node, "p", p);
        const tensor* y = graph.evaluate();
        EXPECT_EQ(dims_of(y), (std::vector<int>{1, 3, 1, 1}));
        EXPECT_EQ(numbers_of(y), expected) << op;
    };
    check("GlobalMaxPool", 0, {3, 0, 1});
    check("GlobalAveragePool", 0, {-0.5f, 0, 1});
    check("GlobalLpPool", 1, {7, 0, 2});
    check("GlobalLpPool", 2, {5, 0, static_cast<float>(TypeParam(std::sqrt(2.0f)))});
}

TEST(MaxPool, BytesBelowZero)
{
    ConstantGraph graph;
    graph.input<int8_t>("x", {1, 1, 4}, {-128, -128, -3, -7});
    node* node = graph.add("MaxPool", {"x"});
    set(node, "kernel_shape", {2});
    set(node, "strides", {2});
    EXPECT_EQ(values_of<int8_t>(graph.evaluate()), (std::vector<int8_t>{-128, -3}));
}

TEST(MaxPool, IndicesCountOverTheWholeTensor)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const auto indices = [&](int storage_order) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 2, 2, 3}, {1, 5, 5, 4, 2, 3, -infinity, -infinity, 0, 0, 9, 8});
        node* node = graph.add("MaxPool", {"x"}, {"values", "y"});
        set(node, "kernel_shape", {2, 2});
        set_node_int(node, "storage_order", storage_order);
        return values_of<int64_t>(graph.evaluate());
    };
    EXPECT_EQ(indices(0), (Ints{1, 1, 10, 10}));
    EXPECT_EQ(indices(1), (Ints{2, 2, 9, 9}));
}

TEST(MaxPool, SameUpperIgnoresPads)
{
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 5}, {1, 2, 3, 4, 5});
    node* node = graph.add("MaxPool", {"x"});
    set(node, "kernel_shape", {2});
    set(node, "strides", {2});
    set(node, "pads", {1, 1});
    ASSERT_EQ(set_node_text(node, "auto_pad", "SAME_UPPER", 10), 0);
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{2, 4, 5}));
}

// Windows 2^31 wide are iterated only where they meet the input.
TEST(MaxPool, KernelsMuchLargerThanTheInput)
{
    const int64_t huge = std::numeric_limits<int32_t>::max();
    ConstantGraph graph;
    graph.input<float>("x", {1, 1, 2, 4}, {1, 7, 3, 4, 8, 5, 2, 6});
    node* node = graph.add("MaxPool", {"x"}, {"y", "where"});
    set(node, "kernel_shape", {huge, huge});
    set(node, "strides", {huge, huge});
    set(node, "pads", {huge, huge, huge, huge});
    EXPECT_EQ(numbers_of(graph.evaluate()).back(), 8);
}

TEST(MaxPool, EmptyBatch)
{
    ConstantGraph graph;
    graph.input<float>("x", {0, 3, 4, 4}, {});
    set(graph.add("MaxPool", {"x"}), "kernel_shape", {2, 2});
    EXPECT_EQ(dims_of(graph.evaluate()), (std::vector<int>{0, 3, 3, 3}));
}

TEST(MaxPool, RefusesWhatDoesNotFit)
{
    const auto refuse = [](Ints kernel, const char* list, Ints values, const char* part) {
        ConstantGraph graph;
        graph.input("x", {1, 1, 4, 4}, std::vector<float>(16));
        node* node = graph.add("MaxPool", {"x"});
        set(node, "kernel_shape", kernel);
        set(node, list, values);
        graph.expect_failure(TENGINE_EINVAL, part);
    };
    refuse({5, 5}, "strides", {1, 1}, "no window of extent 5 fits an input of 4");
    refuse({2}, "strides", {1, 1}, "kernel_shape has 1 values, expected 2");
    refuse({2, 2}, "dilations", {1}, "dilations has 1 values");
}

TEST(AveragePool, DilationsAreNewInOpset19)
{
    ConstantGraph graph;
    graph.opset = 18;
    graph.input("x", {1, 1, 4}, std::vector<float>(4));
    const int64_t dilations[] = {2};
    EXPECT_EQ(set_node_ints(graph.add("AveragePool", {"x"}), "dilations", dilations, 1),
              TENGINE_ENOENT);
}

TEST(MaxUnpool, RefusesIndicesOutside)
{
    for (const int64_t index : {int64_t{-1}, int64_t{4}}) {
        ConstantGraph graph;
        graph.input<float>("x", {1, 1, 2}, {1, 2});
        graph.input<int64_t>("indices", {1, 1, 2}, {0, index});
        node* node = graph.add("MaxUnpool", {"x", "indices"});
        set(node, "kernel_shape", {2});
        set(node, "strides", {2});
        graph.expect_failure(TENGINE_ERANGE, "at position 1 is outside");
    }
}

TEST(MaxUnpool, Halves)
{
    ConstantGraph graph;
    graph.input<Half>("x", {1, 1, 2}, {1.5f, 2});
    graph.input<int64_t>("indices", {1, 1, 2}, {1, 2});
    node* node = graph.add("MaxUnpool", {"x", "indices"});
    set(node, "kernel_shape", {2});
    set(node, "strides", {2});
    EXPECT_EQ(numbers_of(graph.evaluate()), (std::vector<float>{0, 1.5f, 2, 0}));
}

}  // namespace
}  // namespace tengine::test

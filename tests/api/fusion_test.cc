// SPDX-License-Identifier: Apache-2.0
// Nodes that a step computes on the way, and tensors with channels last between steps: a graph
// gives the same numbers, bit for bit, as with every result as an output, where nothing is fused.
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "fixture.h"
#include "tengine/inspect.h"

namespace tengine {
namespace {

std::vector<float> noise(size_t number, uint32_t seed)
{
    std::vector<float> values(number);
    for (float& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<float>(seed >> 8) / (1 << 23) - 1;
    }
    return values;
}

size_t count(const std::vector<int>& dims)
{
    size_t number = 1;
    for (const int dim : dims)
        number *= static_cast<size_t>(dim);
    return number;
}

class FusionTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        graph_ = create_graph(nullptr, nullptr, nullptr);
    }
    void TearDown() override
    {
        destroy_graph(graph_);
        ApiTest::TearDown();
    }

    tensor_t input(const char* name, const std::vector<int>& dims)
    {
        inputs_.push_back(name);
        input_sizes_.push_back(count(dims));
        return add_input(graph_, name, dims);
    }

    tensor_t constant(const std::vector<int>& dims)
    {
        const std::vector<float> values = noise(count(dims), ++seed_);
        return add_constant(graph_, ("c" + std::to_string(seed_)).c_str(), dims, values.data());
    }

    tensor_t scalar(float value)
    {
        return add_constant(graph_, ("s" + std::to_string(++seed_)).c_str(), {}, &value);
    }

    tensor_t node(const char* op, std::initializer_list<tensor_t> inputs)
    {
        names_.push_back(op + std::to_string(names_.size()));
        return add_node(graph_, names_.back().c_str(), op, inputs);
    }

    tensor_t transpose(tensor_t x, const std::vector<int>& order)
    {
        const tensor_t y = node("Transpose", {x});
        EXPECT_EQ(set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), "tr_shape",
                                        "int[]", order.data(),
                                        static_cast<int>(order.size() * sizeof(int))),
                  0)
            << get_tengine_error();
        return y;
    }

    tensor_t mean_of_rows(tensor_t x)
    {
        const int64_t last = -1;
        const std::string name = "a" + std::to_string(++seed_);
        return node("ReduceMean",
                    {x, add_constant(graph_, name.c_str(), {1}, &last, TENGINE_DT_INT64)});
    }

    // In nine nodes.
    tensor_t layer_norm(tensor_t x, tensor_t scale, tensor_t shift)
    {
        const tensor_t left = node("Sub", {x, mean_of_rows(x)});
        const tensor_t variance = mean_of_rows(node("Pow", {left, scalar(2)}));
        const tensor_t root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
        return node("Add", {node("Mul", {scale, node("Div", {left, root})}), shift});
    }

    tensor_t batch_norm(tensor_t x, int channels)
    {
        const std::vector<float> variance(static_cast<size_t>(channels), 0.75f);
        const std::string name = "v" + std::to_string(++seed_);
        const tensor_t positive = add_constant(graph_, name.c_str(), {channels}, variance.data());
        return node("BatchNormalization", {x, constant({channels}), constant({channels}),
                                           constant({channels}), positive});
    }

    // With padding; depthwise where `groups` says so.
    tensor_t conv(tensor_t x, int inputs, int outputs, int groups = 1, int kernel = 3)
    {
        const tensor_t weights = constant({outputs, inputs / groups, kernel, kernel});
        const tensor_t y = node("Conv", {x, weights, constant({outputs})});
        const node_t made = get_graph_node(graph_, names_.back().c_str());
        const int pad = kernel / 2, pads[] = {pad, pad, pad, pad};
        EXPECT_EQ(set_node_attr_generic(made, "pads", "int[]", pads, sizeof pads), 0)
            << get_tengine_error();
        EXPECT_EQ(set_node_attr_int(made, "group", &groups), 0) << get_tengine_error();
        return y;
    }

    // With strides of 2, and `before` as padding at the beginning of both axes.
    tensor_t transposed_conv(tensor_t x, tensor_t weights, int before)
    {
        const tensor_t y = node("ConvTranspose", {x, weights});
        const node_t made = get_graph_node(graph_, names_.back().c_str());
        const int strides[] = {2, 2}, pads[] = {before, before, 0, 0};
        EXPECT_EQ(set_node_attr_generic(made, "strides", "int[]", strides, sizeof strides), 0)
            << get_tengine_error();
        EXPECT_EQ(set_node_attr_generic(made, "pads", "int[]", pads, sizeof pads), 0)
            << get_tengine_error();
        return y;
    }

    std::vector<float> run(const std::vector<const char*>& outputs)
    {
        EXPECT_TRUE(set_borders(graph_, inputs_, outputs)) << get_tengine_error();
        EXPECT_EQ(prerun_graph_multithread(graph_, {1, TENGINE_CLUSTER_ALL, precision_, 0}), 0)
            << get_tengine_error();
        for (size_t i = 0; i < inputs_.size(); ++i) {
            const tensor_t tensor = tengine_graph_get_input(graph_, static_cast<int>(i));
            const auto seed = 77 + static_cast<uint32_t>(i);
            EXPECT_TRUE(write_floats(tensor, noise(input_sizes_[i], seed)));
        }
        EXPECT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        std::vector<float> result = read_floats(tengine_graph_get_output(graph_, 0));
        EXPECT_EQ(postrun_graph(graph_), 0);
        return result;
    }

    // The last node's result, fused and not.
    void compare() { compare_last(names_.back().c_str()); }

    void compare_last(const std::string& name)
    {
        const std::vector<float> fused = run({name.c_str()});
        std::vector<const char*> all = {name.c_str()};
        for (const std::string& other : names_)
            if (other != name) all.push_back(other.c_str());
        const std::vector<float> plain = run(all);
        has_same_bits_ = fused == plain;
        ASSERT_EQ(fused.size(), plain.size());
        for (size_t i = 0; i < fused.size(); ++i)
            ASSERT_NEAR(fused[i], plain[i], tolerance_ * std::fabs(plain[i]) + absolute_) << i;
    }

    // In 16 bits: what is fused is rounded less often, so that it differs, but no more than by so
    // many roundings of numbers near 1.
    void compare_halves(double roundings)
    {
        for (const int precision : {TENGINE_MODE_BF16, TENGINE_MODE_FP16}) {
            precision_ = precision;
            absolute_ = roundings * (precision == TENGINE_MODE_BF16 ? 0x1p-8 : 0x1p-11);
            compare();
            EXPECT_FALSE(has_same_bits_);
        }
    }

    graph_t graph_ = nullptr;
    int precision_ = TENGINE_MODE_FP32;
    bool has_same_bits_ = false;
    double tolerance_ = 0, absolute_ = 0;
    uint32_t seed_ = 0;
    std::vector<const char*> inputs_;
    std::vector<size_t> input_sizes_;
    std::vector<std::string> names_;
};

TEST_F(FusionTest, ActivationsAfterAConvolution)
{
    tensor_t x = input("x", {2, 3, 9, 7});
    for (const char* op : {"Relu", "Sigmoid", "HardSwish", "Tanh", "LeakyRelu", "HardSigmoid",
                           "Gelu", "Swish", "com.microsoft.FastGelu"})
        x = node(op, {conv(x, 3, 3)});
    node("Clip", {conv(x, 3, 20)});
    const float bounds[] = {-0.5f, 0.25f};
    const node_t clip = get_graph_node(graph_, names_.back().c_str());
    ASSERT_EQ(set_node_attr_float(clip, "min", &bounds[0]), 0) << get_tengine_error();
    ASSERT_EQ(set_node_attr_float(clip, "max", &bounds[1]), 0) << get_tengine_error();
    compare();
}

TEST_F(FusionTest, SumsBeforeAndAfter)
{
    const tensor_t x = input("x", {1, 20, 6, 11});
    const tensor_t first = node("Relu", {conv(x, 20, 20)});
    const tensor_t second = conv(first, 20, 20);
    const tensor_t third = node("Relu", {node("Add", {second, first})});
    // The shorter branch comes second, the input of the part is an addend.
    const tensor_t left = conv(third, 20, 20), right = conv(third, 20, 20, 20);
    const tensor_t sum = node("Add", {left, right});
    node("Relu", {node("Add", {x, conv(sum, 20, 20)})});
    compare();
}

TEST_F(FusionTest, TransposedConvolutions)
{
    const tensor_t x = input("x", {2, 5, 7, 4});
    const tensor_t y = node("Relu", {transposed_conv(x, constant({5, 37, 2, 2}), 0)});
    const tensor_t sum = node("Add", {conv(y, 37, 37), conv(y, 37, 37)});
    const tensor_t z = node("Sigmoid", {transposed_conv(sum, constant({37, 20, 3, 3}), 1)});
    const tensor_t other = transposed_conv(sum, constant({37, 20, 3, 3}), 1);
    node("Tanh", {node("Add", {other, z})});
    compare();
}

// Padding decides which taps are in which phase, so that the packed weights differ.
TEST_F(FusionTest, TransposedConvolutionsOfTheSameWeights)
{
    const tensor_t x = input("x", {1, 5, 7, 4}), weights = constant({5, 20, 3, 3});
    const std::vector<float> values = noise(count({5, 20, 3, 3}), seed_);
    const tensor_t copy = add_constant(graph_, "copy", {5, 20, 3, 3}, values.data());
    for (const tensor_t each : {weights, weights, copy})
        transposed_conv(x, each, names_.size() == 0);
    EXPECT_EQ(run({names_[1].c_str(), names_[0].c_str()}), run({names_[2].c_str()}));
}

// Lines of ten pixels are computed as two sevens, of which the second begins in the first.
TEST_F(FusionTest, PixelsThatAreComputedTwiceHaveTheSumOnce)
{
    const tensor_t x = input("x", {1, 70, 6, 10});
    const tensor_t gate = node("Sigmoid", {conv(x, 70, 70, 70, 5)});
    node("Relu", {node("Add", {gate, conv(gate, 70, 70, 70, 5)})});
    compare();
}

TEST_F(FusionTest, AResultThatIsReadTwiceStays)
{
    const tensor_t x = input("x", {1, 8, 5, 5});
    const tensor_t y = conv(x, 8, 8);
    node("Add", {node("Relu", {y}), y});
    compare();
    const tensor_t z = conv(x, 8, 8);
    node("Add", {z, z});
    compare();
}

TEST_F(FusionTest, GatesAndSqueezeExcitation)
{
    const tensor_t x = input("x", {2, 8, 6, 6});
    const tensor_t a = conv(x, 8, 8);
    const tensor_t silu = node("Mul", {a, node("Sigmoid", {a})});
    const tensor_t b = conv(silu, 8, 8, 8);
    const tensor_t pooled = node("GlobalAveragePool", {b});
    const tensor_t gate =
        node("HardSigmoid", {node("Conv", {pooled, constant({8, 8, 1, 1}), constant({8})})});
    const tensor_t scaled = node("Mul", {gate, b});
    const tensor_t shifted = node("Add", {scaled, constant({8, 1, 1})});
    node("Mul", {shifted, constant({1, 8, 6, 6})});  // a constant that has pixels
    // Sigmoid * x is rounded as one function fused and as two apart.
    tolerance_ = 8 * 0x1p-23;
    compare();
}

// Weights take over the factors of their input channels: x (s w) in place of (x s) w. Sums of 17
// products below 1 in magnitude, each of which is rounded once more.
constexpr double kScaledError = 2 * (17 + 2) * 17 * 0x1p-24;

TEST_F(FusionTest, FactorsOfChannelsBeforeAPointwiseConvolution)
{
    const tensor_t x = conv(input("x", {1, 17, 9, 9}), 17, 17, 17);
    const tensor_t factors = input("factors", {1, 17, 1, 1});
    for (const int outputs : {1, 5, 40}) {
        const tensor_t y = conv(node("Mul", {x, factors}), 17, outputs, 1, 1);
        const tensor_t z = conv(node("Mul", {factors, x}), 17, outputs, 1, 1);
        node("Relu", {node("Add", {z, y})});
    }
    absolute_ = 2 * kScaledError * 17;  // the depthwise results reach 10
    for (const size_t last : {6, 12, 18}) {
        SCOPED_TRACE(last);
        compare_last(names_[last].c_str());
    }
}

// Few pixels, several images, a window, a product that is read twice, factors of another kind.
TEST_F(FusionTest, FactorsThatStayWhereTheyAre)
{
    const tensor_t x = conv(input("x", {1, 6, 3, 3}), 6, 6);
    const tensor_t factors = input("factors", {1, 6, 1, 1});
    const tensor_t few = conv(node("Mul", {x, factors}), 6, 8, 1, 1);
    const tensor_t window = conv(node("Mul", {x, factors}), 6, 3);
    const tensor_t product = node("Mul", {x, factors});
    const tensor_t twice = node("Add", {conv(product, 6, 6, 1, 1), product});
    const tensor_t of_pixels = conv(node("Mul", {x, input("p", {1, 1, 3, 3})}), 6, 3, 1, 1);
    const tensor_t constants = conv(node("Mul", {constant({1, 6, 3, 3}), factors}), 6, 3, 1, 1);
    const tensor_t images = input("images", {2, 6, 3, 3});
    const tensor_t two = conv(node("Mul", {images, factors}), 6, 3, 1, 1);
    const tensor_t all[] = {few, window, twice, of_pixels, constants, two};
    tensor_t sum = node("ReduceSum", {all[0]});
    for (size_t i = 1; i < std::size(all); ++i)
        sum = node("Add", {sum, node("ReduceSum", {all[i]})});
    compare();
}

// The same elements in another order of axes: what was fed, and that by hand.
TEST_F(FusionTest, TransposesBetweenLayouts)
{
    const tensor_t x = input("x", {2, 5, 4, 6});
    const tensor_t last = transpose(x, {0, 3, 1, 2});
    const tensor_t pooled = node("MaxPool", {last});  // it takes channels last
    const int one[] = {1, 1};
    ASSERT_EQ(set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), "kernel_shape",
                                    "int[]", one, sizeof one),
              0);
    const std::string pool = names_.back();
    transpose(pooled, {0, 2, 3, 1});
    const std::vector<float> fed = noise(count({2, 5, 4, 6}), 77);
    EXPECT_EQ(run({names_.back().c_str()}), fed);
    const std::vector<float> planar = run({pool.c_str()});
    for (size_t n = 0; n < 2; ++n)
        for (size_t pixel = 0; pixel < 20; ++pixel)
            for (size_t c = 0; c < 6; ++c)
                ASSERT_EQ(planar[(n * 6 + c) * 20 + pixel], fed[(n * 20 + pixel) * 6 + c]);

    // As in ConvNeXt.
    const tensor_t before = conv(pooled, 6, 6, 6);
    const tensor_t rows = node("MatMul", {transpose(before, {0, 2, 3, 1}), constant({6, 6})});
    node("Add", {transpose(node("Mul", {rows, constant({6})}), {0, 3, 1, 2}), pooled});
    compare();
    transpose(before, {0, 3, 1, 2});  // of another order
    compare();
}

TEST_F(FusionTest, BranchesThatAreJoinedAndSplit)
{
    const tensor_t x = input("x", {1, 5, 8, 8});
    const tensor_t a = node("Relu", {conv(x, 5, 7)});
    const tensor_t b = node("MaxPool", {conv(x, 5, 6)});
    const int one[] = {1, 1};
    ASSERT_EQ(set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), "kernel_shape",
                                    "int[]", one, sizeof one),
              0);
    const tensor_t joined = node("Concat", {a, b, x});
    const int axis = 1;
    ASSERT_EQ(set_node_attr_int(get_graph_node(graph_, names_.back().c_str()), "axis", &axis), 0);
    node("Softmax", {conv(joined, 18, 4)});  // it has no kernel for channels last
    compare();
}

// Functions of elements, then a mean of 63 positive numbers, which planes sum in another order.
TEST_F(FusionTest, FunctionsAndReductionsWithChannelsLast)
{
    const tensor_t x = input("x", {2, 3, 9, 7});
    tensor_t y = conv(x, 3, 19);
    for (const char* op : {"Softplus", "Mish", "Neg", "Exp"})
        y = node(op, {y});
    y = node("Max", {node("PRelu", {y, constant({19, 1, 1})}), scalar(0.25f)});
    compare();
    const int64_t axes[] = {2, 3};
    node("ReduceMean", {y, add_constant(graph_, "axes", {2}, axes, TENGINE_DT_INT64)});
    tolerance_ = 66 * 0x1p-23;
    compare();
}

TEST_F(FusionTest, BatchNormalizationWithTheActivationAfterIt)
{
    const tensor_t x = input("x", {2, 19, 6, 5});
    // With the channels in planes, and last; no convolution takes them over.
    const tensor_t planes = node("Relu", {batch_norm(x, 19)});
    const tensor_t sum = node("Add", {conv(planes, 19, 19), conv(x, 19, 19)});
    const tensor_t last = node("Sigmoid", {batch_norm(sum, 19)});
    node("Add", {batch_norm(node("LeakyRelu", {batch_norm(last, 19)}), 19), sum});
    compare();
}

// Of a row of n the sums of both differ by n roundings of values near 1, beside a result near 8.
TEST_F(FusionTest, LayerNormalizationInNineNodes)
{
    for (const int n : {37, 64}) {
        const tensor_t x = input(n == 37 ? "x" : "y", {2, 3, n});
        const std::vector<float> eight(static_cast<size_t>(n), 8.0f);
        const tensor_t shift =
            add_constant(graph_, ("b" + std::to_string(n)).c_str(), {n}, eight.data());
        layer_norm(x, constant({n}), shift);
        tolerance_ = n * 0x1p-24;
        compare();
    }
}

// Numbers below 4 in magnitude, rounded after each of seven nodes.
TEST_F(FusionTest, LayerNormalizationOfHalves)
{
    layer_norm(input("x", {2, 3, 37}), constant({37}), constant({37}));
    compare_halves(7 * 4);
}

TEST_F(FusionTest, BatchNormalizationOfHalvesWithTheActivationAfterIt)
{
    node("HardSwish", {batch_norm(input("x", {2, 19, 6, 5}), 19)});
    compare_halves(2 * 4);
}

// Functions whose operands are the other way round.
TEST_F(FusionTest, WhatOnlyLooksLikeAFunctionIsNone)
{
    const tensor_t x = input("x", {4, 12});
    const tensor_t y = node("MatMul", {x, constant({12, 16})});
    const tensor_t erf = node("Erf", {node("Div", {scalar(std::sqrt(2.0f)), y})});
    const tensor_t gate = node("Add", {scalar(1), erf});
    const tensor_t z = node("Mul", {node("Mul", {y, gate}), scalar(0.5f)});
    const tensor_t left = node("Sub", {z, mean_of_rows(z)});
    const tensor_t variance = mean_of_rows(node("Pow", {scalar(2), left}));
    const tensor_t root = node("Sqrt", {node("Add", {variance, scalar(1e-5f)})});
    const tensor_t normal = node("Div", {left, root});
    node("Add", {node("Mul", {normal, constant({16})}), constant({16})});
    compare();
}

TEST_F(FusionTest, LinearLayers)
{
    const tensor_t x = input("x", {2, 7, 12});
    const tensor_t linear = node("Add", {node("MatMul", {x, constant({12, 24})}), constant({24})});
    const tensor_t erf = node("Erf", {node("Div", {linear, scalar(std::sqrt(2.0f))})});
    const tensor_t gate = node("Mul", {linear, node("Add", {erf, scalar(1)})});
    const tensor_t gelu = node("Mul", {gate, scalar(0.5f)});
    const tensor_t back = node("Add", {constant({12}), node("MatMul", {gelu, constant({24, 12})})});
    node("Add", {x, back});
    // GELU's division is a multiplication where it is fused; sums of 24 products of it follow.
    absolute_ = 24 * 4 * 8 * 0x1p-23;
    compare();
}

// ---- what a Concat of channels would copy is written where it has it ----

class JoinTest : public FusionTest
{
  protected:
    // Attributes of the last node.
    void set_ints(const char* name, const std::vector<int>& values)
    {
        ASSERT_EQ(
            set_node_attr_generic(get_graph_node(graph_, names_.back().c_str()), name, "int[]",
                                  values.data(), static_cast<int>(values.size() * sizeof(int))),
            0)
            << get_tengine_error();
    }

    tensor_t concat(std::initializer_list<tensor_t> inputs, int axis = 1)
    {
        const tensor_t y = node("Concat", inputs);
        EXPECT_EQ(set_node_attr_int(get_graph_node(graph_, names_.back().c_str()), "axis", &axis),
                  0)
            << get_tengine_error();
        return y;
    }

    tensor_t pool(const char* op, tensor_t x, int size, int stride)
    {
        const tensor_t y = node(op, {x});
        const int pad = (size - 1) / 2;
        set_ints("kernel_shape", {size, size});
        set_ints("strides", {stride, stride});
        set_ints("pads", {pad, pad, pad, pad});
        return y;
    }

    tensor_t batch_norm(tensor_t x, int channels)
    {
        const std::vector<float> variances(static_cast<size_t>(channels), 0.7f);
        const std::string name = "v" + std::to_string(++seed_);
        return node("BatchNormalization",
                    {x, constant({channels}), constant({channels}), constant({channels}),
                     add_constant(graph_, name.c_str(), {channels}, variances.data())});
    }

    // Memory between the steps, in channels of 20 x 20 pixels, when the last node is the output.
    double channels_in_memory()
    {
        tengine_graph_memory memory = {};
        EXPECT_TRUE(set_borders(graph_, inputs_, {names_.back().c_str()})) << get_tengine_error();
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        EXPECT_EQ(get_graph_memory(graph_, &memory, sizeof memory), 0) << get_tengine_error();
        EXPECT_EQ(postrun_graph(graph_), 0);
        return static_cast<double>(memory.value_bytes) / (20 * 20 * sizeof(float));
    }
};

TEST_F(JoinTest, ConvolutionsAndPoolsThatAreJoined)
{
    // Winograd's, with padding, pointwise with and without strides, grouped; two images.
    const tensor_t x = conv(input("x", {2, 5, 19, 21}), 5, 20);
    const tensor_t a = conv(x, 20, 18);
    const tensor_t b = conv(x, 20, 7, 1, 1);
    const tensor_t c = conv(x, 20, 12, 4);
    const tensor_t d = pool("MaxPool", x, 3, 1);
    const tensor_t e = pool("AveragePool", x, 5, 1);
    const tensor_t f = node("Relu", {batch_norm(x, 20)});
    const tensor_t whole = concat({a, b, c, d, e, f});
    conv(whole, 97, 6);
    compare();
}

TEST_F(JoinTest, WhatIsJoinedIsReadApart)
{
    const tensor_t x = conv(input("x", {2, 3, 24, 24}), 3, 17);
    const tensor_t y = node("Relu", {conv(x, 17, 19)});
    const tensor_t whole = concat({x, y});
    const tensor_t a = conv(x, 17, 16), b = conv(y, 19, 4, 1, 1), c = pool("MaxPool", y, 2, 2);
    const tensor_t d = node("Relu", {batch_norm(x, 17)});
    const tensor_t e = conv(node("Sigmoid", {conv(y, 19, 16, 1, 1)}), 16, 3);
    const tensor_t joined = concat({conv(whole, 36, 4), b, conv(a, 16, 3), conv(d, 17, 2), e});
    concat({node("GlobalMaxPool", {joined}), node("GlobalMaxPool", {c})});
    compare();
}

TEST_F(JoinTest, ADenseBlockLiesInItsLastConcat)
{
    const tensor_t x = pool("MaxPool", conv(input("x", {1, 3, 18, 26}), 3, 10), 3, 2);
    const tensor_t a = conv(node("Relu", {batch_norm(x, 10)}), 10, 6);
    const tensor_t one = concat({x, a});
    const tensor_t b = conv(node("Relu", {batch_norm(one, 16)}), 16, 6);
    const tensor_t two = concat({x, a, b});
    const tensor_t c = conv(node("Relu", {batch_norm(two, 22)}), 22, 6);
    const tensor_t three = concat({x, a, b, c});
    conv(three, 28, 5, 1, 1);
    compare();
}

// Pointwise convolutions, which need no scratch: a copy would need what is joined twice.
TEST_F(JoinTest, WhatIsJoinedIsInMemoryOnce)
{
    const tensor_t x = conv(input("x", {1, 8, 20, 20}), 8, 8, 1, 1);
    const tensor_t whole = concat({conv(x, 8, 40, 1, 1), conv(x, 8, 40, 1, 1)});
    conv(whole, 80, 2, 1, 1);
    EXPECT_LT(channels_in_memory(), 8 + 80 + 2 + 2);
}

TEST_F(JoinTest, ADenseBlockIsInMemoryOnce)
{
    tensor_t last = conv(input("x", {1, 8, 20, 20}), 8, 40, 1, 1);
    std::vector<tensor_t> parts = {last};
    for (const int channels : {40, 56, 72}) {
        last = conv(node("Relu", {batch_norm(last, channels)}), channels, 16, 1, 1);
        parts.push_back(last);
        last = parts.size() == 2   ? concat({parts[0], parts[1]})
               : parts.size() == 3 ? concat({parts[0], parts[1], parts[2]})
                                   : concat({parts[0], parts[1], parts[2], parts[3]});
    }
    conv(last, 88, 2, 1, 1);
    EXPECT_LT(channels_in_memory(), 88 + 72 + 2);  // the block, a normalised one
}

TEST_F(JoinTest, AConcatOfConcats)
{
    const tensor_t x = conv(input("x", {1, 3, 12, 12}), 3, 8);
    const tensor_t a = conv(x, 8, 5), b = conv(x, 8, 6), c = conv(x, 8, 7);
    const tensor_t inner = concat({b, c});
    const tensor_t outer = concat({a, inner, conv(inner, 13, 4)});
    conv(outer, 22, 3);
    compare();
}

TEST_F(JoinTest, WhatHasToBeCopied)
{
    const tensor_t x = conv(input("x", {1, 3, 12, 12}), 3, 8);
    const tensor_t a = conv(x, 8, 5), b = conv(x, 8, 6);
    // The same twice; what an operator reads that takes no pixels apart; a sum's result; another
    // axis; what is an output.
    const tensor_t twice = concat({a, a});
    const tensor_t softened = node("Softmax", {b});
    const tensor_t read = concat({b, conv(x, 8, 3)});
    const tensor_t sum = concat({node("Add", {conv(x, 8, 8), x}), conv(softened, 6, 4)});
    const tensor_t below = concat({conv(x, 8, 4), conv(x, 8, 4)}, -2);
    const tensor_t all = concat({conv(twice, 10, 2), conv(read, 9, 2), conv(sum, 12, 2)});
    const std::string output = names_.back();
    concat({node("GlobalMaxPool", {all}), node("GlobalMaxPool", {below})});
    compare();
    ASSERT_EQ(output.rfind("Concat", 0), 0u);
    compare_last(output);
}

TEST_F(JoinTest, AnInputOfTheGraphIsCopied)
{
    const tensor_t x = input("x", {1, 16, 12, 12});
    conv(concat({x, conv(x, 16, 16)}), 32, 4);
    compare();
}

}  // namespace
}  // namespace tengine

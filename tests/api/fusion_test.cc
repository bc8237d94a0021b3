// SPDX-License-Identifier: Apache-2.0
// Nodes that a step computes together with others, and NHWC tensors between steps: a graph gives
// the same numbers, bit for bit, as with every result as an output, when nothing is fused.
// Neighbours: fusion_half_test.cc has those of 16 bits, fusion_join_test.cc Concat.
#include <iterator>

#include "fusion_fixture.h"

namespace tengine {
namespace {

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

// Convolutions over one axis are products of matrices.
TEST_F(FusionTest, ConvolutionsOfLines)
{
    tensor_t x = input("x", {2, 5, 300});
    for (const char* op : {"Relu", "Gelu", "HardSwish", "Tanh"})
        x = node(op, {node("Conv", {x, constant({5, 5, 1}), constant({5})})});
    const tensor_t y = node("Conv", {x, constant({7, 5, 4})});
    node("Sigmoid", {node("Add", {node("Conv", {x, constant({7, 5, 4})}), y})});
    compare();
}

TEST_F(FusionTest, SumsBeforeAndAfter)
{
    const tensor_t x = input("x", {1, 20, 6, 11});
    const tensor_t first = node("Relu", {conv(x, 20, 20)});
    const tensor_t second = conv(first, 20, 20);
    const tensor_t third = node("Relu", {node("Add", {second, first})});
    // The shorter branch is second; the part's input is an addend.
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

// Padding decides the phase of each tap, so that the packed weights differ.
TEST_F(FusionTest, TransposedConvolutionsOfTheSameWeights)
{
    const tensor_t x = input("x", {1, 5, 7, 4}), weights = constant({5, 20, 3, 3});
    const std::vector<float> values = noise(count({5, 20, 3, 3}), seed_);
    const tensor_t copy = add_constant(graph_, "copy", {5, 20, 3, 3}, values.data());
    for (const tensor_t each : {weights, weights, copy})
        transposed_conv(x, each, names_.size() == 0);
    EXPECT_EQ(run({names_[1].c_str(), names_[0].c_str()}), run({names_[2].c_str()}));
}

// Lines of ten pixels are computed as two sevens, the second of which overlaps the first.
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
    node("Mul", {shifted, constant({1, 8, 6, 6})});  // a constant that differs between pixels
    // Sigmoid * x is rounded once as a fused function and twice as two nodes.
    tolerance_ = 8 * 0x1p-23;
    compare();
}

// Weights include the factors of their input channels: x (s w) in place of (x s) w. Sums of 17
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

// Several images, each with factors of its own, or all with the same.
TEST_F(FusionTest, FactorsOfChannelsOfImages)
{
    const tensor_t x = conv(input("x", {3, 17, 9, 9}), 17, 17, 17);
    const tensor_t own = input("own", {3, 17, 1, 1}), common = input("common", {1, 17, 1, 1});
    const tensor_t y = conv(node("Mul", {x, own}), 17, 5, 1, 1);
    const tensor_t z = conv(node("Mul", {common, x}), 17, 5, 1, 1);
    node("Relu", {node("Add", {z, y})});
    absolute_ = 2 * kScaledError * 17;
    compare();
    EXPECT_FALSE(has_same_bits_) << "nothing was fused";
}

// Few pixels, a window, a product with two readers, factors of another kind or another image count.
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
    const tensor_t images = input("images", {2, 6, 1, 1});
    const tensor_t two = conv(node("Mul", {x, images}), 6, 3, 1, 1);
    const tensor_t all[] = {few, window, twice, of_pixels, constants, two};
    tensor_t sum = node("ReduceSum", {all[0]});
    for (size_t i = 1; i < std::size(all); ++i)
        sum = node("Add", {sum, node("ReduceSum", {all[i]})});
    compare();
}

// The same elements in another order of axes: the fed tensor, and its transpose by hand.
TEST_F(FusionTest, TransposesBetweenLayouts)
{
    const tensor_t x = input("x", {2, 5, 4, 6});
    const tensor_t last = transpose(x, {0, 3, 1, 2});
    const tensor_t pooled = node("MaxPool", {last});  // it is computed in NHWC
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

    // A block as in ConvNeXt.
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
    node("Softmax", {conv(joined, 18, 4)});  // it has no kernel for NHWC
    compare();
}

// Functions of elements, then a mean of 63 positive numbers, which NCHW sums in another order.
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
    // NCHW and NHWC; no convolution includes them.
    const tensor_t planes = node("Relu", {batch_norm(x, 19)});
    const tensor_t sum = node("Add", {conv(planes, 19, 19), conv(x, 19, 19)});
    const tensor_t last = node("Sigmoid", {batch_norm(sum, 19)});
    node("Add", {batch_norm(node("LeakyRelu", {batch_norm(last, 19)}), 19), sum});
    compare();
}

// The sums of a row of n differ between both by n roundings of values near 1, with a result near 8.
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

// Functions with exchanged operands.
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
    // A fused GELU multiplies in place of dividing; sums of 24 products of it follow.
    absolute_ = 24 * 4 * 8 * 0x1p-23;
    compare();
}

}  // namespace
}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// Steps of several nodes in 16 bits: they round less often than single nodes do.
#include "fusion_fixture.h"

namespace tengine {
namespace {

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

// Numbers below 8 in magnitude; fusion saves two roundings.
TEST_F(FusionTest, ConvolutionsOfHalvesWithASumAndAnActivation)
{
    const tensor_t x = input("x", {2, 20, 6, 11});
    node("HardSwish", {node("Add", {conv(x, 20, 20, 1, 1), x})});
    compare_halves(3 * 8);
}

TEST_F(FusionTest, DepthwiseConvolutionsOfHalvesWithASum)
{
    const tensor_t x = input("x", {2, 20, 6, 11});
    node("Relu", {node("Add", {conv(x, 20, 20, 20), x})});
    compare_halves(2 * 8);
}

TEST_F(FusionTest, DepthwiseConvolutionsOfHalvesWithASumAndAnActivation)
{
    const tensor_t x = input("x", {2, 77, 6, 11});
    for (const int kernel : {3, 5}) {
        node("HardSwish", {node("Add", {conv(x, 77, 77, 77, kernel), x})});
        compare_halves(3 * 8);
    }
}

// Each of 20 products of numbers below 1 is rounded once more if nothing is fused.
TEST_F(FusionTest, FactorsOfChannelsOfHalves)
{
    const tensor_t x = conv(input("x", {1, 20, 9, 11}), 20, 20, 20);
    const tensor_t gates = node("Sigmoid", {input("factors", {1, 20, 1, 1})});
    node("HardSwish", {conv(node("Mul", {x, gates}), 20, 37, 1, 1)});
    compare_halves(20 * 5 + 2 * 8);
    const tensor_t few = node("Mul", {gates, x});
    node("HardSwish", {conv(few, 20, 3, 1, 1)});
    compare_halves(20 * 5 + 2 * 8);
}

TEST_F(FusionTest, FactorsOfChannelsOfImagesOfHalves)
{
    const tensor_t x = conv(input("x", {3, 20, 9, 11}), 20, 20, 20);
    const tensor_t own = node("Sigmoid", {input("own", {3, 20, 1, 1})});
    const tensor_t common = node("Sigmoid", {input("common", {1, 20, 1, 1})});
    const tensor_t y = conv(node("Mul", {x, own}), 20, 37, 1, 1);
    node("Add", {y, conv(node("Mul", {common, x}), 20, 37, 1, 1)});
    compare_halves(2 * (20 * 5 + 2 * 8));
}

TEST_F(FusionTest, LinearLayersOfHalves)
{
    const tensor_t x = input("x", {2, 7, 12});
    const tensor_t linear = node("Add", {node("MatMul", {x, constant({12, 24})}), constant({24})});
    node("Tanh", {linear});
    compare_halves(2 * 8);
}

}  // namespace
}  // namespace tengine

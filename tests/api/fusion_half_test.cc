// SPDX-License-Identifier: Apache-2.0
// Steps of several nodes in 16 bits: they round less often than the nodes do one by one.
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

// Numbers below 8 in magnitude; what is fused saves two roundings.
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

TEST_F(FusionTest, LinearLayersOfHalves)
{
    const tensor_t x = input("x", {2, 7, 12});
    const tensor_t linear = node("Add", {node("MatMul", {x, constant({12, 24})}), constant({24})});
    node("Tanh", {linear});
    compare_halves(2 * 8);
}

}  // namespace
}  // namespace tengine

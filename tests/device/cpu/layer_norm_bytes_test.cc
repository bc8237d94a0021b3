// SPDX-License-Identifier: Apache-2.0
// tengine.QLinearLayerNormalization with vectors against the reference, bit by bit, and that
// against exact results.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "device/cpu/byte_node.h"
#include "device/cpu/prepared_kernel.h"
#include "operator/param.h"

namespace tengine::test {
namespace {

constexpr int kTypes[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

class NormNode : public ByteNode
{
  public:
    NormNode(const std::vector<int>& shape, int x_type, int y_type, float y_scale, bool has_bias)
    {
        bytes("x", shape, x_type);
        bytes("x_zero", {}, x_type);
        bytes("y_zero", {}, y_type);
        floats("x_scale", {}, {0.037f});
        floats("y_scale", {}, {y_scale});
        for (const char* name : {"scale", "bias"}) {
            std::vector<float> values;
            for (int i = 0; i < shape.back(); ++i)
                values.push_back(static_cast<float>(random()() % 2001) / 1000 - 1);
            floats(name, {shape.back()}, values);
        }
        make("tengine.QLinearLayerNormalization",
             {"x", "x_scale", "x_zero", "scale", "y_scale", "y_zero", has_bias ? "bias" : ""});
        infer();
    }
};

// Rows around the lengths of vectors, and one longer than a block of sums.
TEST(Int8LayerNorm, HasTheBytesOfTheReference)
{
    for (const int n : {1, 2, 7, 16, 17, 65, 768, 20000})
        for (const int x_type : kTypes)
            for (const int y_type : kTypes)
                for (const bool has_bias : {false, true}) {
                    SCOPED_TRACE(n);
                    NormNode node({2, 3, n}, x_type, y_type, 0.021f, has_bias);
                    node.compare("layer_norm.s8.vector", {1, 3});
                }
}

// Rows of equal values, with a deviation of 0, also without an epsilon; results beyond the 8-bit
// range.
TEST(Int8LayerNorm, TakesExtremes)
{
    for (const float epsilon : {0.0f, 1e-5f})
        for (const float y_scale : {1e-30f, 1e30f})
            for (const bool is_even : {false, true}) {
                NormNode node({3, 70}, TENGINE_DT_INT8, TENGINE_DT_UINT8, y_scale, true);
                EXPECT_EQ(set_node_float(node.node(), "epsilon", epsilon), TENGINE_OK);
                if (is_even) std::memset(node.find("x")->data, 0x80, 210);
                node.compare("layer_norm.s8.vector", {1});
            }
}

// The bias and the product each have an error of 2^-9 of a quantisation step, floats less.
TEST(Int8LayerNorm, IsTheNearestByte)
{
    constexpr int kRow = 100;
    constexpr double kStep = float{0.02f}, kFactor = float{0.037f};
    NormNode node({1, kRow}, TENGINE_DT_INT8, TENGINE_DT_INT8, 0.02f, true);
    const std::vector<uint8_t> y = node.run(*cpu::list_accepting_kernels(*node.node()).back(), 1);
    const int8_t* x = node.find("x")->i8;
    double mean = 0, variance = 0;
    for (int i = 0; i < kRow; ++i)
        mean += x[i] * kFactor / kRow;
    for (int i = 0; i < kRow; ++i)
        variance += std::pow(x[i] * kFactor - mean, 2) / kRow;
    for (int i = 0; i < kRow; ++i) {
        const double centred = (x[i] * kFactor - mean) / std::sqrt(variance + 1e-5);
        const double exact =
            (centred * node.find("scale")->f32[i] + node.find("bias")->f32[i]) / kStep +
            *node.find("y_zero")->i8;
        EXPECT_NEAR(static_cast<int8_t>(y[static_cast<size_t>(i)]),
                    std::min(std::max(exact, -128.0), 127.0), 0.505)
            << i;
    }
}

}  // namespace
}  // namespace tengine::test

// SPDX-License-Identifier: Apache-2.0
// The roundings of LiteRT and tflite-micro: kernels and reference against the definitions of
// XNNPACK and gemmlowp, written out here, and fast convolutions against the reference.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

#include "device/cpu/byte_definition.h"
#include "device/cpu/byte_node.h"
#include "device/cpu/kernel/vector/vector_target.h"
#include "graph/core.h"
#include "operator/param.h"
#include "tengine/fixed_point.h"

namespace tengine::test {
namespace {

constexpr ir_rounding_t kRoundings[] = {IR_ROUNDING_FLOAT, IR_ROUNDING_TWICE};

void round_as(ByteNode& node, ir_rounding_t rounding)
{
    node.builder().get()->core->run_options.rounding = rounding;
}

// ---- gemmlowp ----

// The high half of twice the product, halves up.
int32_t double_high_product(int32_t a, int32_t b)
{
    const int64_t product = int64_t{a} * b;
    const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
    return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

// Halves away from zero.
int32_t divide_by_power(int32_t value, int exponent)
{
    const int32_t mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
    const int32_t rest = value & mask;
    const int32_t threshold = (mask >> 1) + (value < 0 ? 1 : 0);
    return (value >> exponent) + (rest > threshold ? 1 : 0);
}

int32_t scale_twice(int32_t value, double real)
{
    int shift;
    auto factor = static_cast<int64_t>(std::round(std::frexp(real, &shift) * 0x1p31));
    if (factor == int64_t{1} << 31) {
        factor /= 2;
        ++shift;
    }
    if (shift < -31) return 0;
    const int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    return divide_by_power(double_high_product(value * (1 << left), static_cast<int32_t>(factor)),
                           right);
}

// ---- XNNPACK ----

double scale_as_floats(int32_t value, float a, float b, float y)
{
    const float product = a * b;
    const volatile float factor = product / y;
    const volatile float scaled = static_cast<float>(value) * factor;
    return std::nearbyint(double{scaled});
}

struct Scales
{
    float a, b, y;
};

double scale(ir_rounding_t rounding, int32_t value, const Scales& by)
{
    if (rounding == IR_ROUNDING_FLOAT) return scale_as_floats(value, by.a, by.b, by.y);
    return scale_twice(value, double{by.a} * double{by.b} / double{by.y});
}

// With ties, with products of many bits, with results beyond a byte, and with small results.
constexpr Scales kScales[] = {{0.5f, 0.25f, 1},     {0.02f, 0.031f, 0.4f}, {0.0313f, 0.007f, 0.11f},
                              {0.1f, 0.1f, 0.003f}, {1e-4f, 1e-3f, 1},     {0.7f, 0.7f, 0.3f}};

// ---- tests ----

TEST(ByteRounding, ProductsOfMatrices)
{
    constexpr int kRows = 13, kDepth = 37, kColumns = 70;
    for (const ir_rounding_t rounding : kRoundings)
        for (const int type : kInt8Types)
            for (const Scales& scales : kScales) {
                SCOPED_TRACE(rounding * 100 + scales.a);
                ByteNode node;
                node.bytes("a", {kRows, kDepth}, type);
                node.bytes("b", {kDepth, kColumns}, type);
                node.bytes("a_zero", {}, type);
                node.bytes("b_zero", {}, type);
                node.bytes("y_zero", {}, type);
                node.floats("a_scale", {}, {scales.a});
                node.floats("b_scale", {}, {scales.b});
                node.floats("y_scale", {}, {scales.y});
                node.make("QLinearMatMul", {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero",
                                            "y_scale", "y_zero"});
                node.infer();
                round_as(node, rounding);
                node.judge("matmul.s8.packed", [&](const Bytes& y) {
                    for (int i = 0; i < kRows * kColumns; ++i) {
                        int sum = 0;
                        for (int k = 0; k < kDepth; ++k)
                            sum += (element(node.find("a"), i / kColumns * kDepth + k) -
                                    element(node.find("a_zero"), 0)) *
                                   (element(node.find("b"), k * kColumns + i % kColumns) -
                                    element(node.find("b_zero"), 0));
                        ASSERT_EQ(number_of(y[static_cast<size_t>(i)], type),
                                  to_byte(scale(rounding, sum, scales),
                                          element(node.find("y_zero"), 0), type))
                            << i << ", sum " << sum;
                    }
                });
            }
}

// A node of two tensors of bytes.
class PairNode : public ByteNode
{
  public:
    PairNode(const char* op, const Scales& scales, const std::vector<int>& b_dims, int type,
             ir_rounding_t rounding)
    {
        bytes("a", {2, 256, 83}, type);
        bytes("b", b_dims, type);
        for (const char* zero : {"a_zero", "b_zero", "y_zero"})
            bytes(zero, {}, type);
        floats("a_scale", {}, {scales.a});
        floats("b_scale", {}, {scales.b});
        floats("y_scale", {}, {scales.y});
        make(std::string("com.microsoft.") + op,
             {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
        infer();
        round_as(*this, rounding);
    }
    int centred(const char* name, const char* zero, int64_t i)
    {
        return element(find(name), i % find(name)->elem_num) - element(find(zero), 0);
    }
};

void multiply_pairs(const std::vector<int>& b_dims)
{
    for (const ir_rounding_t rounding : kRoundings)
        for (const int type : kInt8Types)
            for (const Scales& scales : kScales) {
                PairNode node("QLinearMul", scales, b_dims, type, rounding);
                node.judge("mul.s8.vector", [&](const Bytes& y) {
                    for (size_t i = 0; i < y.size(); ++i) {
                        const auto at = static_cast<int64_t>(i);
                        const int product =
                            node.centred("a", "a_zero", at) * node.centred("b", "b_zero", at);
                        ASSERT_EQ(number_of(y[i], type),
                                  to_byte(scale(rounding, product, scales),
                                          element(node.find("y_zero"), 0), type))
                            << i << ", product " << product;
                    }
                });
            }
}

TEST(ByteRounding, Products)
{
    multiply_pairs({2, 256, 83});
}

TEST(ByteRounding, ProductsWithAValueForEachChannel)
{
    multiply_pairs({83});
}

// XNNPACK's vcvt multiplies by 1 / scale. The values are near ties of the quotient.
TEST(ByteRounding, Floats)
{
    for (const int type : kInt8Types)
        for (const float scale : {0.007074202f, 0.01865845f, 0.007843f, 0.3f}) {
            SCOPED_TRACE(scale);
            const volatile float factor = 1 / scale;
            std::vector<float> values;
            for (int i = -600; i < 600; ++i)
                for (const float limit : {-1e9f, 1e9f}) {
                    const float tie = (static_cast<float>(i) + 0.5f) * scale;
                    values.push_back(tie);
                    values.push_back(std::nextafter(tie, limit));
                }
            ByteNode node;
            node.floats("x", {static_cast<int>(values.size())}, values);
            node.floats("scale", {}, {scale});
            node.bytes("zero", {}, type);
            node.make("QuantizeLinear", {"x", "scale", "zero"});
            node.infer();
            round_as(node, IR_ROUNDING_FLOAT);
            int different = 0;
            node.judge("quantize.s8.tensor", [&](const Bytes& y) {
                for (size_t i = 0; i < y.size(); ++i) {
                    const volatile float product = values[i] * factor;
                    const double place = std::nearbyint(double{product});
                    if (place != std::nearbyint(double{values[i] / scale})) ++different;
                    ASSERT_EQ(number_of(y[i], type),
                              to_byte(place, element(node.find("zero"), 0), type))
                        << values[i];
                }
            });
            EXPECT_GT(different, 0);
        }
}

// As TensorFlow Lite's kernels add.
TEST(ByteRounding, SumsOfMicro)
{
    for (const int type : kInt8Types)
        for (const Scales& scales : kScales) {
            const Scales similar = {scales.a, scales.b, scales.a + scales.b};
            PairNode node("QLinearAdd", similar, {2, 256, 83}, type, IR_ROUNDING_TWICE);
            const double unit = 2 * std::fmax(double{scales.a}, double{scales.b});
            node.judge("reference", [&](const Bytes& y) {
                for (size_t i = 0; i < y.size(); ++i) {
                    const auto at = static_cast<int64_t>(i);
                    const int a = node.centred("a", "a_zero", at) * (1 << 20);
                    const int b = node.centred("b", "b_zero", at) * (1 << 20);
                    const int sum = scale_twice(a, double{scales.a} / unit) +
                                    scale_twice(b, double{scales.b} / unit);
                    ASSERT_EQ(number_of(y[i], type),
                              to_byte(scale_twice(sum, unit / (0x1p20 * double{similar.y})),
                                      element(node.find("y_zero"), 0), type))
                        << i;
                }
            });
        }
}

struct Conv
{
    std::vector<int> x, w;
    int group;
};

// For pixels, Winograd's algorithm and a kernel for each channel.
const Conv kConvs[] = {{{1, 24, 9, 7}, {35, 24, 1, 1}, 1},
                       {{1, 32, 12, 12}, {32, 32, 3, 3}, 1},
                       {{1, 40, 9, 7}, {40, 1, 3, 3}, 40}};

TEST(ByteRounding, Convolutions)
{
    for (const ir_rounding_t rounding : kRoundings)
        for (const Conv& conv : kConvs) {
            SCOPED_TRACE(conv.group);
            const int filters = conv.w[0];
            ByteNode node;
            node.bytes("x", conv.x, TENGINE_DT_INT8);
            node.bytes("w", conv.w, TENGINE_DT_INT8);
            node.bytes("x_zero", {}, TENGINE_DT_INT8);
            node.bytes("w_zero", {}, TENGINE_DT_INT8);
            node.find("w_zero")->u8[0] = 0;
            node.bytes("y_zero", {}, TENGINE_DT_INT8);
            node.floats("x_scale", {}, {0.02f});
            std::vector<float> scales;
            for (int i = 0; i < filters; ++i)
                scales.push_back(0.0013f * static_cast<float>(i % 11 + 1));
            node.floats("w_scale", {filters}, scales);
            node.floats("y_scale", {}, {0.071f});
            node.make("QLinearConv",
                      {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"});
            node.set("group", conv.group);
            if (conv.w[2] > 1) node.set("pads", {1, 1, 1, 1});
            node.infer();
            round_as(node, rounding);
            EXPECT_EQ(node.compare_fast({1, 3}), cpu::get_vector_target_num() > 0);
        }
}

// Twice as many positions along both axes: a result is a sum of sixteenths.
TEST(ByteRounding, TiesOfAResizeGoUp)
{
    constexpr int kChannels = 19, kHeight = 5, kWidth = 6;
    for (const int type : kInt8Types) {
        ByteNode node;
        node.bytes("x", {1, kChannels, kHeight, kWidth}, type);
        node.floats("scales", {4}, {1, 1, 2, 2});
        node.make("Resize", {"x", "", "scales"});
        EXPECT_EQ(set_node_text(node.node(), "mode", "linear", 6), TENGINE_OK);
        node.infer();
        round_as(node, IR_ROUNDING_FLOAT);
        const auto at = [&](int channel, int y, int x) {
            const int row = std::min(std::max(y, 0), kHeight - 1);
            const int column = std::min(std::max(x, 0), kWidth - 1);
            return element(node.find("x"), (channel * kHeight + row) * kWidth + column);
        };
        node.judge("resize.s8.linear_nhwc", [&](const Bytes& bytes) {
            for (int i = 0; i < kChannels * kHeight * kWidth * 4; ++i) {
                const int x = i % (2 * kWidth), y = i / (2 * kWidth) % (2 * kHeight);
                const int channel = i / (4 * kWidth * kHeight);
                const int left = (x + 1) / 2 - 1, top = (y + 1) / 2 - 1;
                const int right_weight = x % 2 == 0 ? 3 : 1, low_weight = y % 2 == 0 ? 3 : 1;
                int sum = 0;
                for (int k = 0; k < 4; ++k)
                    sum += at(channel, top + k / 2, left + k % 2) *
                           (k % 2 == 1 ? right_weight : 4 - right_weight) *
                           (k / 2 == 1 ? low_weight : 4 - low_weight);
                ASSERT_EQ(number_of(bytes[static_cast<size_t>(i)], type),
                          std::floor(sum / 16.0 + 0.5))
                    << i;
            }
        });
    }
}

// The roundings differ: the tests above could not see an option that does nothing.
TEST(ByteRounding, AreThreeDifferentOnes)
{
    const double real = 0.125;  // ties are frequent
    ir_multiplier_t multiplier;
    ASSERT_EQ(make_ir_multipliers(&real, 1, &multiplier), TENGINE_OK);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_NEAREST, 4, multiplier), 0);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_FLOAT, 4, multiplier), 0);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_TWICE, 4, multiplier), 1);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_TWICE, -4, multiplier), -1);
    // A float cannot be 2^24 + 1.
    const double one = 1;
    ASSERT_EQ(make_ir_multipliers(&one, 1, &multiplier), TENGINE_OK);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_NEAREST, 16777217, multiplier), 16777217);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_FLOAT, 16777217, multiplier), 16777216);
    EXPECT_EQ(scale_ir_sum(IR_ROUNDING_TWICE, 16777217, multiplier), 16777217);
}

}  // namespace
}  // namespace tengine::test

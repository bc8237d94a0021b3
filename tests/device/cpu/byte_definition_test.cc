// SPDX-License-Identifier: Apache-2.0
// Quantisation, sums and products in int8 and uint8 against their definitions, written out here in
// doubles: a third implementation checks the fast kernels and the reference. Pools and rows are in
// byte_row_definition_test.cc.
#include "device/cpu/byte_definition.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

#include "device/cpu/byte_node.h"

namespace tengine::test {
namespace {

using Limits = std::numeric_limits<float>;

// ---- QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear ----

std::vector<float> edge_values()
{
    std::vector<float> values = {Limits::quiet_NaN(),
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::denorm_min(),
                                 -Limits::denorm_min(),
                                 Limits::min(),
                                 Limits::max(),
                                 Limits::lowest(),
                                 0.0f,
                                 -0.0f,
                                 2147483648.0f,
                                 -2147483648.0f,
                                 4294967296.0f,
                                 9e18f};
    for (int half = -1100; half <= 1100; ++half) {
        const float tie = static_cast<float>(half) / 2;
        for (const float value : {tie, std::nextafter(tie, 1e9f), std::nextafter(tie, -1e9f)})
            for (const float scale : {1.0f, 0.1f, 3e-39f})
                values.push_back(value * scale);
    }
    return values;
}

void quantize_edges(float scale, int zero_point, int type)
{
    const std::vector<float> x = edge_values();
    ByteNode node;
    node.floats("x", {static_cast<int>(x.size())}, x);
    node.floats("scale", {}, {scale});
    node.bytes("zero", {}, type);
    node.find("zero")->u8[0] = static_cast<uint8_t>(zero_point);
    node.make("QuantizeLinear", {"x", "scale", "zero"});
    node.infer();
    node.judge("quantize.s8.tensor", [&](const Bytes& y) {
        for (size_t i = 0; i < x.size(); ++i) {
            // A quotient of two floats is rounded to a float. A quotient of doubles rounds to the
            // same float.
            const auto quotient = static_cast<float>(double{x[i]} / double{scale});
            ASSERT_EQ(number_of(y[i], type), to_byte(double{quotient}, zero_point, type)) << x[i];
        }
    });
}

TEST(Int8Definition, QuantizeLinear)
{
    for (const int type : kInt8Types)
        for (const int offset : {0, 1, 127, 128, 254, 255})
            for (const float scale : {1.0f, 0.1f, -2.0f, 3e-39f, 1e38f, 0.0f}) {
                SCOPED_TRACE(scale);
                quantize_edges(scale, lowest_of(type) + offset, type);
            }
}

TEST(Int8Definition, DequantizeLinear)
{
    for (const int type : kInt8Types)
        for (const int offset : {0, 127, 128, 255})
            for (const float scale : {0.1f, -2.0f, 3e-39f, 1e38f, 0.0f}) {
                SCOPED_TRACE(scale);
                ByteNode node;
                node.bytes("x", {259}, type);
                for (int i = 0; i < 256; ++i)
                    node.find("x")->u8[i] = static_cast<uint8_t>(i);
                node.floats("scale", {}, {scale});
                node.bytes("zero", {}, type);
                node.find("zero")->u8[0] = static_cast<uint8_t>(lowest_of(type) + offset);
                node.make("DequantizeLinear", {"x", "scale", "zero"});
                node.infer();
                node.judge("dequantize.s8.tensor", [&](const Bytes& bytes) {
                    for (int i = 0; i < 259; ++i) {
                        float y;
                        std::memcpy(&y, bytes.data() + size_t{4} * static_cast<size_t>(i), 4);
                        const int centred =
                            element(node.find("x"), i) - element(node.find("zero"), 0);
                        ASSERT_EQ(y, static_cast<float>(centred * double{scale})) << i;
                    }
                });
            }
}

void quantize_dynamically(const std::vector<float>& x)
{
    SCOPED_TRACE(testing::PrintToString(std::vector<float>(x.begin(), x.begin() + 2)));
    ByteNode node;
    node.floats("x", {static_cast<int>(x.size())}, x);
    node.make("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
    node.infer();
    double lowest = 0, highest = 0;
    for (const float value : x) {
        if (value < lowest) lowest = double{value};
        if (value > highest) highest = double{value};
    }
    const auto span = static_cast<float>(highest - lowest);
    const float scale = highest == lowest ? 1 : span / 255;
    const double zero =
        to_byte(double{static_cast<float>(-lowest / double{scale})}, 0, TENGINE_DT_UINT8);
    node.judge("dynamic_quantize.s8.tensor", [&](const Bytes& outputs) {
        ASSERT_EQ(outputs.size(), x.size() + 5);
        float written;
        std::memcpy(&written, outputs.data() + x.size(), sizeof written);
        EXPECT_EQ(written, scale);
        EXPECT_EQ(outputs.back(), zero);
        for (size_t i = 0; i < x.size(); ++i) {
            const auto quotient = static_cast<float>(double{x[i]} / double{scale});
            ASSERT_EQ(outputs[i],
                      to_byte(double{quotient}, static_cast<int>(zero), TENGINE_DT_UINT8))
                << x[i];
        }
    });
}

TEST(Int8Definition, DynamicQuantizeLinear)
{
    std::vector<float> x(131);
    const auto spread = [&](float low, float high) {
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = low + (high - low) * static_cast<float>(i) / static_cast<float>(x.size() - 1);
        quantize_dynamically(x);
    };
    spread(0, 0);
    spread(-1, 1);
    spread(0, 255);  // ties at every half
    spread(3, 9);    // a range without 0
    spread(-9, -3);
    spread(-1e-40f, 2e-40f);
    spread(-1e38f, 2e38f);
    x[7] = Limits::quiet_NaN();
    quantize_dynamically(x);
    std::fill(x.begin(), x.end(), Limits::quiet_NaN());
    quantize_dynamically(x);
}

// ---- QLinearAdd, QLinearMul, QLinearMatMul ----

struct Scales
{
    float a, b, y;
};

// All sums and products of two 8-bit values, at least a third of which are ties; of different
// sizes; with factors that a common shift barely represents.
const Scales kScales[] = {
    {1, 1, 2},      {0.5f, 0.25f, 1}, {1, 0.5f, 65536}, {0.02f, 0.031f, 0.04f}, {3, 0.004f, 1},
    {1e-20f, 1, 1}, {0, 1, 3},        {1, 1, 1e-3f},    {30000, 69000, 1e9f}};

class PairNode : public ByteNode
{
  public:
    PairNode(const char* op, const Scales& scales, int a_type, int b_type, int y_type, int zero)
    {
        bytes("a", {256, 256}, a_type);
        bytes("b", {256, 256}, b_type);
        for (int i = 0; i < 256 * 256; ++i) {
            find("a")->u8[i] = static_cast<uint8_t>(i / 256);
            find("b")->u8[i] = static_cast<uint8_t>(i);
        }
        number("a_zero", a_type, zero);
        number("b_zero", b_type, 255 - zero);
        number("y_zero", y_type, zero / 2);
        floats("a_scale", {}, {scales.a});
        floats("b_scale", {}, {scales.b});
        floats("y_scale", {}, {scales.y});
        make(std::string("com.microsoft.") + op,
             {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
        infer();
    }
    // The centred values of all 256 codes: `a` has them in its rows, `b` in its columns.
    std::array<int, 256> centred(const char* name, const char* zero)
    {
        std::array<int, 256> numbers;
        for (int byte = 0; byte < 256; ++byte)
            numbers[static_cast<size_t>(byte)] =
                element(find(name), byte * (*name == 'a' ? 256 : 1)) - element(find(zero), 0);
        return numbers;
    }

  private:
    void number(const std::string& name, int type, int above)
    {
        bytes(name, {}, type);
        find(name)->u8[0] = static_cast<uint8_t>(lowest_of(type) + above);
    }
};

template <class Function>
void combine_pairs(const char* op, const char* kernel, const Function& function)
{
    for (const Scales& scales : kScales)
        for (const int type : kInt8Types)
            for (const int zero : {0, 128, 255}) {
                SCOPED_TRACE(
                    testing::PrintToString(std::vector<float>{scales.a, scales.b, scales.y}));
                const int b_type = zero == 128 ? TENGINE_DT_INT8 : type;
                PairNode node(op, scales, type, b_type, type, zero);
                const int y_zero = element(node.find("y_zero"), 0);
                const auto a = node.centred("a", "a_zero"), b = node.centred("b", "b_zero");
                node.judge(kernel, [&](const Bytes& y) {
                    for (size_t i = 0; i < 256 * 256; i += 1 + i % 3) {
                        const double real = function(a[i / 256], b[i % 256], scales);
                        expect_nearest(y[i], type, real, y_zero, doubt_of(255.0 * 255));
                        if (testing::Test::HasFailure()) return;
                    }
                });
            }
}

TEST(Int8Definition, QLinearAdd)
{
    combine_pairs("QLinearAdd", "add.s8.vector", [](int a, int b, const Scales& scales) {
        return (a * double{scales.a} + b * double{scales.b}) / double{scales.y};
    });
}

TEST(Int8Definition, QLinearMul)
{
    combine_pairs("QLinearMul", "mul.s8.vector", [](int a, int b, const Scales& scales) {
        return a * double{scales.a} * b * double{scales.b} / double{scales.y};
    });
}

// Scales that are powers of two: the factors are exact, and ties round to the even value.
TEST(Int8Definition, TiesGoToTheEvenByte)
{
    for (const int type : kInt8Types) {
        PairNode sum("QLinearAdd", {1, 1, 2}, type, type, type, 128);
        const auto a = sum.centred("a", "a_zero"), b = sum.centred("b", "b_zero");
        const int zero = element(sum.find("y_zero"), 0);
        sum.judge("add.s8.vector", [&](const Bytes& y) {
            for (size_t i = 0; i < 256 * 256; ++i)
                ASSERT_EQ(number_of(y[i], type),
                          to_byte((a[i / 256] + b[i % 256]) / 2.0, zero, type));
        });
        PairNode product("QLinearMul", {0.25f, 0.5f, 1}, type, type, type, 128);
        product.judge("mul.s8.vector", [&](const Bytes& y) {
            for (size_t i = 0; i < 256 * 256; ++i)
                ASSERT_EQ(number_of(y[i], type),
                          to_byte(a[i / 256] * b[i % 256] / 8.0, zero, type));
        });
    }
}

// The requantisation of products: of convolutions too, whose sums are made elsewhere.
TEST(Int8Definition, QLinearMatMul)
{
    for (const int a_type : kInt8Types)
        for (const int b_type : kInt8Types)
            for (const Scales& scales : kScales) {
                SCOPED_TRACE(
                    testing::PrintToString(std::vector<float>{scales.a, scales.b, scales.y}));
                constexpr int kRows = 13, kDepth = 37, kColumns = 21;
                ByteNode node;
                node.bytes("a", {kRows, kDepth}, a_type);
                node.bytes("b", {kDepth, kColumns}, b_type);
                node.bytes("a_zero", {}, a_type);
                node.bytes("b_zero", {}, b_type);
                node.bytes("y_zero", {}, a_type);
                node.floats("a_scale", {}, {scales.a / 64});
                node.floats("b_scale", {}, {scales.b});
                node.floats("y_scale", {}, {scales.y});
                node.make("QLinearMatMul", {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero",
                                            "y_scale", "y_zero"});
                node.infer();
                const double factor = double{scales.a / 64} * double{scales.b} / double{scales.y};
                node.judge("matmul.s8.packed", [&](const Bytes& y) {
                    for (int i = 0; i < kRows * kColumns; ++i) {
                        int sum = 0;
                        for (int k = 0; k < kDepth; ++k)
                            sum += (element(node.find("a"), i / kColumns * kDepth + k) -
                                    element(node.find("a_zero"), 0)) *
                                   (element(node.find("b"), k * kColumns + i % kColumns) -
                                    element(node.find("b_zero"), 0));
                        expect_nearest(y[static_cast<size_t>(i)], a_type, sum * factor,
                                       element(node.find("y_zero"), 0), doubt_of(255.0 * 255 * 37));
                        if (testing::Test::HasFailure()) return;
                    }
                });
            }
}

}  // namespace
}  // namespace tengine::test

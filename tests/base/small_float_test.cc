// SPDX-License-Identifier: Apache-2.0
// base/small_float.h against values by ldexp() and a search for the nearest, which share no code
// with it, and base/packed_bits.h.
#include "base/small_float.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "base/packed_bits.h"
#include "tengine/defines.h"

namespace tengine {
namespace {

// The five formats with a sign, by their specifications.
struct Expected
{
    int data_type;
    int exponent_bits, mantissa_bits, bias;
    int finite;            // magnitudes 0 to finite - 1 are numbers
    double greatest;       // the last of these numbers
    int over;              // magnitude of a number that is too large, without saturation; -1: NaN
    bool has_minus_zero;   // else its code is NaN
    bool is_nan_possible;  // else NaN is -0
};

constexpr Expected kExpected[] = {
    {TENGINE_DT_FLOAT8E4M3FN, 4, 3, 7, 127, 448, -1, true, true},
    {TENGINE_DT_FLOAT8E4M3FNUZ, 4, 3, 8, 128, 240, -1, false, true},
    {TENGINE_DT_FLOAT8E5M2, 5, 2, 15, 124, 57344, 0x7c, true, true},
    {TENGINE_DT_FLOAT8E5M2FNUZ, 5, 2, 16, 128, 57344, -1, false, true},
    {TENGINE_DT_FLOAT4E2M1, 2, 1, 1, 8, 6, 7, true, false},
};

int sign_of(const Expected& format)
{
    return 1 << (format.exponent_bits + format.mantissa_bits);
}

double value_of(const Expected& format, int magnitude)
{
    const int exponent = magnitude >> format.mantissa_bits;
    const int mantissa = magnitude & ((1 << format.mantissa_bits) - 1);
    if (exponent == 0) return std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
    return std::ldexp(mantissa + (1 << format.mantissa_bits),
                      exponent - format.bias - format.mantissa_bits);
}

class SmallFloat : public testing::TestWithParam<Expected>
{
  protected:
    const Expected expected = GetParam();
    const small_float_t* format = find_small_float(expected.data_type);

    bool is_nan(int code) const
    {
        return std::isnan(small_float_to_double(format, static_cast<uint8_t>(code)));
    }

    // Returns the code of a number, by search.
    int slow_code(double value) const
    {
        int nearest = 0;
        for (int i = 1; i < expected.finite; ++i) {
            const double error = std::fabs(std::fabs(value) - value_of(expected, i));
            const double least = std::fabs(std::fabs(value) - value_of(expected, nearest));
            if (error < least || (error == least && i % 2 == 0)) nearest = i;
        }
        const bool has_sign = std::signbit(value) && (nearest > 0 || expected.has_minus_zero);
        return nearest | (has_sign ? sign_of(expected) : 0);
    }

    void check(double value) const
    {
        for (const double signed_value : {value, -value})
            for (const bool saturate : {true, false})
                ASSERT_EQ(double_to_small_float(format, signed_value, saturate),
                          slow_code(signed_value))
                    << signed_value;
    }
};

TEST_P(SmallFloat, EveryCodeIsItsNumberAndComesBack)
{
    ASSERT_NE(format, nullptr);
    EXPECT_EQ(value_of(expected, expected.finite - 1), expected.greatest);
    for (int code = 0; code < 2 * sign_of(expected); ++code) {
        const int magnitude = code & (sign_of(expected) - 1);
        const bool is_negative = code != magnitude;
        const double value = small_float_to_double(format, static_cast<uint8_t>(code));
        const bool is_number = magnitude < expected.finite &&
                               (expected.has_minus_zero || magnitude > 0 || !is_negative);
        if (!is_number && magnitude != expected.over) {
            EXPECT_TRUE(std::isnan(value)) << code;
            continue;
        }
        EXPECT_EQ(std::signbit(value), is_negative) << code;
        EXPECT_EQ(std::fabs(value), is_number ? value_of(expected, magnitude) : HUGE_VAL) << code;
        EXPECT_EQ(double_to_small_float(format, value, false), code);
    }
}

// Tests every value and every midpoint, with the doubles next to them: where rounding may change.
// The neighbouring doubles show that values are not rounded to float first.
TEST_P(SmallFloat, RoundsRightAtEveryBoundary)
{
    for (int i = 0; i + 1 < expected.finite; ++i) {
        const double low = value_of(expected, i);
        const double middle = (low + value_of(expected, i + 1)) / 2;
        for (const double at : {low, middle}) {
            check(at);
            check(std::nextafter(at, 0.0));
            check(std::nextafter(at, 1e9));
        }
        if (HasFatalFailure()) return;
    }
    check(std::numeric_limits<double>::denorm_min());
    check(1e-300);
}

TEST_P(SmallFloat, SaturatesOrNot)
{
    const double step = expected.greatest - value_of(expected, expected.finite - 2);
    // As far above the largest as a number that would round to the next; it still rounds to the
    // largest: with an even code, so does the midpoint.
    const double limit = expected.greatest + step / 2;
    const bool is_even = expected.finite % 2 == 1;
    EXPECT_EQ(double_to_small_float(format, is_even ? limit : std::nextafter(limit, 0), false),
              expected.finite - 1);
    for (const double over : {std::nextafter(limit, 1e9), 1e300, HUGE_VAL}) {
        EXPECT_EQ(double_to_small_float(format, over, true), expected.finite - 1);
        EXPECT_EQ(double_to_small_float(format, -over, true),
                  (expected.finite - 1) | sign_of(expected));
        const int code = double_to_small_float(format, over, false);
        const int minus = double_to_small_float(format, -over, false);
        if (expected.over >= 0) {
            EXPECT_EQ(code, expected.over);
            EXPECT_EQ(minus, expected.over | sign_of(expected));
        } else {
            EXPECT_TRUE(is_nan(code) && is_nan(minus)) << code;
        }
    }
}

TEST_P(SmallFloat, NanIsOne)
{
    for (const bool saturate : {true, false}) {
        const int code = double_to_small_float(format, std::nan(""), saturate);
        EXPECT_EQ(is_nan(code), expected.is_nan_possible);
        if (!expected.is_nan_possible) {
            EXPECT_EQ(code, 8);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat, testing::ValuesIn(kExpected));

TEST(SmallFloatPower, EveryCodeIsItsPowerOfTwo)
{
    const small_float_t* format = find_small_float(TENGINE_DT_FLOAT8E8M0);
    EXPECT_TRUE(std::isnan(small_float_to_double(format, 0xff)));
    for (int code = 0; code < 0xff; ++code) {
        const double value = std::ldexp(1, code - 127);
        EXPECT_EQ(small_float_to_double(format, static_cast<uint8_t>(code)), value);
        for (const power_rounding rounding : {POWER_UP, POWER_DOWN, POWER_NEAREST})
            EXPECT_EQ(double_to_power(value, false, rounding), code);
        if (code == 0xfe) break;
        EXPECT_EQ(double_to_power(std::nextafter(value, 1e300), false, POWER_UP), code + 1);
        EXPECT_EQ(double_to_power(std::nextafter(2 * value, 0), false, POWER_DOWN), code);
        EXPECT_EQ(double_to_power(1.5 * value, false, POWER_NEAREST), code + 1);
        EXPECT_EQ(double_to_power(std::nextafter(1.5 * value, 0), false, POWER_NEAREST), code);
    }
}

TEST(SmallFloatPower, BeyondItsRange)
{
    const double most = std::ldexp(1, 127);
    for (const double over : {std::nextafter(most, HUGE_VAL), 1e300, HUGE_VAL}) {
        EXPECT_EQ(double_to_power(over, true, POWER_UP), 0xfe);
        EXPECT_EQ(double_to_power(over, false, POWER_UP), 0xff);
    }
    for (const double under : {0.0, -0.0, 1e-300, std::ldexp(1, -129)}) {
        EXPECT_EQ(double_to_power(under, true, POWER_UP), 0);
        EXPECT_EQ(double_to_power(under, false, POWER_UP), 0xff);
    }
    EXPECT_EQ(double_to_power(std::ldexp(1.25, -128), false, POWER_UP), 0);
    for (const bool saturate : {true, false})
        for (const double none : {std::nan(""), -1.0, -HUGE_VAL})
            EXPECT_EQ(double_to_power(none, saturate, POWER_UP), 0xff);
}

TEST(SmallFloatTable, OtherTypesAreNone)
{
    for (const int type : {-1, TENGINE_DT_FP32, TENGINE_DT_INT2, TENGINE_DT_FLOAT8E8M0 + 1, 255})
        EXPECT_EQ(find_small_float(type), nullptr) << type;
}

// ---- packed_bits.h ----

TEST(PackedBits, BytesOfElements)
{
    EXPECT_EQ(count_packed_bytes(0, 4), 0u);
    EXPECT_EQ(count_packed_bytes(1, 4), 1u);
    EXPECT_EQ(count_packed_bytes(3, 4), 2u);
    EXPECT_EQ(count_packed_bytes(5, 2), 2u);
    EXPECT_EQ(count_packed_bytes(3, 64), 24u);
}

TEST(PackedBits, FirstElementsAreInTheLowBits)
{
    const std::vector<uint8_t> elements = {1, 2, 3, 0, 2};
    uint8_t packed[3] = {0xee, 0xee, 0xee};
    pack_bits(elements.data(), 0, 5, 4, packed);
    EXPECT_EQ(packed[0], 0x21);
    EXPECT_EQ(packed[1], 0x03);
    EXPECT_EQ(packed[2], 0x02);
    pack_bits(elements.data(), 0, 5, 2, packed);
    EXPECT_EQ(packed[0], 0x39);
    EXPECT_EQ(packed[1], 0x02);
    EXPECT_EQ(packed[2], 0x02);  // not one of its two bytes
}

TEST(PackedBits, AnyStretchIsUnpacked)
{
    for (const int bits : {2, 4, 8}) {
        std::vector<uint8_t> elements;
        for (int i = 0; i < 21; ++i)
            elements.push_back(static_cast<uint8_t>(i * 7 & ((1 << bits) - 1)));
        std::vector<uint8_t> packed(count_packed_bytes(21, bits));
        pack_bits(elements.data(), 0, 8, bits, packed.data());
        pack_bits(elements.data() + 8, 8, 13, bits, packed.data());
        for (int begin = 0; begin < 21; ++begin) {
            std::vector<uint8_t> stretch(static_cast<size_t>(21 - begin));
            unpack_bits(packed.data(), begin, 21 - begin, bits, stretch.data());
            EXPECT_TRUE(std::equal(stretch.begin(), stretch.end(), elements.begin() + begin));
        }
    }
}

TEST(PackedBits, SignsAreExtended)
{
    EXPECT_EQ(extend_sign(7, 4), 7);
    EXPECT_EQ(extend_sign(8, 4), -8);
    EXPECT_EQ(extend_sign(15, 4), -1);
    EXPECT_EQ(extend_sign(1, 2), 1);
    EXPECT_EQ(extend_sign(2, 2), -2);
}

}  // namespace
}  // namespace tengine

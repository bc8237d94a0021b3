// SPDX-License-Identifier: Apache-2.0
// base/half.h against a reference that shares nothing with it: values by ldexp(), rounding by
// nearbyint() in double, both exact here.
#include "base/half.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace tengine {
namespace {

// A binary format with `kFraction` fraction bits and 15 - kFraction exponent bits.
template <int kFraction>
struct Reference
{
    static constexpr int kExponentBits = 15 - kFraction;
    static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
    static constexpr int kInfinity = ((1 << kExponentBits) - 1) << kFraction;

    static double decode(int bits)
    {
        const int exponent = bits >> kFraction & ((1 << kExponentBits) - 1);
        const int fraction = bits & ((1 << kFraction) - 1);
        const double sign = bits & 0x8000 ? -1.0 : 1.0;
        if (exponent == 0) return sign * std::ldexp(fraction, 1 - kBias - kFraction);
        return sign * std::ldexp((1 << kFraction) + fraction, exponent - kBias - kFraction);
    }

    // Returns the code of any number except NaN.
    static int encode(float value)
    {
        const int sign = std::signbit(value) ? 0x8000 : 0;
        const double magnitude = std::fabs(static_cast<double>(value));
        if (std::isinf(value)) return sign | kInfinity;
        if (magnitude == 0) return sign;
        int exponent = std::ilogb(magnitude);
        if (exponent < 1 - kBias) exponent = 1 - kBias;
        // The mantissa in units of the last place; it may carry into the next exponent, which the
        // addition handles.
        const int units =
            static_cast<int>(std::nearbyint(std::ldexp(magnitude, kFraction - exponent)));
        const int bits = ((exponent + kBias - 1) << kFraction) + units;
        return sign | (bits < kInfinity ? bits : kInfinity);
    }
};

using Fp16 = Reference<10>;
using Bf16 = Reference<7>;

bool is_nan(int bits, int infinity)
{
    return (bits & 0x7fff) > infinity;
}

TEST(Half, AllFp16ValuesWiden)
{
    for (int bits = 0; bits < 0x10000; ++bits) {
        const uint16_t half = static_cast<uint16_t>(bits);
        const float value = plain_fp16_to_fp32(half);
        if (is_nan(bits, Fp16::kInfinity)) {
            const uint32_t expected = static_cast<uint32_t>(bits & 0x8000) << 16 | 0x7fc00000u |
                                      static_cast<uint32_t>(bits & 0x3ff) << 13;
            ASSERT_EQ(expected, fp32_to_bits(value)) << bits;
        } else if ((bits & 0x7fff) == Fp16::kInfinity) {
            ASSERT_TRUE(std::isinf(value) && std::signbit(value) == (bits >= 0x8000)) << bits;
        } else {
            ASSERT_EQ(fp32_to_bits(static_cast<float>(Fp16::decode(bits))), fp32_to_bits(value))
                << bits;
        }
        ASSERT_EQ(fp32_to_bits(value), fp32_to_bits(fp16_to_fp32(half))) << bits;
    }
}

TEST(Half, AllFp16ValuesRoundTrip)
{
    for (int bits = 0; bits < 0x10000; ++bits) {
        const uint16_t half = static_cast<uint16_t>(bits);
        const int expected = is_nan(bits, Fp16::kInfinity) ? bits | 0x200 : bits;
        ASSERT_EQ(expected, plain_fp32_to_fp16(plain_fp16_to_fp32(half)));
        // GCC removes two native conversions that it sees together, and a NaN then stays
        // signalling.
        volatile const float value = fp16_to_fp32(half);
        ASSERT_EQ(expected, fp32_to_fp16(value));
    }
}

void check_narrowing(float value)
{
    ASSERT_EQ(Fp16::encode(value), plain_fp32_to_fp16(value)) << value;
    ASSERT_EQ(Fp16::encode(value), fp32_to_fp16(value)) << value;
    ASSERT_EQ(Bf16::encode(value), fp32_to_bf16(value)) << value;
}

void check_around(float value)
{
    for (float sign : {1.0f, -1.0f}) {
        check_narrowing(sign * value);
        check_narrowing(sign * std::nextafter(value, 0.0f));
        check_narrowing(sign * std::nextafter(value, std::numeric_limits<float>::infinity()));
    }
}

// Every value and every midpoint between neighbours, with the floats next to them: all places where
// rounding may change.
TEST(Half, Fp16RoundsRightAtEveryBoundary)
{
    for (int bits = 0; bits < Fp16::kInfinity; ++bits) {
        const double low = Fp16::decode(bits);
        const double high = Fp16::decode(bits + 1);
        check_around(static_cast<float>(low));
        check_around(static_cast<float>((low + high) / 2));
        if (HasFatalFailure()) return;
    }
}

TEST(Half, Bf16RoundsRightAtEveryBoundary)
{
    for (int bits = 0; bits < Bf16::kInfinity - 1; ++bits) {
        check_around(static_cast<float>(Bf16::decode(bits)));
        check_around(static_cast<float>((Bf16::decode(bits) + Bf16::decode(bits + 1)) / 2));
        if (HasFatalFailure()) return;
    }
    check_narrowing(std::numeric_limits<float>::max());
    check_narrowing(bits_to_fp32(0x7f7f7fffu));  // the last float that does not become infinity
    check_narrowing(bits_to_fp32(0x7f7f8000u));
}

TEST(Half, SweepOverAllFloats)
{
    for (uint64_t bits = 0; bits < UINT64_C(0x100000000); bits += 1499) {
        const float value = bits_to_fp32(static_cast<uint32_t>(bits));
        if (std::isnan(value)) continue;
        check_narrowing(value);
        if (HasFatalFailure()) return;
    }
}

TEST(Half, NansStayNans)
{
    for (uint32_t sign : {0u, 0x80000000u}) {
        for (uint32_t payload = 1; payload < 0x800000u; payload += 13) {
            const uint32_t bits = sign | 0x7f800000u | payload;
            const float value = bits_to_fp32(bits);
            const uint32_t fp16 = sign >> 16 | 0x7e00u | (payload >> 13 & 0x3ffu);
            ASSERT_EQ(fp16, plain_fp32_to_fp16(value)) << bits;
            ASSERT_EQ(fp16, fp32_to_fp16(value)) << bits;
            ASSERT_EQ(bits >> 16 | 0x40u, fp32_to_bf16(value)) << bits;
        }
    }
}

TEST(Half, AllBf16Values)
{
    for (int bits = 0; bits < 0x10000; ++bits) {
        const float value = bf16_to_fp32(static_cast<uint16_t>(bits));
        const bool nan = is_nan(bits, Bf16::kInfinity);
        ASSERT_EQ(nan, std::isnan(value));
        ASSERT_EQ(nan ? bits | 0x40 : bits, fp32_to_bf16(value));
        if (!nan && (bits & 0x7fff) < Bf16::kInfinity) {
            ASSERT_EQ(Bf16::decode(bits), value);
        }
    }
}

}  // namespace
}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// The exponential function as straight-line code, so that loops around it vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tengine::cpu {

inline int32_t bits_of(float value)
{
    int32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(int32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline float power_of_two(int32_t exponent)
{
    const uint32_t bits = static_cast<uint32_t>(exponent + 127) << 23;
    return float_of(static_cast<int32_t>(bits));
}

// Returns e^x = 2^n e^r with n the integer nearest to x / ln 2, |r| <= ln 2 / 2, and e^r from the
// Taylor polynomial of degree 7, whose remainder is below 2^-27. Within 1.5 units in the last place
// of std::exp everywhere, including subnormal results, infinities and NaN.
inline float exponential(float x)
{
    // Beyond +-104 the result is 0 or infinity. Magnitudes are compared as integers, which have the
    // same order: GCC compiles comparisons of floats to branches, and then it does not vectorise.
    constexpr int32_t kLimit = 0x42d00000;
    constexpr int32_t kInfinity = 0x7f800000;
    constexpr int32_t kQuietNan = 0x7fc00000;
    const int32_t magnitude = bits_of(x) & 0x7fffffff;
    const int32_t nan = -static_cast<int32_t>(magnitude > kInfinity) & kQuietNan;
    x = std::copysign(float_of(std::min(magnitude, kLimit)), x);
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    constexpr float kRound = 12582912.0f;
    constexpr int32_t kRoundBits = 0x4b400000;
    const float shifted = x * 1.44269504f + kRound;
    const int32_t n = bits_of(shifted) - kRoundBits;
    const float integer = shifted - kRound;
    // ln 2 in two parts: the product with the first, which has few bits, is exact.
    const float r = (x - integer * 0.693145752f) - integer * 1.42860677e-6f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    // In two steps, since 2^n itself may not be a normal number.
    const float result = p * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
    return float_of(bits_of(result) | nan);
}

inline double exponential(double x)
{
    return std::exp(x);
}

}  // namespace tengine::cpu

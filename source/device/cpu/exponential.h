// SPDX-License-Identifier: Apache-2.0
// The exponential function as straight-line code, so that loops around it vectorise.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tengine::cpu {

inline float power_of_two(int32_t exponent)
{
    const uint32_t bits = static_cast<uint32_t>(exponent + 127) << 23;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// e^x = 2^n e^r with n the integer nearest to x / ln 2, |r| <= ln 2 / 2, and e^r from the Taylor
// polynomial of degree 7, whose remainder is below 2^-27. Within 1.5 units in the last place of
// std::exp everywhere, including subnormal results, infinities and NaN.
inline float exponential(float x)
{
    // Beyond +-104 the result is 0 or infinity; a NaN passes. One comparison: gcc turns two into
    // branches, and then does not vectorise.
    const float magnitude = std::fabs(x);
    x = std::copysign(magnitude > 104.0f ? 104.0f : magnitude, x);
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    constexpr float kRound = 12582912.0f;
    constexpr int32_t kRoundBits = 0x4b400000;
    const float shifted = x * 1.44269504f + kRound;
    int32_t n;
    std::memcpy(&n, &shifted, sizeof n);
    n -= kRoundBits;
    const float integer = shifted - kRound;
    // ln 2 in two parts: the product with the first, of few bits, is exact.
    const float r = (x - integer * 0.693145752f) - integer * 1.42860677e-6f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    // In two steps, since 2^n itself may be no normal number.
    return p * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
}

inline double exponential(double x)
{
    return std::exp(x);
}

}  // namespace tengine::cpu

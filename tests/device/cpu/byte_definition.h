// SPDX-License-Identifier: Apache-2.0
// int8 and uint8 against the exact real numbers, for tests that check both kernels and the
// reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "tengine/ir.h"

namespace tengine::test {

using Bytes = std::vector<uint8_t>;

inline constexpr int kInt8Types[] = {TENGINE_DT_INT8, TENGINE_DT_UINT8};

inline int lowest_of(int type)
{
    return type == TENGINE_DT_INT8 ? -128 : 0;
}

inline int number_of(uint8_t byte, int type)
{
    return type == TENGINE_DT_INT8 ? static_cast<int8_t>(byte) : byte;
}

inline int element(const tensor* values, int64_t index)
{
    return number_of(values->u8[index], values->data_type);
}

// Rounds half to even and saturates. NaN becomes the lowest value, as in this library's operators.
inline double to_byte(double real, int zero_point, int type)
{
    const double lowest = lowest_of(type), rounded = std::nearbyint(real) + zero_point;
    return rounded > lowest ? std::min(rounded, lowest + 255) : lowest;
}

// Expects the nearest result to a real number that is known within `doubt`.
inline void expect_nearest(uint8_t byte, int type, double real, int zero_point, double doubt)
{
    const double lowest = lowest_of(type);
    const double exact = std::min(std::max(real + zero_point, lowest), lowest + 255);
    EXPECT_LE(std::fabs(number_of(byte, type) - exact), 0.5 + doubt)
        << real << ", zero point " << zero_point;
}

// Returns the largest error of a multiplication by a 31-bit multiplier (tengine/fixed_point.h).
inline double doubt_of(double real)
{
    return (std::fabs(real) + 1) * 0x1p-28;
}

}  // namespace tengine::test

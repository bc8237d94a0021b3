// SPDX-License-Identifier: Apache-2.0
// base/float_to_index.h against the bits of the numbers: kernels and the reference both use it.
#include "base/float_to_index.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace tengine {
namespace {

// Returns the integer part, or the nearest representable integer.
int64_t truncate(double value)
{
    const bool is_negative = std::signbit(value);
    const int64_t most = is_negative ? INT64_MIN : INT64_MAX;
    if (std::isinf(value)) return most;
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    if (exponent <= 0) return 0;
    if (exponent > 63) return most;
    const auto mantissa = static_cast<int64_t>(std::ldexp(fraction, 53));
    const int64_t magnitude =
        exponent >= 53 ? mantissa << (exponent - 53) : mantissa >> (53 - exponent);
    return is_negative ? -magnitude : magnitude;
}

// Integers and multiples of a half of all sizes, and the doubles next to each.
std::vector<double> list_values()
{
    std::vector<double> centers = {0, std::numeric_limits<double>::max(),
                                   std::numeric_limits<double>::infinity()};
    for (int exponent = -3; exponent < 70; ++exponent)
        for (const double factor : {1.0, 1.25, 1.5, 1.75})
            centers.push_back(std::ldexp(factor, exponent));
    for (int i = 0; i < 300; ++i)
        centers.push_back(i / 2.0);
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i)
        centers.push_back(
            std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 80) - 60));
    std::vector<double> values;
    for (const double center : centers)
        for (const double sign : {1.0, -1.0})
            for (const double towards : {0.0, center, std::numeric_limits<double>::infinity()})
                values.push_back(sign * std::nextafter(center, towards));
    return values;
}

TEST(FloatToIndex, IsTheIntegerPartWithinTheBounds)
{
    const std::pair<int64_t, int64_t> bounds[] = {
        {INT64_MIN, INT64_MAX}, {0, INT64_MAX}, {0, INT32_MAX},
        {INT32_MIN, INT32_MAX}, {-128, 127},    {0, 0},
        {1, INT64_MAX / 2 + 1}, {-7, -3}};
    for (const auto& [lowest, highest] : bounds)
        for (const double value : list_values())
            ASSERT_EQ(float_to_index(value, lowest, highest),
                      std::clamp(truncate(value), lowest, highest))
                << value << " between " << lowest << " and " << highest;
}

TEST(FloatToIndex, NanIsTheLowest)
{
    for (const double nan : {std::nan(""), -std::nan(""), std::nan("7")}) {
        EXPECT_EQ(float_to_index(nan, -5, 9), -5);
        EXPECT_EQ(float_to_index(nan, INT64_MIN, INT64_MAX), INT64_MIN);
    }
}

}  // namespace
}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// The straight-line exponential function against the C library's, over all magnitudes.
#include "device/cpu/reference/norm/exponential.h"

#include <gtest/gtest.h>
#include <limits>

namespace tengine::cpu {
namespace {

TEST(Exponential, WithinOneAndAHalfUnitsInTheLastPlace)
{
    // Every 997th bit pattern of a finite float.
    for (uint32_t bits = 0; bits < 0xff800000u; bits += 997) {
        float x;
        std::memcpy(&x, &bits, sizeof x);
        if (!std::isfinite(x)) continue;
        const double expected = std::exp(static_cast<double>(x));
        const float nearest = static_cast<float>(expected);
        if (std::isinf(nearest) || std::isinf(exponential(x))) {
            ASSERT_EQ(exponential(x), nearest) << x;
            continue;
        }
        const float above = std::nextafter(nearest, std::numeric_limits<float>::infinity());
        const double unit = static_cast<double>(above) - static_cast<double>(nearest);
        ASSERT_LE(std::fabs(static_cast<double>(exponential(x)) - expected), 1.5 * unit) << x;
    }
}

TEST(Exponential, SpecialValues)
{
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(exponential(0.0f), 1.0f);
    EXPECT_EQ(exponential(-0.0f), 1.0f);
    EXPECT_EQ(exponential(infinity), infinity);
    EXPECT_EQ(exponential(-infinity), 0.0f);
    EXPECT_EQ(exponential(-1e30f), 0.0f);
    EXPECT_TRUE(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
    EXPECT_TRUE(std::isnan(exponential(-std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace tengine::cpu

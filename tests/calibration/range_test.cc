// SPDX-License-Identifier: Apache-2.0
// The arithmetic of calibrations against formulas computed by hand: histograms and ranges.
#include "calibration/range.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tengine/error.h"

namespace tengine::calibration {
namespace {

Histogram histogram_of(const std::vector<float>& values)
{
    Histogram histogram;
    EXPECT_TRUE(histogram.add(values.data(), values.size()));
    return histogram;
}

RangeMethod method_of(const char* name)
{
    RangeMethod method = RangeMethod::kMinMax;
    EXPECT_EQ(parse_range_method(name, &method), TENGINE_OK);
    EXPECT_STREQ(name_of(method), name);
    return method;
}

// Approximates a normal distribution (the sum of twelve uniform ones), with one far outlier.
std::vector<float> values_with_outlier(float outlier)
{
    std::vector<float> values;
    uint32_t state = 1;
    for (int i = 0; i < 20000; ++i) {
        float sum = -6;
        for (int k = 0; k < 12; ++k) {
            state = state * 1664525u + 1013904223u;
            sum += static_cast<float>(state >> 8) / (1 << 24);
        }
        values.push_back(sum);
    }
    values.push_back(outlier);
    return values;
}

// Returns the squares of the errors by clipping and rounding if 255 steps cover the range and zero.
double squared_error(const std::vector<float>& values, const Range& range)
{
    const double low = std::min(range.low, 0.0);
    const double step = (std::max(range.high, 0.0) - low) / 255;
    const double first = std::nearbyint(low / step);
    double error = 0;
    for (const float value : values) {
        const double back = step * std::clamp(std::nearbyint(value / step), first, first + 255);
        error += (back - value) * (back - value);
    }
    return error;
}

TEST(CalibrationRange, AWiderValueJoinsBinsAndLosesNone)
{
    Histogram histogram = histogram_of({0.0f, 1.0f, -0.5f});
    const float wide[] = {5.0f};
    ASSERT_TRUE(histogram.add(wide, 1));
    EXPECT_DOUBLE_EQ(histogram.width(), 8.0 / Histogram::kBins);
    EXPECT_EQ(histogram.zeros(), 1u);
    EXPECT_EQ(histogram.total(), 4u);
    EXPECT_EQ(histogram.count(Histogram::kBins * 5 / 8), 1u);
    EXPECT_EQ(histogram.count(-Histogram::kBins / 16), 1u);
    uint64_t counted = 0;
    for (int bin = -Histogram::kBins; bin < Histogram::kBins; ++bin)
        counted += histogram.count(bin);
    EXPECT_EQ(counted, 3u);
    EXPECT_EQ(histogram.least(), -0.5f);
    EXPECT_EQ(histogram.greatest(), 5.0f);
}

TEST(CalibrationRange, ValuesThatAreNotFiniteAreRefused)
{
    for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
        Histogram histogram;
        EXPECT_FALSE(histogram.add(&value, 1));
        EXPECT_TRUE(histogram.empty());
    }
}

TEST(CalibrationRange, MinMaxTakesAllAndPercentileCutsBothEnds)
{
    std::vector<float> values;
    for (int i = -500; i <= 499; ++i)
        values.push_back(static_cast<float>(i) + 0.5f);
    const Histogram histogram = histogram_of(values);
    const Range all = choose_range(histogram, RangeMethod::kMinMax, 0);
    EXPECT_EQ(all.low, -499.5);
    EXPECT_EQ(all.high, 499.5);
    const Range most = choose_range(histogram, RangeMethod::kPercentile, 90);
    EXPECT_NEAR(most.low, -450, 1);
    EXPECT_NEAR(most.high, 450, 1);
}

// Interpolated positions within a bin are not values of it.
TEST(CalibrationRange, APercentileOfEqualValuesIsThatValue)
{
    const std::vector<float> values(1000, 1.0f);
    const Range range = choose_range(histogram_of(values), RangeMethod::kPercentile, 99.99);
    EXPECT_EQ(range.low, 1.0);
    EXPECT_EQ(range.high, 1.0);
}

TEST(CalibrationRange, EntropyCutsAnOutlierAndNotMore)
{
    const Range range =
        choose_range(histogram_of(values_with_outlier(60.0f)), RangeMethod::kEntropy, 0);
    EXPECT_LT(range.high, 30);
    EXPECT_GT(range.high, 3);
    EXPECT_LT(range.low, -3);
}

// A mask by a sigmoid: nearly 0 at most positions, nearly 1 at few. No method may clip the values
// near 1.
TEST(CalibrationRange, AMaskKeepsWhatItFound)
{
    for (const float share : {0.01f, 0.07f, 0.3f}) {
        std::vector<float> values;
        uint32_t state = 1;
        for (int i = 0; i < 20000; ++i) {
            state = state * 1664525u + 1013904223u;
            const float even = static_cast<float>(state >> 8) / (1 << 24);
            const bool is_found = static_cast<float>(i % 1000) < share * 1000;
            values.push_back(is_found ? 0.9f + 0.099f * even : 1e-3f * even * even);
        }
        for (const char* name : {"minmax", "kl", "mse"}) {
            const Range range = choose_range(histogram_of(values), method_of(name), 0);
            EXPECT_GT(range.high, 0.95) << name << " at " << share;
        }
    }
}

TEST(CalibrationRange, SquaredErrorIsAsSmallAsThatOfAnyOtherRange)
{
    for (const float outlier : {8.0f, 15.0f, 60.0f}) {
        const std::vector<float> values = values_with_outlier(outlier);
        const Histogram histogram = histogram_of(values);
        const Range range = choose_range(histogram, RangeMethod::kSquaredError, 0);
        const double chosen = squared_error(values, range);
        for (float high = 2.0f; high <= outlier; high += 0.5f) {
            const Range other = {std::max(histogram.least(), -high), high};
            EXPECT_LE(chosen, 1.03 * squared_error(values, other))
                << outlier << ": " << range.high << ", better is " << high;
        }
    }
}

TEST(CalibrationRange, ValuesOfOneSideKeepTheirSide)
{
    const Histogram histogram = histogram_of({0.0f, 0.0f, 1.0f, 2.0f, 3.0f});
    for (const char* name : {"minmax", "percentile", "kl", "mse"}) {
        const Range range = choose_range(histogram, method_of(name), kDefaultPercentile);
        EXPECT_GE(range.low, 0) << name;
    }
}

}  // namespace
}  // namespace tengine::calibration

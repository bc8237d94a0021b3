// SPDX-License-Identifier: Apache-2.0
// Scales, zero points and quantised values, against values computed by hand.
#include "optimizer/precision/quantization.h"

#include <gtest/gtest.h>

namespace tengine {
namespace {

struct Case
{
    double low, high;
    double scale;
    int zero_point;  // of int8
};

TEST(Quantization, ScaleAndZeroPointFollowTheFormula)
{
    const Case cases[] = {
        {0, 25.5, 0.1, -128},
        {-1, 3, 4.0 / 255, -64},
        {-2, 0, 2.0 / 255, 127},
        {0, 2, 2.0 / 255, -128},
        {0, 0, 1, 0},
        {-127, 128, 1, -1},
        {0, 1e-38, 1, 0},
    };
    for (const Case& c : cases) {
        for (const int type : {TENGINE_DT_INT8, TENGINE_DT_UINT8}) {
            const Quantization by = cover_range(c.low, c.high, type);
            EXPECT_FLOAT_EQ(by.scale, static_cast<float>(c.scale)) << c.low;
            EXPECT_EQ(by.zero_point, c.zero_point + (type == TENGINE_DT_UINT8 ? 128 : 0)) << c.low;
            EXPECT_EQ(by.data_type, type);
        }
    }
}

TEST(Quantization, ValuesRoundToEvenAndSaturate)
{
    Quantization by;
    by.scale = 0.5f;
    by.zero_point = 10;
    const auto quantize = [&by](float value) {
        return static_cast<int>(static_cast<int8_t>(quantize_value(value, by)));
    };
    EXPECT_EQ(quantize(0.25f), 10);
    EXPECT_EQ(quantize(0.75f), 12);
    EXPECT_EQ(quantize(-0.75f), 8);
    EXPECT_EQ(quantize(1e30f), 127);
    EXPECT_EQ(quantize(-1e30f), -128);
    by.data_type = TENGINE_DT_UINT8;
    EXPECT_EQ(quantize_value(1e30f, by), 255);
    EXPECT_EQ(quantize_value(-1e30f, by), 0);
}

}  // namespace
}  // namespace tengine

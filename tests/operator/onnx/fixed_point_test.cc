// SPDX-License-Identifier: Apache-2.0
// The requantisation of tengine/fixed_point.h against exact division.
#include "tengine/fixed_point.h"

#include "quantized_graph.h"

namespace tengine::test {
namespace {

// Returns sum * factor / 2^shift by division of magnitudes, halves to even.
int64_t divide(int64_t sum, ir_multiplier_t multiplier)
{
    const int64_t product = sum * multiplier.factor;
    const uint64_t magnitude = static_cast<uint64_t>(product < 0 ? -product : product);
    const uint64_t unit = uint64_t{1} << multiplier.shift;
    uint64_t quotient = magnitude / unit;
    const uint64_t twice_rest = 2 * (magnitude % unit);
    if (twice_rest > unit || (twice_rest == unit && quotient % 2 == 1)) ++quotient;
    return product < 0 ? -static_cast<int64_t>(quotient) : static_cast<int64_t>(quotient);
}

TEST(FixedPoint, RandomSumsRoundExactly)
{
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-40, 30);
    for (int i = 0; i < 200000; ++i) {
        const double real = std::exp2(exponent(random));
        ir_multiplier_t multiplier = {};
        ASSERT_EQ(make_ir_multipliers(&real, 1, &multiplier), TENGINE_OK);
        const int32_t sum = static_cast<int32_t>(random() >> (32 + random() % 32));
        for (const int32_t value : {sum, -sum}) {
            const int zero = static_cast<int>(random() % 256) - 128;
            ASSERT_EQ(requantize_ir_sum(value, multiplier, zero, -128, 127),
                      saturate<int8_t>(static_cast<long double>(divide(value, multiplier) + zero)))
                << value << " * " << multiplier.factor << " >> " << multiplier.shift;
        }
    }
}

TEST(FixedPoint, TiesGoToEven)
{
    const double half = 0.5;
    ir_multiplier_t multiplier = {};
    ASSERT_EQ(make_ir_multipliers(&half, 1, &multiplier), TENGINE_OK);
    const int expected[] = {-2, -2, -1, 0, 0, 0, 1, 2, 2};
    for (int sum = -4; sum <= 4; ++sum)
        EXPECT_EQ(requantize_ir_sum(sum, multiplier, 0, -128, 127), expected[sum + 4]) << sum;
}

TEST(FixedPoint, ExtremesAndRefusals)
{
    const double zero = 0, tiny = 1e-30, large = 2147483646.0, too_large = 2147483648.0;
    const double negative = -1, nan = std::nan("");
    ir_multiplier_t multiplier = {};
    ASSERT_EQ(make_ir_multipliers(&zero, 1, &multiplier), TENGINE_OK);
    EXPECT_EQ(multiplier.factor, 0);
    EXPECT_EQ(requantize_ir_sum(INT32_MIN, multiplier, 5, -128, 127), 5);
    ASSERT_EQ(make_ir_multipliers(&tiny, 1, &multiplier), TENGINE_OK);
    EXPECT_EQ(requantize_ir_sum(INT32_MAX, multiplier, 5, -128, 127), 5);
    ASSERT_EQ(make_ir_multipliers(&large, 1, &multiplier), TENGINE_OK);
    EXPECT_EQ(requantize_ir_sum(INT32_MAX, multiplier, 0, -128, 127), 127);
    EXPECT_EQ(requantize_ir_sum(INT32_MIN, multiplier, 0, -128, 127), -128);
    for (const double* wrong : {&too_large, &negative, &nan})
        EXPECT_EQ(make_ir_multipliers(wrong, 1, &multiplier), TENGINE_ERANGE);
}

}  // namespace
}  // namespace tengine::test

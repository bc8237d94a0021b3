// SPDX-License-Identifier: Apache-2.0
// The requantisation of integer sums, written as tengine/fixed_point.h defines it. The fast kernels
// compute the same bits in their own ways.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// A real number as factor / 2^shift.
struct Multiplier
{
    int64_t factor;
    int shift;
};

constexpr int kMostShift = 62;
constexpr double kFactorLimit = 0x1p31;

inline bool is_factor(double real)
{
    return real >= 0 && real < 2147483647.0;
}

// Returns the largest shift, up to kMostShift, with which a factor is rounded to less than 2^31.
inline int find_shift(double real)
{
    int shift = 0;
    while (shift < kMostShift && std::nearbyint(std::ldexp(real, shift + 1)) < kFactorLimit)
        ++shift;
    return shift;
}

inline Multiplier make_multiplier(double real, int shift)
{
    return {static_cast<int64_t>(std::nearbyint(std::ldexp(real, shift))), shift};
}

// Makes multipliers with one shift, that of the largest. ERANGE, with the node's name: no factor
// represents a real.
inline int make_multipliers(const KernelContext& context, const double* reals, int number,
                            Multiplier* out_multipliers)
{
    double largest = 0;
    for (int i = 0; i < number; ++i) {
        if (!is_factor(reals[i]))
            return fail_node(context.node, TENGINE_ERANGE,
                             "the scales give a factor of %g, expected 0 to 2^31", reals[i]);
        largest = std::max(largest, reals[i]);
    }
    for (int i = 0; i < number; ++i)
        out_multipliers[i] = make_multiplier(reals[i], find_shift(largest));
    return TENGINE_OK;
}

// Returns value / 2^shift, ties to even; the shift is below 63.
inline int64_t divide_by_power(int64_t value, int shift)
{
    const int64_t unit = int64_t{1} << shift;
    int64_t quotient = value / unit, rest = value % unit;
    if (rest < 0) {
        rest += unit;
        --quotient;
    }
    const bool is_tie = rest == unit - rest;
    if (rest > unit - rest || (is_tie && quotient % 2 != 0)) ++quotient;
    return quotient;
}

// Returns value / 2^shift rounded down; the shift is below 63.
inline int64_t floor_by_power(int64_t value, int shift)
{
    const int64_t unit = int64_t{1} << shift, quotient = value / unit;
    return value % unit < 0 ? quotient - 1 : quotient;
}

// IR_ROUNDING_TWICE.
inline int64_t scale_twice(int64_t sum, const Multiplier& multiplier)
{
    const int first = std::min(multiplier.shift, 31), second = multiplier.shift - first;
    const int64_t half = (int64_t{1} << first) / 2;
    const int64_t high = floor_by_power(sum * multiplier.factor + half, first);
    const int64_t magnitude = floor_by_power(std::abs(high) + (int64_t{1} << second) / 2, second);
    return high < 0 ? -magnitude : magnitude;
}

// IR_ROUNDING_FLOAT.
inline int64_t scale_as_floats(int64_t sum, const Multiplier& multiplier)
{
    const double real = std::ldexp(static_cast<double>(multiplier.factor), -multiplier.shift);
    const float product = static_cast<float>(sum) * static_cast<float>(real);
    return static_cast<int64_t>(std::nearbyint(double{product}));
}

// Requantises sums for a tensor of `data_type`; int8 and uint8 have the same bits. A sum beyond
// int32 counts as the nearest int32.
class Requantizer
{
  public:
    Requantizer(int data_type, int zero_point, ir_rounding_t rounding = IR_ROUNDING_NEAREST)
        : zero_point_(zero_point),
          lowest_(data_type == TENGINE_DT_INT8 ? INT8_MIN : 0),
          highest_(data_type == TENGINE_DT_INT8 ? INT8_MAX : UINT8_MAX),
          rounding_(rounding)
    {
    }

    uint8_t operator()(int64_t sum, const Multiplier& multiplier) const
    {
        const int64_t narrow = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        if (rounding_ == IR_ROUNDING_FLOAT) return saturate(scale_as_floats(narrow, multiplier));
        if (rounding_ == IR_ROUNDING_TWICE) return saturate(scale_twice(narrow, multiplier));
        return saturate(divide_by_power(narrow * multiplier.factor, multiplier.shift));
    }
    // Returns the element for a value in the result's scale.
    uint8_t saturate(int64_t rounded) const
    {
        return static_cast<uint8_t>(std::clamp(rounded + zero_point_, lowest_, highest_));
    }

  private:
    int64_t zero_point_, lowest_, highest_;
    ir_rounding_t rounding_;
};

}  // namespace tengine::cpu

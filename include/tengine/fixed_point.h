// SPDX-License-Identifier: Apache-2.0
// The requantisation of integer operators: from an int32 accumulator to an int8 or uint8 value. The
// CPU's kernels and devices that compute identical results use it. Header only.
//
// A positive real factor r is  factor * 2^-shift  with factor in [2^30, 2^31), the nearest such
// number (B. Jacob et al., Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference, CVPR 2018, §2.2; but ties round to even, as in ONNX):
//
//     y = saturate(zero_point + round_half_to_even(sum * factor / 2^shift))
//
// sum * factor is exact in 64 bits. The error of r is at most 2^-31 of it, so y differs from the
// exact result only if that is within 2^-22 of a tie.
//
// Runtimes of TensorFlow Lite round in two other ways (ir_rounding_t), which have the same form of
// r.
#pragma once

#include <math.h>
#include <stdint.h>

#include "tengine/error.h"
#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

#define IR_MULTIPLIER_MAX_SHIFT 62

typedef struct ir_multiplier
{
    int32_t factor;  // 0, or for the largest of a group in [2^30, 2^31)
    int32_t shift;   // 0 to IR_MULTIPLIER_MAX_SHIFT
} ir_multiplier_t;

// Factors with one shift, which suits the largest factor: for sums such as a + b of different
// scales. A factor too small for the shift becomes 0. TENGINE_ERANGE when one is negative, NaN or
// not below 2^31, or all are too large for shift 0.
static inline int make_ir_multipliers(const double reals[], int number, ir_multiplier_t out[])
{
    double largest = 0;
    for (int i = 0; i < number; ++i) {
        if (!(reals[i] >= 0 && reals[i] < 2147483647.0))
            return tengine_error_set(TENGINE_ERANGE,
                                     "a requantisation factor of %g is not in 0 to 2^31", reals[i]);
        if (reals[i] > largest) largest = reals[i];
    }
    int exponent = 0;  // largest = [0.5, 1) * 2^exponent
    frexp(largest, &exponent);
    if (nearbyint(ldexp(largest, 31 - exponent)) >= 2147483648.0) ++exponent;
    int shift = 31 - exponent;
    if (shift > IR_MULTIPLIER_MAX_SHIFT || largest == 0) shift = IR_MULTIPLIER_MAX_SHIFT;
    for (int i = 0; i < number; ++i) {
        out[i].factor = (int32_t)nearbyint(ldexp(reals[i], shift));
        out[i].shift = shift;
    }
    return TENGINE_OK;
}

// product / 2^shift, ties to even; |product| is at most 2^62. It has no branches, which would be
// unpredictable: 2^(shift - 1) is added if the floor is odd, else one less.
static inline int64_t round_ir_shift(int64_t product, int shift)
{
    if (shift == 0) return product;
    const int64_t below_half = (INT64_C(1) << (shift - 1)) - 1;
    return (product + below_half + ((product >> shift) & 1)) >> shift;
}

// The product of IR_ROUNDING_FLOAT.
static inline int64_t round_ir_float(int32_t sum, ir_multiplier_t multiplier)
{
    const float real = (float)ldexp(multiplier.factor, -multiplier.shift);
    return (int64_t)nearbyintf((float)sum * real);
}

// The product of IR_ROUNDING_TWICE, of a factor that is the largest of its group.
static inline int64_t round_ir_twice(int32_t sum, ir_multiplier_t multiplier)
{
    const int first = multiplier.shift < 31 ? multiplier.shift : 31;
    const int second = multiplier.shift - first;
    const int64_t half = first > 0 ? INT64_C(1) << (first - 1) : 0;
    const int64_t high = ((int64_t)sum * multiplier.factor + half) >> first;
    if (second == 0) return high;
    // A negative tie stays below.
    return (high + (INT64_C(1) << (second - 1)) - (high < 0)) >> second;
}

// An integer in [lowest, highest].
static inline int32_t clamp_ir_integer(int64_t value, int32_t lowest, int32_t highest)
{
    if (value < lowest) return lowest;
    return value < highest ? (int32_t)value : highest;
}

// The formula above. `lowest` and `highest` are the range of the type, or narrower: an activation.
static inline int32_t requantize_ir_sum(int32_t sum, ir_multiplier_t multiplier, int32_t zero_point,
                                        int32_t lowest, int32_t highest)
{
    const int64_t scaled = round_ir_shift((int64_t)sum * multiplier.factor, multiplier.shift);
    return clamp_ir_integer(scaled + zero_point, lowest, highest);
}

// sum * r in one of the ways.
static inline int64_t scale_ir_sum(ir_rounding_t rounding, int32_t sum, ir_multiplier_t multiplier)
{
    if (rounding == IR_ROUNDING_FLOAT) return round_ir_float(sum, multiplier);
    if (rounding == IR_ROUNDING_TWICE) return round_ir_twice(sum, multiplier);
    return round_ir_shift((int64_t)sum * multiplier.factor, multiplier.shift);
}

// The factor a * b / y of scales in one of the ways.
static inline double find_ir_factor(ir_rounding_t rounding, float a, float b, float y)
{
    if (rounding == IR_ROUNDING_FLOAT) {
        const float product = a * b;
        return (double)(product / y);
    }
    return (double)a * (double)b / (double)y;
}

TENGINE_EXTERN_C_END

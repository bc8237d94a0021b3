// SPDX-License-Identifier: Apache-2.0
// The common part of Resize and GridSample: the type in which samples are mixed, and the cubic
// kernel.
#pragma once

#include <cmath>
#include <type_traits>

#include "device/cpu/reference/vector/arithmetic.h"

namespace tengine::cpu {

// Wide integers need the mantissa of a double.
template <class T>
using sample_t =
    std::conditional_t<std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) >= 4),
                       double, float>;

// Integers are rounded to nearest, ties to even, and clipped to their range: cubic weights
// overshoot. NaN, which weights for very large numbers can produce, becomes 0.
template <class T>
T from_sample(sample_t<T> value)
{
    if constexpr (std::is_same_v<T, bool>) {
        return value >= 0.5f;
    } else if constexpr (std::is_integral_v<T>) {
        return saturate<T>(std::nearbyint(value));
    } else {
        return static_cast<T>(value);
    }
}

// Returns the cubic convolution kernel of R. Keys, "Cubic Convolution Interpolation for Digital
// Image Processing" (1981), at `distance` >= 0; `a` is its slope at 1.
inline double cubic_weight(double distance, double a)
{
    const double d = distance;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    return 0;
}

}  // namespace tengine::cpu

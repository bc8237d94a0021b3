// SPDX-License-Identifier: Apache-2.0
// Arithmetic without undefined behaviour: integers wrap, conversions from floats saturate.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/cpu/shared/types.h"

namespace tengine::cpu {

// The type in which sums, differences and products of T wrap. Never narrower than int: products of
// uint16_t would be promoted to int and overflow.
template <class T>
using wrapping_t =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>, compute_t<T>>;

// The widest type of the same kind, which holds every value of T.
template <class T>
using wide_t = std::conditional_t<is_float<T>, double,
                                  std::conditional_t<std::is_unsigned_v<T>, uint64_t, int64_t>>;

template <class T>
T wrap_add(T a, T b)
{
    return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
}

template <class T>
T wrap_subtract(T a, T b)
{
    return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
}

template <class T>
T wrap_multiply(T a, T b)
{
    return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
}

template <class T>
T wrap_negate(T a)
{
    if constexpr (std::is_integral_v<T>) {
        return wrap_subtract<T>(0, a);
    } else {
        return -a;
    }
}

// Integers: the quotient is rounded towards zero; 0 if b is 0, as in numpy.
template <class T>
T wrap_divide(T a, T b)
{
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return 0;
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrap_negate(a);
        return static_cast<T>(a / b);
    } else {
        return a / b;
    }
}

// If either is NaN, the result is NaN.
template <class T>
T larger(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (a != a) return a;
    }
    return a > b ? a : b;
}

template <class T>
T smaller(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (a != a) return a;
    }
    return a < b ? a : b;
}

// Converts to an integer: rounded towards zero, the nearest limit if out of range, 0 for NaN.
template <class To>
To saturate(double value)
{
    // The upper limit of 64-bit types is rounded up here, so that `>=` is exact for all types.
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<To>::max());
    if (value != value) return 0;
    if (value <= kLow) return std::numeric_limits<To>::min();
    if (value >= kHigh) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
}

// Converts a result computed in double to an element.
template <class To>
To from_double(double value)
{
    if constexpr (std::is_integral_v<To>) {
        return saturate<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

}  // namespace tengine::cpu

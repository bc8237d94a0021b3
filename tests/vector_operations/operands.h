// SPDX-License-Identifier: Apache-2.0
// The numbers that vector operations are checked with, and the definitions of operations on them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace tengine::vector_operations {

// The longest vectors of Highway, those of SVE, have 256 bytes.
constexpr size_t kMostLanes = 256;

// Half of the integers are near an end of their range or zero. Floats are of moderate size, so that
// no result is subnormal, which 32-bit Arm flushes to 0; every fifth is halfway between two
// integers.
template <class T>
T draw(std::mt19937_64& engine)
{
    const uint64_t bits = engine();
    if constexpr (std::is_floating_point_v<T>) {
        const int64_t steps = static_cast<int64_t>(bits >> 40) - (1 << 23);
        return static_cast<T>(bits % 5 ? static_cast<double>(steps) / 4096.0
                                       : static_cast<double>(steps % 2048) + 0.5);
    } else {
        const T ends[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(),
                          std::numeric_limits<T>::max()};
        return bits & 1 ? static_cast<T>(bits >> 8)
                        : static_cast<T>(static_cast<uint64_t>(ends[bits / 2 % 5]) + bits / 32 % 3);
    }
}

template <class T>
uint64_t bits_of(T value)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T>
T from_bits(uint64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Integers wrap around.
template <class T>
T add(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>)
        return a + b;
    else
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <class T>
T subtract(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>)
        return a - b;
    else
        return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <class T>
T multiply(T a, T b)
{
    if constexpr (std::is_floating_point_v<T>)
        return a * b;
    else
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Returns the nearest number that To represents.
template <class To, class From>
To saturate(From value)
{
    const int64_t wide = static_cast<int64_t>(value);
    const int64_t lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
    return static_cast<To>(wide < lowest ? lowest : wide > highest ? highest : wide);
}

// Zeros of both signs are equal, and so are all NaN.
template <class T>
bool is_same(T got, T expected)
{
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(expected)) return std::isnan(got);
    return got == expected;
}

}  // namespace tengine::vector_operations

// SPDX-License-Identifier: Apache-2.0
// The arithmetic of Resize (linear) of int8 and uint8 along one or two axes: weights are integers
// in units of 2^-11, so that a result has 22 bits of fraction, is exact in an int32 and is rounded
// once, ties to even. The error of a weight is at most half a unit, that of a result before
// rounding 1/8.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/cpu/reference/window/resize_coordinate.h"

namespace tengine::cpu {

constexpr int kInt8TapBits = 11;

// The elements before and after a position, and the weight of the latter; the former has the rest.
struct Int8Tap
{
    int64_t before, after;
    int32_t weight;
};

inline Int8Tap find_int8_tap(const resize_param& param, const resize_axis& axis, int64_t input_size,
                             int64_t i)
{
    const double source = limit(find_source<double>(param, axis, input_size, i), input_size);
    const double before = std::floor(source);
    const auto at = static_cast<int64_t>(before);
    return {std::clamp<int64_t>(at, 0, input_size - 1),
            std::clamp<int64_t>(at + 1, 0, input_size - 1),
            static_cast<int32_t>(std::nearbyint((source - before) * (1 << kInt8TapBits)))};
}

inline int32_t mix_bytes(int32_t before, int32_t after, const Int8Tap& tap)
{
    return before * ((1 << kInt8TapBits) - tap.weight) + after * tap.weight;
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Accumulators of products for kernels of floats and integers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/cpu/shared/types.h"

namespace tengine::cpu {

// Floats are accumulated in double; integers modulo 2^64, which never overflows and whose low bits
// are the result in every integer type, signed or not.
template <class T>
using accumulator_t = std::conditional_t<is_float<T>, double, uint64_t>;

template <class T>
accumulator_t<T> widen(T value)
{
    return static_cast<accumulator_t<T>>(value);
}

}  // namespace tengine::cpu

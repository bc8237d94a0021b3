// SPDX-License-Identifier: Apache-2.0
// Sizes in whole units. The operands are not negative, the unit is positive.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tengine::cpu {

constexpr int64_t divide_up(int64_t size, int64_t unit)
{
    return (size + unit - 1) / unit;
}

// The least multiple of the unit that is not below the size.
template <class Int>
constexpr Int round_up(Int size, std::common_type_t<Int> unit)
{
    return (size + unit - 1) / unit * unit;
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// A worker's copy of a block of the input, which is made once for all panels of the block.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// The bytes before the elements, a cache line, hold the number of the block.
inline constexpr int64_t kBlockHeaderBytes = 64;

inline char* find_block_elements(char* copy)
{
    return copy + kBlockHeaderBytes;
}

inline void forget_block(char* copy)
{
    *reinterpret_cast<int64_t*>(copy) = -1;
}

// Whether the copy has this block already. If not, it is marked as having it, for the caller to
// fill.
inline bool holds_block(char* copy, int64_t number)
{
    auto* held = reinterpret_cast<int64_t*>(copy);
    if (*held == number) return true;
    *held = number;
    return false;
}

}  // namespace tengine::cpu

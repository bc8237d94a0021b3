// SPDX-License-Identifier: Apache-2.0
// A worker's copy of a block of the input: for other panels of the same block it is made once.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Before the elements, in a line of the cache, is the number of the block.
inline constexpr int64_t kBlockHeaderBytes = 64;

inline char* find_block_elements(char* copy)
{
    return copy + kBlockHeaderBytes;
}

inline void forget_block(char* copy)
{
    *reinterpret_cast<int64_t*>(copy) = -1;
}

// Whether the copy is of this block; otherwise it is to become that.
inline bool holds_block(char* copy, int64_t number)
{
    auto* held = reinterpret_cast<int64_t*>(copy);
    if (*held == number) return true;
    *held = number;
    return false;
}

}  // namespace tengine::cpu

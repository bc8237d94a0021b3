// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "tengine/error.h"

namespace tengine {

// The memory that loading may allocate: a small multiple of the file's size, so that a small file
// that uses its records again and again cannot allocate much. The multiple for a large file exceeds
// a size_t of 32 bits.
class Budget
{
  public:
    explicit Budget(size_t file_size) : left_(kMultiple * file_size + kBase) {}

    // To be called before a block of `bytes` is allocated. TENGINE_ELIMIT when the budget is used
    // up.
    [[gnu::noinline]] TENGINE_MUST_USE int charge(uint64_t bytes)
    {
        const uint64_t cost = bytes + kBlockOverhead;
        if (bytes > left_ || cost > left_)
            return tengine_error_set(TENGINE_ELIMIT,
                                     "the model would take many times its own size in memory: its "
                                     "records are used repeatedly");
        left_ -= cost;
        return TENGINE_OK;
    }

  private:
    static constexpr uint64_t kMultiple = 10;
    static constexpr uint64_t kBase = 4096;
    static constexpr uint64_t kBlockOverhead = 32;  // of the allocator, for an aligned block

    uint64_t left_;
};

}  // namespace tengine

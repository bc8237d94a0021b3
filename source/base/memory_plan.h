// SPDX-License-Identifier: Apache-2.0
// Static memory planning: places blocks of known size and life in one arena.
// Used by devices for the tensors of a compiled part.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// A block that is needed from step first_use to step last_use, both included.
typedef struct memory_block
{
    size_t size;  // bytes; 0 is allowed
    int32_t first_use;
    int32_t last_use;
    size_t offset;  // out: bytes from the start of the arena, a multiple of the alignment
} memory_block_t;

enum
{
    MEMORY_PLAN_BY_SIZE = 4096
};

// Gives every block an offset so that blocks that live at the same step do not overlap, and puts
// the size of the arena into *out_total. The result depends on the input only. Algorithm: "Greedy
// by Size for Offset Calculation" of Pisarchyk and Lee, "Efficient Memory Management for Deep
// Neural Net Inference", 2020, which takes O(n^2): about 1 ms for 1,000 blocks. More than
// MEMORY_PLAN_BY_SIZE blocks are placed step by step instead, each into the smallest gap that the
// blocks before have left (best fit): O(n (log n + gaps)), and an arena that may be a little
// larger.
//
// TENGINE_EINVAL: NULL, block_num < 0, alignment not a power of two, first_use > last_use;
// TENGINE_ELIMIT: the sizes add up to more than a size_t;
// TENGINE_ENOMEM. Offsets are undefined after a failure.
TENGINE_MUST_USE int plan_memory(memory_block_t* blocks, int64_t block_num, size_t alignment,
                                 size_t* out_total);

TENGINE_EXTERN_C_END

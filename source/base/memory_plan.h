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

// Checks offsets that come from elsewhere, as plan_memory() gives them: multiples of the alignment,
// no overlap of blocks that live at the same step, and an arena that is not larger than all blocks
// one after the other, whose size goes into *out_total. Blocks of 0 bytes may lie anywhere in it.
// O(n log n) and the moves within the list of blocks that live at the same time.
//
// As plan_memory(); also TENGINE_EFORMAT: an offset is not as stated, and the message has it.
TENGINE_MUST_USE int check_memory_plan(const memory_block_t* blocks, int64_t block_num,
                                       size_t alignment, size_t* out_total);

// A memory of several that blocks may lie in.
typedef struct memory_tier
{
    size_t bytes;       // its size; SIZE_MAX: as many as the blocks need
    double ns_per_kib;  // the time to read or write 1 KiB; the fastest memory is the first one
    size_t used;        // out: the size of its arena
} memory_tier_t;

// Places blocks in several memories, and gives each an offset in its own, so that the time to move
// `moved[i]` bytes of each block i is short. The memory of block i goes into out_tiers[i].
//
// The choice is a knapsack problem whose items also have a life, so that it is NP-hard. A memory is
// filled before the next slower one, by Dantzig's greedy rule for knapsacks ("Discrete-Variable
// Extremum Problems", 1957): the blocks with the largest saving for each byte and step come first,
// and each that has a gap is placed as in plan_memory(). As the rule may prefer many small blocks
// to a large one that saves more, it is tried with the saving for each byte, the saving itself, and
// the size, too, and the best of the four is taken: O(n^2) for each memory.
//
// As plan_memory(); also TENGINE_EINVAL: no memory, or one is faster than that before it;
// TENGINE_ELIMIT: a block has room in no memory.
TENGINE_MUST_USE int plan_memory_tiers(memory_block_t* blocks, const uint64_t* moved,
                                       int32_t* out_tiers, int64_t block_num, size_t alignment,
                                       memory_tier_t* tiers, int tier_num);

TENGINE_EXTERN_C_END

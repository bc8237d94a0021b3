// SPDX-License-Identifier: Apache-2.0
// One block of memory cut into pieces, which alloc.h allocates when the program has given the
// library an arena. TLSF, two-level segregated fit (Masmano, Ripoll, Crespo, Real: "TLSF: a new
// dynamic memory allocator for real-time systems", ECRTS 2004): free blocks are listed by size
// class, a row for each power of two and columns that divide it evenly; bitmaps find the first list
// with a block that is large enough; neighbours that are free are one block. Taking and giving back
// takes constant time, except that the last list is walked when all else is used up.
//
// Sizes are counted in grains of a cache line. The header of a block is the end of the grain before
// it, so that every block begins at a cache line and shares none with another block, except for
// that header.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    ARENA_GRAIN = 64,                    // bytes; a block's address is a multiple
    ARENA_ROWS = 28,                     // size classes for 2^30 grains
    ARENA_COLUMNS = 16,                  // a block is at most 1/16 larger than the class wanted
    ARENA_LEAST_BYTES = 4 * ARENA_GRAIN  // for one block, however the memory is aligned
};

// One thread at a time. `grain_num` is 0 when there is no memory block.
typedef struct arena
{
    char* base;                                 // where the first block begins
    uint32_t grain_num;                         // grains of all blocks together
    uint32_t used;                              // grains in use, headers included
    uint32_t peak;                              // the most that `used` has been
    uint32_t rows;                              // a bit for each row with a free block
    uint16_t columns[ARENA_ROWS];               // a bit for each class with a free block
    uint32_t lists[ARENA_ROWS][ARENA_COLUMNS];  // first free block of the class
} arena_t;

// Starts with all of `memory` free; its `size` is at least ARENA_LEAST_BYTES, and bytes beyond
// 64 GiB are not used.
void start_arena(arena_t* arena, void* memory, size_t size);

// `size` bytes whose values are not defined, aligned to ARENA_GRAIN; NULL when no free block is
// large enough. Size 0 gives a valid pointer of its own.
void* take_arena_block(arena_t* arena, size_t size);

// Gives back a block of this arena.
void return_arena_block(arena_t* arena, void* block);

// Whether `memory` lies in the arena.
bool is_in_arena(const arena_t* arena, const void* memory);

// The size of the largest block that could be taken; 0 when the arena is full.
size_t get_largest_arena_block(const arena_t* arena);

TENGINE_EXTERN_C_END

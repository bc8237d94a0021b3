// SPDX-License-Identifier: Apache-2.0
// The room base: helpers for any C program, such as memory, log, files and threads. Nothing in
// it knows tensors, models or devices.
//
// Memory of the library and size arithmetic that cannot wrap. All memory of the library comes from
// here, that of its C++ parts through containers.hpp: from the C heap, or from the program's arena.
// Any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    ALLOC_ALIGNMENT = 64  // a cache line, and the widest vector register
};

// `size` zero bytes, aligned to ALLOC_ALIGNMENT; size 0 gives a valid pointer of its own. NULL when
// out of memory.
void* alloc_memory(size_t size);

// Like alloc_memory(), but the values are not defined and the alignment is malloc()'s: for blocks
// that are written at once.
void* alloc_raw_memory(size_t size);

// alloc_memory() of a size that was computed in 64 bits; NULL also when a size_t cannot hold it.
static inline void* alloc_memory64(uint64_t size)
{
    return size <= SIZE_MAX ? alloc_memory((size_t)size) : NULL;
}

// `size` zero bytes, aligned as malloc() does: for the nodes, tensors, names and lists of graphs,
// thousands of small blocks of which every preparation makes new ones. An aligned block costs the
// heap several times as much.
void* alloc_small_memory(size_t size);

// Moves a block of `old_size` bytes (or NULL and 0) to a new one of `new_size`: as many of its
// bytes as fit, then zeroes. Aligned as malloc() does. NULL when out of memory, and the old block
// is still there.
void* resize_memory(void* memory, size_t old_size, size_t new_size);

// Frees a block of this file or of malloc(), which programs may give away. NULL is allowed.
void free_memory(void* memory);

// Returns a copy to free with free_memory(); NULL for NULL or when out of memory.
char* duplicate_string(const char* string);

// From now on all blocks come from `memory` and none from the heap; NULL and 0: all come from the
// heap. Earlier blocks stay valid and are freed where they came from. TENGINE_EINVAL: `memory` has
// fewer than ARENA_LEAST_BYTES (arena.h) for an arena. TENGINE_ESTATE: blocks of the present arena
// are in use. Failures record no message. No other thread may allocate meanwhile.
int set_memory_arena(void* memory, size_t size);

// Bytes of the arena that are in use, and the most that have been; zeroes without one. A block
// counts with all bytes that it takes from the arena.
void get_memory_use(size_t* out_used, size_t* out_peak);

// Whether the arena has refused the last block to this thread. Writes the numbers into `text`, as
// the end of a message.
bool describe_memory_shortage(char* text, size_t size);

// For callers that can do without the memory that this thread was refused: later messages do not
// mention it.
void forget_memory_shortage(void);

// *out = a * b and a + b; false, and *out is not to be used, when the result does not fit.
static inline bool checked_multiply(size_t a, size_t b, size_t* out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline bool checked_add(size_t a, size_t b, size_t* out)
{
    return !__builtin_add_overflow(a, b, out);
}

// Rounds `size` up to a multiple of `alignment`, a power of two.
static inline bool checked_align(size_t size, size_t alignment, size_t* out)
{
    if (!checked_add(size, alignment - 1, out)) return false;
    *out &= ~(alignment - 1);
    return true;
}

TENGINE_EXTERN_C_END

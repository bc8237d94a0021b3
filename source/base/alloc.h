// SPDX-License-Identifier: Apache-2.0
// Memory of the library and size arithmetic that cannot wrap. All memory of the C core comes from
// here. Any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum
{
    ALLOC_ALIGNMENT = 64  // a cache line, and the widest vector register
};

// `size` zero bytes, aligned to ALLOC_ALIGNMENT; size 0 gives a valid pointer of its own. NULL when
// memory is short.
void* alloc_memory(size_t size);

// Moves a block of `old_size` bytes (or NULL and 0) to a new one of `new_size`: as many of its
// bytes as fit, then zeroes. NULL when memory is short, and the old block is still there.
void* resize_memory(void* memory, size_t old_size, size_t new_size);

// NULL is allowed.
void free_memory(void* memory);

// A copy to free with free_memory(); NULL for NULL or when memory is short.
char* duplicate_string(const char* string);

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

#ifdef __cplusplus
}
#endif

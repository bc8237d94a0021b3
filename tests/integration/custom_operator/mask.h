// SPDX-License-Identifier: Apache-2.0
// The function of every operator of layout_test.cc: copies the elements at some positions, and
// writes 0 at the others, so that an element at another position shows.
#pragma once

#include <stdint.h>
#include <string.h>

static inline int is_kept(int64_t place)
{
    return ((uint32_t)place * 2654435761U) >> 31 == 0;
}

// `to` may be `from`.
static inline void mask_elements(const void* from, void* to, int64_t number, size_t size)
{
    if (from != to) memcpy(to, from, (size_t)number * size);
    for (int64_t i = 0; i < number; ++i)
        if (!is_kept(i)) memset((char*)to + (size_t)i * size, 0, size);
}

// SPDX-License-Identifier: Apache-2.0
// madvise() is not in POSIX.
#define _GNU_SOURCE
#include "base/large_pages.h"

#include <stdint.h>

#include <sys/mman.h>

static const size_t page = (size_t)2 << 20;

void prefer_large_pages(void* block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (bytes < 2 * page) return;
    const uintptr_t begin = ((uintptr_t)block + page - 1) & ~(uintptr_t)(page - 1);
    const uintptr_t end = ((uintptr_t)block + bytes) & ~(uintptr_t)(page - 1);
    // Advice that is not taken changes nothing.
    if (begin < end)
        (void)madvise((char*)block + (begin - (uintptr_t)block), end - begin, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

// SPDX-License-Identifier: Apache-2.0
// The counting allocator: replaces malloc and its kin by ones that count and hand over to glibc.
#include "allocation_count.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
std::atomic<long> allocations{0};
}

bool can_count_allocations()
{
    return true;
}
long count_allocations()
{
    return allocations.load();
}

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size)
{
    ++allocations;
    return __libc_malloc(size);
}

void* calloc(size_t number, size_t size)
{
    ++allocations;
    return __libc_calloc(number, size);
}

void* realloc(void* memory, size_t size)
{
    ++allocations;
    return __libc_realloc(memory, size);
}

void* memalign(size_t alignment, size_t size)
{
    ++allocations;
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void** out_memory, size_t alignment, size_t size)
{
    void* memory = memalign(alignment, size);
    if (memory == nullptr) return ENOMEM;
    *out_memory = memory;
    return 0;
}

}  // extern "C"

#else

bool can_count_allocations()
{
    return false;
}
long count_allocations()
{
    return 0;
}

#endif

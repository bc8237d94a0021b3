// SPDX-License-Identifier: Apache-2.0
#include "verify/allocation.h"

#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fstream>

namespace tengine::tools {

int64_t heap_bytes()
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return static_cast<int64_t>(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

int64_t resident_bytes()
{
    int64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace tengine::tools

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<int64_t> allocations{0};

void count()
{
    allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

namespace tengine::tools {

bool can_count_allocations()
{
    return true;
}

int64_t count_allocations()
{
    return allocations.load();
}

}  // namespace tengine::tools

// These are the process's, as the manual of glibc says ("Replacing malloc"), and call glibc's own.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);

void* malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void* calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void* realloc(void* memory, size_t size)
{
    count();
    return __libc_realloc(memory, size);
}

void free(void* memory)
{
    __libc_free(memory);
}

void* memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void** out_memory, size_t alignment, size_t size)
{
    void* memory = memalign(alignment, size);
    if (!memory) return ENOMEM;
    *out_memory = memory;
    return 0;
}

}  // extern "C"

#else

namespace tengine::tools {

bool can_count_allocations()
{
    return false;
}

int64_t count_allocations()
{
    return 0;
}

}  // namespace tengine::tools

#endif

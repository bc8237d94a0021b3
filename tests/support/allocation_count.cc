// SPDX-License-Identifier: Apache-2.0
// The counting allocator: replaces malloc and related functions by functions that count and call
// glibc's.
#include "allocation_count.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<long> allocations{0};
std::atomic<long> failing_allocation{0};  // 0: none
std::atomic<bool> is_lasting{false};
std::atomic<long> live_blocks{0};
std::atomic<long> live_bytes{0};
std::atomic<long> peak_bytes{0};

// Counts a call; whether it may proceed.
bool begin_allocation()
{
    const long number = ++allocations;
    const long failing = failing_allocation;
    if (failing == 0 || (is_lasting ? number < failing : number != failing)) return true;
    errno = ENOMEM;
    return false;
}

void* count_block(void* memory)
{
    if (!memory) return nullptr;
    ++live_blocks;
    const long live = live_bytes += static_cast<long>(malloc_usable_size(memory));
    if (live > peak_bytes) peak_bytes = live;
    return memory;
}

void forget_block(void* memory)
{
    if (!memory) return;
    --live_blocks;
    live_bytes -= static_cast<long>(malloc_usable_size(memory));
}

}  // namespace

bool can_count_allocations()
{
    return true;
}
long count_allocations()
{
    return allocations.load();
}
void fail_allocation(long number, bool lasting)
{
    is_lasting = lasting;
    failing_allocation = number == 0 ? 0 : allocations + number;
}
LiveMemory measure_live_memory()
{
    return {live_blocks.load(), live_bytes.load()};
}
void reset_peak_memory()
{
    peak_bytes = live_bytes.load();
}
long measure_peak_memory()
{
    return peak_bytes.load();
}

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);

void* malloc(size_t size)
{
    return begin_allocation() ? count_block(__libc_malloc(size)) : nullptr;
}

void* calloc(size_t number, size_t size)
{
    return begin_allocation() ? count_block(__libc_calloc(number, size)) : nullptr;
}

void* realloc(void* memory, size_t size)
{
    if (!begin_allocation()) return nullptr;
    const long old_bytes = memory ? static_cast<long>(malloc_usable_size(memory)) : 0;
    void* moved = __libc_realloc(memory, size);
    if (!moved && size > 0) return nullptr;  // the old block still exists
    if (memory) {
        --live_blocks;
        live_bytes -= old_bytes;
    }
    return count_block(moved);
}

void free(void* memory)
{
    forget_block(memory);
    __libc_free(memory);
}

void* memalign(size_t alignment, size_t size)
{
    return begin_allocation() ? count_block(__libc_memalign(alignment, size)) : nullptr;
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

bool can_count_allocations()
{
    return false;
}
long count_allocations()
{
    return 0;
}
void fail_allocation(long, bool) {}
LiveMemory measure_live_memory()
{
    return {0, 0};
}
void reset_peak_memory() {}
long measure_peak_memory()
{
    return 0;
}

#endif

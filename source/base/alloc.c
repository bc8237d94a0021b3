// SPDX-License-Identifier: Apache-2.0
// The library's memory. The contract is in alloc.h.
#define _POSIX_C_SOURCE 200809L
#include "base/alloc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tengine/error.h"

static pthread_mutex_t arena_mutex = PTHREAD_MUTEX_INITIALIZER;
static arena_t arena;  // has no grains while blocks come from the heap

// The size of the last block that this thread did not get from the arena.
static _Thread_local size_t refused_size;

static void* alloc_from_arena(size_t size)
{
    pthread_mutex_lock(&arena_mutex);
    void* memory = take_arena_block(&arena, size);
    pthread_mutex_unlock(&arena_mutex);
    if (!memory) {
        refused_size = size;
    } else if (size >= refused_size) {
        refused_size = 0;
    }
    return memory;
}

static void* alloc_from_heap(size_t size)
{
    void* memory = NULL;
    // posix_memalign() allocates the exact size; aligned_alloc() wants it rounded up, which would
    // hide the first byte past the end from AddressSanitizer.
    return posix_memalign(&memory, ALLOC_ALIGNMENT, size) == 0 ? memory : NULL;
}

void* alloc_memory(size_t size)
{
    if (size == 0) size = 1;
    void* memory = arena.grain_num > 0 ? alloc_from_arena(size) : alloc_from_heap(size);
    return memory ? memset(memory, 0, size) : NULL;
}

void* alloc_raw_memory(size_t size)
{
    if (size == 0) size = 1;
    return arena.grain_num > 0 ? alloc_from_arena(size) : malloc(size);
}

void* alloc_small_memory(size_t size)
{
    void* memory = alloc_raw_memory(size);
    return memory ? memset(memory, 0, size) : NULL;
}

void* resize_memory(void* memory, size_t old_size, size_t new_size)
{
    void* resized = alloc_small_memory(new_size);
    if (!resized) return NULL;
    if (memory) memcpy(resized, memory, old_size < new_size ? old_size : new_size);
    free_memory(memory);
    return resized;
}

void free_memory(void* memory)
{
    if (!is_in_arena(&arena, memory)) {
        free(memory);
        return;
    }
    pthread_mutex_lock(&arena_mutex);
    return_arena_block(&arena, memory);
    pthread_mutex_unlock(&arena_mutex);
}

char* duplicate_string(const char* string)
{
    if (!string) return NULL;
    const size_t size = strlen(string) + 1;
    char* copy = alloc_raw_memory(size);
    return copy ? memcpy(copy, string, size) : NULL;
}

// ---- the arena ----

int set_memory_arena(void* memory, size_t size)
{
    size_t used, peak;
    get_memory_use(&used, &peak);
    if (used > 0) return TENGINE_ESTATE;
    forget_memory_shortage();
    if (!memory && size == 0) {
        arena = (arena_t){0};
        return TENGINE_OK;
    }
    if (!memory || size < ARENA_LEAST_BYTES) return TENGINE_EINVAL;
    start_arena(&arena, memory, size);
    return TENGINE_OK;
}

void get_memory_use(size_t* out_used, size_t* out_peak)
{
    pthread_mutex_lock(&arena_mutex);
    *out_used = (size_t)arena.used * ARENA_GRAIN;
    *out_peak = (size_t)arena.peak * ARENA_GRAIN;
    pthread_mutex_unlock(&arena_mutex);
}

bool describe_memory_shortage(char* text, size_t size)
{
    if (refused_size == 0 || arena.grain_num == 0) return false;
    pthread_mutex_lock(&arena_mutex);
    const size_t total = (size_t)arena.grain_num * ARENA_GRAIN;
    const size_t free_bytes = total - (size_t)arena.used * ARENA_GRAIN;
    const size_t largest = get_largest_arena_block(&arena);
    pthread_mutex_unlock(&arena_mutex);
    snprintf(text, size,
             "the arena has %zu of %zu bytes free, %zu in one piece; %zu were requested",
             free_bytes, total, largest, refused_size);
    return true;
}

void forget_memory_shortage(void)
{
    refused_size = 0;
}

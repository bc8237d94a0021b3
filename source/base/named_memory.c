// SPDX-License-Identifier: Apache-2.0
#include "base/named_memory.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/large_pages.h"
#include "tengine/error.h"

typedef struct named_memory
{
    char name[NAMED_MEMORY_NAME_SIZE];
    arena_t arena;  // without grains: the place is free
} named_memory_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static named_memory_t memories[MOST_NAMED_MEMORIES];

// The memory of this name; with "", a free place. NULL when there is none.
static named_memory_t* find_memory(const char* name)
{
    for (int i = 0; i < MOST_NAMED_MEMORIES; ++i)
        if (strcmp(memories[i].name, name) == 0) return &memories[i];
    return NULL;
}

static int set_memory(const char* name, void* memory, size_t size)
{
    named_memory_t* place = *name ? find_memory(name) : NULL;
    if (place && place->arena.used > 0) return TENGINE_ESTATE;
    if (place) *place = (named_memory_t){0};
    if (!memory && size == 0) return TENGINE_OK;
    if (!*name || strlen(name) >= NAMED_MEMORY_NAME_SIZE || !memory || size < ARENA_LEAST_BYTES)
        return TENGINE_EINVAL;
    place = find_memory("");
    if (!place) return TENGINE_ELIMIT;
    snprintf(place->name, sizeof place->name, "%s", name);
    start_arena(&place->arena, memory, size);
    return TENGINE_OK;
}

int set_named_memory(const char* name, void* memory, size_t size)
{
    pthread_mutex_lock(&mutex);
    const int status = set_memory(name, memory, size);
    pthread_mutex_unlock(&mutex);
    return status;
}

void* alloc_named_memory(const char* name, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    named_memory_t* place = *name ? find_memory(name) : NULL;
    void* block = place ? take_arena_block(&place->arena, bytes) : NULL;
    pthread_mutex_unlock(&mutex);
    size_t room, used, peak;
    if (place) return block;
    if (!checked_add(bytes, ALLOC_ALIGNMENT - 1, &room)) return NULL;
    block = alloc_raw_memory(room);
    get_memory_use(&used, &peak);
    // The program has chosen the pages of its own arena.
    if (block && used == 0) prefer_large_pages(block, room);
    return block;
}

void free_named_memory(void* block)
{
    bool is_free = !block;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < MOST_NAMED_MEMORIES && !is_free; ++i) {
        if (!is_in_arena(&memories[i].arena, block)) continue;
        return_arena_block(&memories[i].arena, block);
        is_free = true;
    }
    pthread_mutex_unlock(&mutex);
    if (!is_free) free_memory(block);
}

bool find_named_memory_room(const char* name, size_t* out_bytes)
{
    pthread_mutex_lock(&mutex);
    const named_memory_t* place = *name ? find_memory(name) : NULL;
    if (place) *out_bytes = get_largest_arena_block(&place->arena);
    pthread_mutex_unlock(&mutex);
    return place != NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "base/key_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum
{
    FIRST_CAPACITY = 16
};

static int32_t* find_bucket(const key_map_t* map, uint64_t key)
{
    return &map->buckets[key & (uint64_t)(map->capacity - 1)];
}

static void link_entry(key_map_t* map, int32_t index)
{
    int32_t* bucket = find_bucket(map, map->entries[index].key);
    map->entries[index].next = *bucket;
    *bucket = index;
}

static int grow(key_map_t* map)
{
    if (map->capacity > INT32_MAX / 2)
        return tengine_error_set(TENGINE_ELIMIT, "more than %d keys", map->capacity);
    const int32_t capacity = map->capacity ? 2 * map->capacity : FIRST_CAPACITY;
    key_map_t grown = {.entry_num = map->entry_num, .capacity = capacity};
    grown.entries = alloc_memory(sizeof *grown.entries * (size_t)capacity);
    grown.buckets = alloc_memory(sizeof *grown.buckets * (size_t)capacity);
    if (!grown.entries || !grown.buckets) {
        release_key_map(&grown);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for %d keys", capacity);
    }
    memset(grown.buckets, 0xff, sizeof *grown.buckets * (size_t)capacity);  // all -1
    if (map->entry_num > 0)
        memcpy(grown.entries, map->entries, sizeof *map->entries * (size_t)map->entry_num);
    for (int32_t i = 0; i < grown.entry_num; ++i)
        link_entry(&grown, i);
    release_key_map(map);
    *map = grown;
    return TENGINE_OK;
}

int add_key(key_map_t* map, uint64_t key, int32_t value)
{
    if (map->entry_num == map->capacity) TENGINE_RETURN_IF_ERROR(grow(map));
    map->entries[map->entry_num] = (key_entry_t){key, value, -1};
    link_entry(map, map->entry_num++);
    return TENGINE_OK;
}

static const key_entry_t* find_from(const key_map_t* map, int32_t index, uint64_t key)
{
    while (index >= 0 && map->entries[index].key != key)
        index = map->entries[index].next;
    return index < 0 ? NULL : &map->entries[index];
}

const key_entry_t* find_key(const key_map_t* map, uint64_t key)
{
    return map->capacity == 0 ? NULL : find_from(map, *find_bucket(map, key), key);
}

const key_entry_t* find_next_key(const key_map_t* map, const key_entry_t* entry)
{
    return find_from(map, entry->next, entry->key);
}

void release_key_map(key_map_t* map)
{
    free_memory(map->entries);
    free_memory(map->buckets);
    *map = (key_map_t){.capacity = 0};
}

// SPDX-License-Identifier: Apache-2.0
// Numbers by 64-bit keys, several for a key: a chained hash table that only grows. Keys are spread
// by their lowest bits: they are hashes, or made such.
#pragma once

#include <stdint.h>

#include "tengine/error.h"

TENGINE_EXTERN_C_BEGIN

typedef struct key_entry
{
    uint64_t key;
    int32_t value;
    int32_t next;  // in the same bucket; -1: none
} key_entry_t;

// Starts as all zero bytes.
typedef struct key_map
{
    key_entry_t* entries;
    int32_t* buckets;  // the last entry of each; as many as entries have room
    int32_t entry_num;
    int32_t capacity;  // a power of two, or 0
} key_map_t;

// TENGINE_ENOMEM, and the map is as before.
TENGINE_MUST_USE int add_key(key_map_t* map, uint64_t key, int32_t value);

// Entries of a key, the last that was added first; NULL after the others.
const key_entry_t* find_key(const key_map_t* map, uint64_t key);
const key_entry_t* find_next_key(const key_map_t* map, const key_entry_t* entry);

void release_key_map(key_map_t* map);

TENGINE_EXTERN_C_END

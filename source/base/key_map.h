// SPDX-License-Identifier: Apache-2.0
// A multimap from 64-bit keys to numbers: a chained hash table that only grows. The lowest bits of
// a key select its bucket, so keys must be hashes or as well spread.
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

// A map starts as all zero bytes.
typedef struct key_map
{
    key_entry_t* entries;
    int32_t* buckets;  // `capacity` of them: the last entry of each
    int32_t entry_num;
    int32_t capacity;  // a power of two, or 0
} key_map_t;

// TENGINE_ENOMEM leaves the map as it was.
TENGINE_MUST_USE int add_key(key_map_t* map, uint64_t key, int32_t value);

// Returns the entries of a key, the last added first, then NULL.
const key_entry_t* find_key(const key_map_t* map, uint64_t key);
const key_entry_t* find_next_key(const key_map_t* map, const key_entry_t* entry);

void release_key_map(key_map_t* map);

TENGINE_EXTERN_C_END

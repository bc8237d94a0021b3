// SPDX-License-Identifier: Apache-2.0
// FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv): each call continues from the hash
// before, the first from HASH_START. Collisions can be made on purpose; where that matters,
// base/sha256.h is used.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_bytes(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* byte = (const unsigned char*)bytes;
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

// Hashes the string with its NUL.
static inline uint64_t hash_text(uint64_t hash, const char* text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

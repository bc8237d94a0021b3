// SPDX-License-Identifier: Apache-2.0
// SHA-256, FIPS 180-4 §6.2, which detects altered bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/thread_pool.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    SHA256_BYTES = 32,  // the size of a digest
    SHA256_BLOCK_BYTES = 64,
    SHA256_PIECE_BYTES = 16384
};

typedef struct sha256
{
    uint32_t state[8];
    uint8_t pending[SHA256_BLOCK_BYTES];
    uint64_t size;  // all data so far, in bytes
} sha256_t;

// A hash is started once, updated any number of times and finished once; then it may be started
// again.
void start_sha256(sha256_t* hash);
void update_sha256(sha256_t* hash, const void* data, size_t size);
// Update the hash with a number, and with a string or NULL. A string's length is hashed, too, so
// that bytes after it are never taken for its own.
void update_sha256_number(sha256_t* hash, int64_t number);
void update_sha256_text(sha256_t* hash, const char* text);
void finish_sha256(sha256_t* hash, uint8_t out_digest[SHA256_BYTES]);

// start_sha256(), update_sha256() and finish_sha256() in one call.
void find_sha256(const void* data, size_t size, uint8_t out_digest[SHA256_BYTES]);

// For large data: the SHA-256 of the SHA-256s of its pieces, each of SHA256_PIECE_BYTES but the
// last. The workers of the pool (NULL: none) share the pieces, and a processor with instructions
// for SHA-256 takes little longer for two pieces than for one.
void find_sha256_of_pieces(thread_pool_t* pool, const void* data, size_t size,
                           uint8_t out_digest[SHA256_BYTES]);

TENGINE_EXTERN_C_END

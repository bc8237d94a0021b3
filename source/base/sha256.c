// SPDX-License-Identifier: Apache-2.0
// SHA-256; see sha256.h. Variables and functions have the standard's names.
#include "base/sha256.h"

#include <string.h>

#include "base/sha256_instructions.h"

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2).
const uint32_t sha256_round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t big_endian(const uint8_t* bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Computes W of §6.2.2, step 1.
static void expand_message(const uint8_t* block, uint32_t w[64])
{
    for (int t = 0; t < 16; ++t)
        w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 64; ++t) {
        const uint32_t sigma0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t sigma1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
    }
}

static void add_block(uint32_t state[8], const uint8_t* block)
{
    uint32_t w[64];
    expand_message(block, w);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; ++t) {
        const uint32_t sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
        const uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + sha256_round_constants[t] + w[t];
        const uint32_t sum0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
        const uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const uint32_t worked[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i)
        state[i] += worked[i];
}

static void add_blocks_in_c(uint32_t state[8], const uint8_t* bytes, size_t block_num)
{
    for (size_t i = 0; i < block_num; ++i)
        add_block(state, bytes + i * SHA256_BLOCK_BYTES);
}

static void add_blocks(sha256_t* hash, const uint8_t* bytes, size_t block_num)
{
    const sha256_instructions_t* fast = find_sha256_instructions();
    (fast ? fast->add_blocks : add_blocks_in_c)(hash->state, bytes, block_num);
}

void start_sha256(sha256_t* hash)
{
    *hash = (sha256_t){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void update_sha256(sha256_t* hash, const void* data, size_t size)
{
    if (size == 0) return;
    const uint8_t* bytes = data;
    const size_t filled = hash->size % SHA256_BLOCK_BYTES;
    hash->size += size;
    if (filled != 0) {
        const size_t room = SHA256_BLOCK_BYTES - filled;
        const size_t taken = size < room ? size : room;
        memcpy(hash->pending + filled, bytes, taken);
        bytes += taken;
        size -= taken;
        if (taken < room) return;
        add_blocks(hash, hash->pending, 1);
    }
    add_blocks(hash, bytes, size / SHA256_BLOCK_BYTES);
    const size_t rest = size % SHA256_BLOCK_BYTES;
    memcpy(hash->pending, bytes + (size - rest), rest);
}

void update_sha256_number(sha256_t* hash, int64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i)
        bytes[i] = (uint8_t)((uint64_t)number >> (8 * i));
    update_sha256(hash, bytes, sizeof bytes);
}

void update_sha256_text(sha256_t* hash, const char* text)
{
    const size_t length = text ? strlen(text) : 0;
    update_sha256_number(hash, text ? (int64_t)length : -1);
    update_sha256(hash, text, length);
}

// A one bit, zeroes, and the number of bits in 64 bits fill the last block (§5.1.1).
void finish_sha256(sha256_t* hash, uint8_t out_digest[SHA256_BYTES])
{
    const uint64_t bits = hash->size * 8;
    const size_t filled = hash->size % SHA256_BLOCK_BYTES;
    const size_t blocks = filled < SHA256_BLOCK_BYTES - 8 ? 1 : 2;
    const size_t zeroes_end = blocks * SHA256_BLOCK_BYTES - 8 - filled;
    uint8_t padding[2 * SHA256_BLOCK_BYTES] = {0x80};
    for (int i = 0; i < 8; ++i)
        padding[zeroes_end + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    update_sha256(hash, padding, zeroes_end + 8);
    for (int i = 0; i < SHA256_BYTES; ++i)
        out_digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void find_sha256(const void* data, size_t size, uint8_t out_digest[SHA256_BYTES])
{
    sha256_t hash;
    start_sha256(&hash);
    update_sha256(&hash, data, size);
    finish_sha256(&hash, out_digest);
}

// Hashes two whole pieces that follow each other.
static void find_pair(const sha256_instructions_t* fast, const uint8_t* bytes,
                      uint8_t out_digests[2][SHA256_BYTES])
{
    sha256_t hash[2];
    uint32_t states[2][8];
    const uint8_t* pieces[2];
    for (int i = 0; i < 2; ++i) {
        start_sha256(&hash[i]);
        memcpy(states[i], hash[i].state, sizeof states[i]);
        pieces[i] = bytes + (size_t)i * SHA256_PIECE_BYTES;
    }
    fast->add_block_pairs(states, pieces, SHA256_PIECE_BYTES / SHA256_BLOCK_BYTES);
    for (int i = 0; i < 2; ++i) {
        memcpy(hash[i].state, states[i], sizeof states[i]);
        hash[i].size = SHA256_PIECE_BYTES;
        finish_sha256(&hash[i], out_digests[i]);
    }
}

enum
{
    PAIR_BYTES = 2 * SHA256_PIECE_BYTES,
    BATCH_PAIRS = 128,
    GRAIN_PAIRS = 4  // the least work for a worker: some 60 us
};

// Pieces whose digests are computed before they are hashed in turn.
typedef struct batch
{
    const uint8_t* bytes;
    size_t size;
    uint8_t digests[BATCH_PAIRS * 2][SHA256_BYTES];
} batch_t;

static void find_pairs(void* argument, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    batch_t* batch = argument;
    const sha256_instructions_t* fast = find_sha256_instructions();
    for (int64_t i = begin; i < end; ++i) {
        const size_t at = (size_t)i * PAIR_BYTES, left = batch->size - at;
        const uint8_t* bytes = batch->bytes + at;
        uint8_t(*digests)[SHA256_BYTES] = batch->digests + 2 * i;
        if (fast && left >= PAIR_BYTES) {
            find_pair(fast, bytes, digests);
            continue;
        }
        const size_t first = left < SHA256_PIECE_BYTES ? left : SHA256_PIECE_BYTES;
        const size_t second = left - first < SHA256_PIECE_BYTES ? left - first : SHA256_PIECE_BYTES;
        find_sha256(bytes, first, digests[0]);
        if (second > 0) find_sha256(bytes + first, second, digests[1]);
    }
}

void find_sha256_of_pieces(thread_pool_t* pool, const void* data, size_t size,
                           uint8_t out_digest[SHA256_BYTES])
{
    const size_t most = (size_t)BATCH_PAIRS * PAIR_BYTES;
    sha256_t whole;
    start_sha256(&whole);
    for (size_t at = 0; at < size; at += most) {
        batch_t batch = {.bytes = (const uint8_t*)data + at};
        batch.size = size - at < most ? size - at : most;
        const size_t pairs = (batch.size + PAIR_BYTES - 1) / PAIR_BYTES;
        const size_t pieces = (batch.size + SHA256_PIECE_BYTES - 1) / SHA256_PIECE_BYTES;
        run_parallel(pool, (int64_t)pairs, GRAIN_PAIRS, find_pairs, &batch);
        update_sha256(&whole, batch.digests, pieces * SHA256_BYTES);
    }
    finish_sha256(&whole, out_digest);
}

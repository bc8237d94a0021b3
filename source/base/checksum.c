// SPDX-License-Identifier: Apache-2.0
#include "base/checksum.h"

#include <string.h>

enum
{
    LANE_NUM = 8,
    STRIPE_BYTES = LANE_NUM * 8
};

static const uint64_t prime1 = 0x9e3779b185ebca87u;
static const uint64_t prime2 = 0xc2b2ae3d27d4eb4fu;
static const uint64_t prime3 = 0x165667b19e3779f9u;

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t mix(uint64_t state, uint64_t word)
{
    return rotate((state ^ word) * prime1, 31);
}

static uint64_t mix_bytes(uint64_t state, const uint8_t* bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return mix(state, word);
}

// The lanes are variables, so that they stay in registers in a build for size, too.
static void add_stripes(uint64_t lanes[LANE_NUM], const uint8_t* bytes, size_t number)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    uint64_t e = lanes[4], f = lanes[5], g = lanes[6], h = lanes[7];
    for (; number > 0; --number, bytes += STRIPE_BYTES) {
        a = mix_bytes(a, bytes);
        b = mix_bytes(b, bytes + 8);
        c = mix_bytes(c, bytes + 16);
        d = mix_bytes(d, bytes + 24);
        e = mix_bytes(e, bytes + 32);
        f = mix_bytes(f, bytes + 40);
        g = mix_bytes(g, bytes + 48);
        h = mix_bytes(h, bytes + 56);
    }
    const uint64_t after[LANE_NUM] = {a, b, c, d, e, f, g, h};
    memcpy(lanes, after, sizeof after);
}

// The avalanche of XXH64.
static uint64_t finish(uint64_t state)
{
    state = (state ^ state >> 33) * prime2;
    state = (state ^ state >> 29) * prime3;
    return state ^ state >> 32;
}

checksum_t find_checksum(const void* data, size_t size)
{
    const uint8_t* bytes = data;
    uint64_t lanes[LANE_NUM];
    checksum_t sum = {{size, ~(uint64_t)size}};
    for (int i = 0; i < LANE_NUM; ++i)
        lanes[i] = prime3 * (uint64_t)(i + 1);
    add_stripes(lanes, bytes, size / STRIPE_BYTES);
    const size_t left = size % STRIPE_BYTES;
    if (left > 0) {
        uint8_t last[STRIPE_BYTES] = {0};
        memcpy(last, bytes + (size - left), left);
        add_stripes(lanes, last, 1);
    }
    for (int i = 0; i < LANE_NUM; ++i) {
        sum.words[0] = mix(sum.words[0], lanes[i]);
        sum.words[1] = mix(sum.words[1], lanes[LANE_NUM - 1 - i] * prime2);
    }
    sum.words[0] = finish(sum.words[0]);
    sum.words[1] = finish(sum.words[1]);
    return sum;
}

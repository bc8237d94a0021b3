// SPDX-License-Identifier: Apache-2.0
// SHA-256; see sha256.h. Names of variables and functions are the standard's.
#include "device/tpu/sha256.h"

#include <algorithm>

namespace tengine::tpu {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2).
constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

constexpr uint32_t big_endian(const uint8_t* bytes)
{
    return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
           static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

// W of §6.2.2, step 1.
void expand_message(const uint8_t* block, uint32_t w[64])
{
    for (int t = 0; t < 16; ++t)
        w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 64; ++t) {
        const uint32_t sigma0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t sigma1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
    }
}

}  // namespace

void Sha256::add_block(const uint8_t* block)
{
    uint32_t w[64];
    expand_message(block, w);
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int t = 0; t < 64; ++t) {
        const uint32_t sum1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
        const uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRoundConstants[t] + w[t];
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
        state_[i] += worked[i];
}

void Sha256::update(const void* data, size_t size)
{
    const auto* bytes = static_cast<const uint8_t*>(data);
    size_t filled = size_ % kBlockBytes;
    size_ += size;
    if (filled != 0) {
        const size_t taken = std::min(size, kBlockBytes - filled);
        std::copy_n(bytes, taken, pending_.begin() + filled);
        bytes += taken;
        size -= taken;
        if (filled + taken < kBlockBytes) return;
        add_block(pending_.data());
    }
    for (; size >= kBlockBytes; size -= kBlockBytes, bytes += kBlockBytes)
        add_block(bytes);
    std::copy_n(bytes, size, pending_.begin());
}

// A one bit, zeroes, and the number of bits in 64 bits fill the last block (§5.1.1).
Sha256Digest Sha256::finish()
{
    const uint64_t bits = size_ * 8;
    const size_t filled = size_ % kBlockBytes;
    uint8_t padding[2 * kBlockBytes] = {0x80};
    const size_t zeroes_end = (filled < kBlockBytes - 8 ? 1 : 2) * kBlockBytes - 8 - filled;
    for (int i = 0; i < 8; ++i)
        padding[zeroes_end + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
    update(padding, zeroes_end + 8);
    Sha256Digest digest;
    for (int i = 0; i < kSha256Bytes; ++i)
        digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

Sha256Digest sha256_of(const void* data, size_t size)
{
    Sha256 hash;
    hash.update(data, size);
    return hash.finish();
}

}  // namespace tengine::tpu

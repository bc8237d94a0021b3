// SPDX-License-Identifier: Apache-2.0
// base/checksum.h: files keep checksums, so that they never change; altered bytes change them.
#include "base/checksum.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace tengine {
namespace {

using Sum = std::pair<uint64_t, uint64_t>;

Sum find(const void* data, size_t size)
{
    const checksum_t sum = find_checksum(data, size);
    return {sum.words[0], sum.words[1]};
}

std::vector<uint8_t> make_bytes(size_t size)
{
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<uint8_t>(i * i * 31 + i / 7);
    return bytes;
}

// The definition in checksum.h, a byte at a time.
Sum compute(const std::vector<uint8_t>& bytes)
{
    const auto rotate = [](uint64_t value) { return value << 31 | value >> 33; };
    const uint64_t primes[] = {0x9e3779b185ebca87u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u};
    uint64_t lanes[8];
    for (uint64_t i = 0; i < 8; ++i)
        lanes[i] = primes[2] * (i + 1);
    for (size_t first = 0; first < bytes.size(); first += 64)
        for (size_t lane = 0; lane < 8; ++lane) {
            uint64_t word = 0;
            for (size_t k = 0; k < 8; ++k) {
                const size_t place = first + 8 * lane + k;
                if (place < bytes.size()) word |= uint64_t{bytes[place]} << 8 * k;
            }
            lanes[lane] = rotate((lanes[lane] ^ word) * primes[0]);
        }
    uint64_t one = bytes.size(), other = ~uint64_t{bytes.size()};
    for (size_t i = 0; i < 8; ++i) {
        one = rotate((one ^ lanes[i]) * primes[0]);
        other = rotate((other ^ lanes[7 - i] * primes[1]) * primes[0]);
    }
    for (uint64_t* word : {&one, &other}) {
        *word = (*word ^ *word >> 33) * primes[1];
        *word = (*word ^ *word >> 29) * primes[2];
        *word ^= *word >> 32;
    }
    return {one, other};
}

TEST(Checksum, FollowsItsDefinition)
{
    for (size_t size = 0; size < 400; ++size) {
        const std::vector<uint8_t> bytes = make_bytes(size);
        ASSERT_EQ(find(bytes.data(), size), compute(bytes)) << size;
    }
    const std::vector<uint8_t> bytes = make_bytes(1000);
    EXPECT_EQ(find(bytes.data(), bytes.size()), (Sum{0x34ea8bcb7ea5f3d4u, 0xb929510172ee86e6u}));
}

TEST(Checksum, DependsOnNoAlignment)
{
    std::vector<uint8_t> bytes = make_bytes(1000);
    const Sum sum = find(bytes.data(), 900);
    for (size_t shift = 0; shift < 100; shift += 1 + shift / 5) {
        std::vector<uint8_t> moved(shift);
        moved.insert(moved.end(), bytes.begin(), bytes.begin() + 900);
        EXPECT_EQ(find(moved.data() + shift, 900), sum) << shift;
    }
}

TEST(Checksum, AnyBitsThatChangeChangeIt)
{
    std::vector<uint8_t> bytes = make_bytes(333);
    std::set<Sum> sums = {find(bytes.data(), bytes.size())};
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ 1u << bit % 8);
        sums.insert(find(bytes.data(), bytes.size()));
        // Another one in the same lane and place of the word, and the lengths with zeroes behind.
        const size_t other = (bit / 8 + 64) % bytes.size();
        bytes[other] = static_cast<uint8_t>(bytes[other] ^ 1u << bit % 8);
        sums.insert(find(bytes.data(), bytes.size()));
        bytes[other] = static_cast<uint8_t>(bytes[other] ^ 1u << bit % 8);
        bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ 1u << bit % 8);
    }
    EXPECT_GE(sums.size(), 1 + 8 * 333 + 8 * (333 - 64)) << "pairs may come twice";
}

TEST(Checksum, ZeroesAndOrderCount)
{
    std::set<Sum> sums;
    const std::vector<uint8_t> zeroes(1000);
    for (size_t size = 0; size <= 1000; ++size)
        sums.insert(find(zeroes.data(), size));
    EXPECT_EQ(sums.size(), 1001u);
    std::vector<uint8_t> bytes = make_bytes(640);
    const Sum before = find(bytes.data(), bytes.size());
    std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
    EXPECT_NE(find(bytes.data(), bytes.size()), before) << "stripes";
    std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
    std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);
    EXPECT_NE(find(bytes.data(), bytes.size()), before) << "lanes";
}

}  // namespace
}  // namespace tengine

// SPDX-License-Identifier: Apache-2.0
// The tile of group_tile.h for instructions that multiply two rows of eight bytes by two columns of
// as many, and add the four sums of products to four lanes. So rows and columns are summed in
// pairs, which the store separates. The last of an odd number of rows is multiplied twice. To be
// included inside of a namespace of the instruction set's own, for its
//     struct Set
//     {
//         using Operand, Sum;                         // vectors: of two rows or columns, of sums
//         static constexpr bool kHasHalves;           // which are four in a group
//         static Operand load(const char* weights);
//         static Operand load_pair(const char* first, const char* second);
//         static Operand join(uint64_t first, uint64_t second);  // of the two halves
//         static Sum start(const int32_t* two);       // twice
//         static Sum add(Sum sums, Operand input, Operand weights);
//         static void store(Sum sums, int32_t* first, int32_t* second);  // second: or null
//     };
// Limits: the groups of two rows are brought together, for eight instructions; these and the loads
// (of six rows and sixteen columns fourteen) are less than 24 of them take with two units.
#pragma once

// Accumulators take 24 (8) of the registers, which are half as many with AArch32.
#ifdef __aarch64__
constexpr int kMostRows = 6, kColumns = 16;
#else
constexpr int kMostRows = 4, kColumns = 8;
#endif
constexpr int64_t kGroupBytes = 8;

// The first `bytes`, which are whole elements of 16 bits; 0 follows.
inline uint64_t load_halves(const char* from, int64_t bytes)
{
    uint64_t group = 0;
    for (int64_t i = 0; i < bytes; i += 2) {
        uint16_t half;
        __builtin_memcpy(&half, from + i, sizeof half);
        group |= static_cast<uint64_t>(half) << 8 * i;
    }
    return group;
}

template <class Set, int kRowPairs, int kColumnPairs>
struct PairSums
{
    typename Set::Sum sums[kRowPairs][kColumnPairs];

    void start(const int32_t* values)
    {
#pragma GCC unroll 8
        for (int j = 0; j < kColumnPairs; ++j)
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i)
                sums[i][j] = Set::start(values + 2 * j);
    }
    void add(const typename Set::Operand (&inputs)[kRowPairs], const char* weights)
    {
        // Each is read while the one before is used.
        typename Set::Operand pair = Set::load(weights);
#pragma GCC unroll 8
        for (int j = 0; j < kColumnPairs; ++j, weights += 2 * kGroupBytes) {
            const typename Set::Operand next =
                j + 1 < kColumnPairs ? Set::load(weights + 2 * kGroupBytes) : pair;
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i)
                sums[i][j] = Set::add(sums[i][j], inputs[i], pair);
            pair = next;
        }
    }
    void store(int64_t rows, int32_t* to) const
    {
        constexpr int64_t kStep = 2 * kColumnPairs;
#pragma GCC unroll 8
        for (int i = 0; i < kRowPairs; ++i, to += 2 * kStep)
#pragma GCC unroll 8
            for (int j = 0; j < kColumnPairs; ++j)
                Set::store(sums[i][j], to + 2 * j, 2 * i + 1 < rows ? to + kStep + 2 * j : nullptr);
    }
};

template <class Set, int kRowPairs, int kColumnPairs>
void multiply_pairs(const GroupTile& tile, int64_t rows)
{
    PairSums<Set, kRowPairs, kColumnPairs> sums;
    sums.start(tile.start);
    const char* weights = tile.weights;
    for (int64_t segment = 0; segment < tile.segment_num; ++segment) {
        const char *first[kRowPairs], *second[kRowPairs];
#pragma GCC unroll 8
        for (int i = 0; i < kRowPairs; ++i) {
            first[i] = tile.input + tile.segments[segment] + 2 * i * tile.input_step;
            second[i] = first[i] + (2 * i + 1 < rows ? tile.input_step : 0);
        }
        typename Set::Operand inputs[kRowPairs];
        const auto add = [&](int64_t shift) {
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i)
                inputs[i] = Set::load_pair(first[i] + shift, second[i] + shift);
            sums.add(inputs, weights);
            weights += 2 * kGroupBytes * kColumnPairs;
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i) {
                first[i] += kGroupBytes;
                second[i] += kGroupBytes;
            }
        };
        for (int64_t i = 0; i < tile.groups; ++i)
            add(0);
        if (tile.last_shift == 0) continue;
        if constexpr (Set::kHasHalves) {
            const int64_t left = kGroupBytes + tile.last_shift;
            for (int i = 0; i < kRowPairs; ++i)
                inputs[i] = Set::join(load_halves(first[i], left), load_halves(second[i], left));
            sums.add(inputs, weights);
            weights += 2 * kGroupBytes * kColumnPairs;
        } else {
            add(tile.last_shift);
        }
    }
    sums.store(rows, tile.sums);
}

template <class Set, int kRowPairs = kMostRows / 2>
void multiply_pair_tile(const GroupTile& tile, int64_t rows)
{
    if constexpr (kRowPairs > 1)
        if (rows <= 2 * (kRowPairs - 1)) return multiply_pair_tile<Set, kRowPairs - 1>(tile, rows);
    return tile.is_wide ? multiply_pairs<Set, kRowPairs, kColumns / 2>(tile, rows)
                        : multiply_pairs<Set, kRowPairs, kColumns / 4>(tile, rows);
}

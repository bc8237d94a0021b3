// SPDX-License-Identifier: Apache-2.0
// SMMLA and USMMLA (Armv8.6 I8MM, AArch64 and AArch32): two rows of eight bytes, signed or
// unsigned, by two columns of as many signed ones; the four sums of products are added to four
// lanes. So rows and columns are summed in pairs, which the store takes apart. The last of an odd
// number of rows is multiplied twice. Limits: of two rows the groups are brought together, for
// eight SMMLA; these and the loads (of six rows and sixteen columns fourteen) are less than 24
// SMMLA take with two units.
#include "base/cpu.h"
#include "device/cpu/kernel/byte_tile.h"

#ifdef __ARM_FEATURE_MATMUL_INT8
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

// Of the registers, which are half as many with AArch32, sums take 24 (8).
#ifdef __aarch64__
constexpr int kMostRows = 6, kColumns = 16;
#else
constexpr int kMostRows = 4, kColumns = 8;
#endif
constexpr int64_t kGroup = 8;

inline int8x16_t load(const char* weights)
{
    return vld1q_s8(reinterpret_cast<const int8_t*>(weights));
}

// Of a group, eight bytes of each of two rows.
inline int8x16_t load_pair(const char* first, const char* second)
{
    return vcombine_s8(vld1_s8(reinterpret_cast<const int8_t*>(first)),
                       vld1_s8(reinterpret_cast<const int8_t*>(second)));
}

template <bool kIsUnsigned>
inline int32x4_t add_products(int32x4_t sums, int8x16_t input, int8x16_t weights)
{
#ifdef __aarch64__
    // Volatile: left to itself, GCC 12 reads all weights before, for which there are no registers.
    if constexpr (kIsUnsigned)
        __asm__ volatile("usmmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(input), "w"(weights));
    else
        __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(input), "w"(weights));
    return sums;
#else
    return kIsUnsigned ? vusmmlaq_s32(sums, vreinterpretq_u8_s8(input), weights)
                       : vmmlaq_s32(sums, input, weights);
#endif
}

template <bool kIsUnsigned, int kRowPairs, int kColumnPairs>
struct PairSums
{
    int32x4_t sums[kRowPairs][kColumnPairs];

    void start(const int32_t* values)
    {
#pragma GCC unroll 8
        for (int j = 0; j < kColumnPairs; ++j) {
            const int32x2_t pair = vld1_s32(values + 2 * j);
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i)
                sums[i][j] = vcombine_s32(pair, pair);
        }
    }
    void add(const char* const* first, const char* const* second, const char* weights)
    {
        int8x16_t inputs[kRowPairs];
#pragma GCC unroll 8
        for (int i = 0; i < kRowPairs; ++i)
            inputs[i] = load_pair(first[i], second[i]);
        // Each is read while the one before is used.
        int8x16_t pair = load(weights);
#pragma GCC unroll 8
        for (int j = 0; j < kColumnPairs; ++j, weights += 2 * kGroup) {
            const int8x16_t next = j + 1 < kColumnPairs ? load(weights + 2 * kGroup) : pair;
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i)
                sums[i][j] = add_products<kIsUnsigned>(sums[i][j], inputs[i], pair);
            pair = next;
        }
    }
    void store(int64_t rows, int32_t* to) const
    {
        constexpr int64_t kStep = 2 * kColumnPairs;
#pragma GCC unroll 8
        for (int i = 0; i < kRowPairs; ++i, to += 2 * kStep)
#pragma GCC unroll 8
            for (int j = 0; j < kColumnPairs; ++j) {
                vst1_s32(to + 2 * j, vget_low_s32(sums[i][j]));
                if (2 * i + 1 < rows) vst1_s32(to + kStep + 2 * j, vget_high_s32(sums[i][j]));
            }
    }
};

template <bool kIsUnsigned, int kRowPairs, int kColumnPairs>
void multiply_pairs(const ByteTile& tile, int64_t rows)
{
    PairSums<kIsUnsigned, kRowPairs, kColumnPairs> sums;
    sums.start(tile.start);
    const char* weights = tile.weights;
    for (int64_t stretch = 0; stretch < tile.stretch_num; ++stretch) {
        const char *first[kRowPairs], *second[kRowPairs];
#pragma GCC unroll 8
        for (int i = 0; i < kRowPairs; ++i) {
            first[i] = tile.input + tile.stretches[stretch] + 2 * i * tile.input_step;
            second[i] = first[i] + (2 * i + 1 < rows ? tile.input_step : 0);
        }
        const auto go_on = [&](int64_t bytes) {
#pragma GCC unroll 8
            for (int i = 0; i < kRowPairs; ++i) {
                first[i] += bytes;
                second[i] += bytes;
            }
        };
        const auto add = [&] {
            sums.add(first, second, weights);
            weights += 2 * kGroup * kColumnPairs;
            go_on(kGroup);
        };
        for (int64_t i = 0; i < tile.groups; ++i)
            add();
        if (tile.last_shift == 0) continue;
        go_on(tile.last_shift);
        add();
    }
    sums.store(rows, tile.sums);
}

template <bool kIsUnsigned, int kRowPairs>
void multiply(const ByteTile& tile, int64_t rows)
{
    if constexpr (kRowPairs > 1)
        if (rows <= 2 * (kRowPairs - 1)) return multiply<kIsUnsigned, kRowPairs - 1>(tile, rows);
    return tile.is_wide ? multiply_pairs<kIsUnsigned, kRowPairs, kColumns / 2>(tile, rows)
                        : multiply_pairs<kIsUnsigned, kRowPairs, kColumns / 4>(tile, rows);
}

}  // namespace

const ByteFormat i8mm_format = {
    CPU_FEATURE_ARM_I8MM, 1, kGroup, kMostRows, kColumns, false, multiply<false, kMostRows / 2>};
const ByteFormat i8mm_unsigned_format = {
    CPU_FEATURE_ARM_I8MM, 1, kGroup, kMostRows, kColumns, true, multiply<true, kMostRows / 2>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const ByteFormat i8mm_format = {};
const ByteFormat i8mm_unsigned_format = {};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_MATMUL_INT8

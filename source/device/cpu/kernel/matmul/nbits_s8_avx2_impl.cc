// SPDX-License-Identifier: Apache-2.0
// Products of weights of 4 bits and int8 with VPMADDUBSW (AVX2), see nbits_product.h.
//
// VPMADDUBSW adds two products in 16 bits. Weights of 4 bits permit eight such results, of 2 * 15 *
// 127 at most each, in a 16-bit accumulator without overflow, for 32 elements; then VPMADDWD widens
// them to 32 bits. Weights of 8 bits would overflow. Limits: VPMADDUBSW and the additions, with
// some rows; with few rows the bandwidth of the memory.
#include "base/cpu.h"
#include "device/cpu/kernel/matmul/nbits_product.h"

#ifdef __x86_64__
#include <immintrin.h>

// These functions are compiled for processors that this one may not be.
#define TENGINE_AVX2 __attribute__((target("avx2,fma")))
#define TENGINE_AVX2_INLINE TENGINE_AVX2 __attribute__((always_inline)) inline

namespace tengine::cpu {
namespace {

constexpr int kMostRows = 4;
constexpr int kLanes = 8;            // of a vector of words
constexpr int64_t kLinesAtOnce = 4;  // 32 elements

TENGINE_AVX2_INLINE __m256i load_bytes(const char* at)
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// Adds the products of four elements of each column and four bytes of each row.
template <int kRows>
TENGINE_AVX2_INLINE void add_words(__m256i weights, const int8_t* bytes, __m256i (&sums)[kRows])
{
    for (int row = 0; row < kRows; ++row) {
        int32_t word;
        __builtin_memcpy(&word, bytes + 4 * row, sizeof(word));
        const __m256i pairs = _mm256_maddubs_epi16(weights, _mm256_set1_epi32(word));
        sums[row] = _mm256_add_epi16(sums[row], pairs);
    }
}

// Computes the products of a block and half of the columns, whose lines begin at `at`.
template <int kRows>
TENGINE_AVX2_INLINE void add_block(const char* at, int64_t lines, const int8_t* bytes,
                                   __m256i (&sums)[kRows])
{
    const __m256i halves = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    for (int64_t done = 0; done < lines; done += kLinesAtOnce) {
        const int64_t count = lines - done < kLinesAtOnce ? lines - done : kLinesAtOnce;
        __m256i narrow[kRows];
        for (int row = 0; row < kRows; ++row)
            narrow[row] = _mm256_setzero_si256();
        for (int64_t i = 0; i < count; ++i, at += kNbitsLine, bytes += 8 * kRows) {
            const __m256i words = load_bytes(at);
            add_words(_mm256_and_si256(words, halves), bytes, narrow);
            add_words(_mm256_and_si256(_mm256_srli_epi16(words, 4), halves), bytes + 4 * kRows,
                      narrow);
        }
        for (int row = 0; row < kRows; ++row)
            sums[row] = _mm256_add_epi32(sums[row], _mm256_madd_epi16(narrow[row], ones));
    }
}

template <int kRows>
TENGINE_AVX2 void multiply_tile(const NbitsPanel& panel, const NbitsBytes& tile, float* sums)
{
    constexpr int kHalves = kNbitsColumns / kLanes;
    __m256 total[kRows][kHalves];
    for (auto& row : total)
        for (__m256& half : row)
            half = _mm256_setzero_ps();
    const int64_t step = kNbitsLine * (1 + panel.lines);
    for (int64_t block = 0; block < panel.block_num; ++block) {
        const char* at = panel.blocks + block * step;
        const int8_t* bytes = tile.values + block * panel.lines * 8 * kRows;
        for (int half = 0; half < kHalves; ++half) {
            __m256i part[kRows];
            for (int row = 0; row < kRows; ++row)
                part[row] = _mm256_set1_epi32(tile.sums[block * kRows + row]);
            if (panel.zero_points) {
                const __m256i zeros =
                    _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(
                        panel.zero_points + block * kNbitsColumns + half * kLanes)));
                for (int row = 0; row < kRows; ++row)  // both have 16 bits
                    part[row] = _mm256_madd_epi16(zeros, part[row]);
            }
            add_block<kRows>(at + kNbitsLine + half * kNbitsLine / 2, panel.lines, bytes, part);
            const __m256 scale =
                _mm256_loadu_ps(reinterpret_cast<const float*>(at + half * kNbitsLine / 2));
            for (int row = 0; row < kRows; ++row) {
                const __m256 factor =
                    _mm256_mul_ps(scale, _mm256_set1_ps(tile.scales[block * kRows + row]));
                total[row][half] =
                    _mm256_fmadd_ps(_mm256_cvtepi32_ps(part[row]), factor, total[row][half]);
            }
        }
    }
    for (int row = 0; row < kRows; ++row)
        for (int half = 0; half < kHalves; ++half)
            _mm256_storeu_ps(sums + row * kNbitsColumns + half * kLanes, total[row][half]);
}

void multiply(const NbitsPanel& panel, const NbitsBytes& tile, int64_t rows, float* sums)
{
    using MultiplyTile = void (*)(const NbitsPanel&, const NbitsBytes&, float*);
    static constexpr MultiplyTile kTiles[kMostRows] = {multiply_tile<1>, multiply_tile<2>,
                                                       multiply_tile<3>, multiply_tile<4>};
    kTiles[rows - 1](panel, tile, sums);
}

}  // namespace

const NbitsInt8Product avx2_nbits_product = {
    CPU_FEATURE_AVX2 | CPU_FEATURE_FMA, kMostRows, {multiply, nullptr}};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const NbitsInt8Product avx2_nbits_product = {CPU_FEATURE_AVX2, 0, {nullptr, nullptr}};

}  // namespace tengine::cpu
#endif

// SPDX-License-Identifier: Apache-2.0
// Products of weights of 4 or 8 bits and int8 with VPDPBUSD (AVX-512 VNNI), see nbits_product.h.
//
// A line of weights, or each half of one, is a vector, whose words VPDPBUSD multiplies by four
// bytes of a row: it holds the accumulators of sixteen columns. The accumulators of a tile's rows,
// int32 of the present block and fp32 of all blocks, fill the registers. Limits: VPDPBUSD, with
// some rows; with few rows the bandwidth of the memory.
#include "base/cpu.h"
#include "device/cpu/kernel/matmul/nbits_product.h"

#ifdef __x86_64__
#ifndef __clang__  // GCC 12 warns of what its own header leaves undefined on purpose
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

// These functions are compiled for processors that this one may not be.
#define TENGINE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define TENGINE_VNNI_INLINE TENGINE_VNNI __attribute__((always_inline)) inline

namespace tengine::cpu {
namespace {

constexpr int kMostRows = kMostNbitsRows;

// Returns the accumulators of a row of a block: several when rows are too few to hide the latency
// of VPDPBUSD.
constexpr int count_chains(int rows)
{
    return rows == 1 ? 4 : rows <= 3 ? 2 : 1;
}

// Adds the products of four elements of each column and four bytes of each row.
template <int kChain, int kRows, int kChains>
TENGINE_VNNI_INLINE void add_words(__m512i weights, const int8_t* bytes,
                                   __m512i (&sums)[kRows][kChains])
{
    for (int row = 0; row < kRows; ++row) {
        int32_t word;
        __builtin_memcpy(&word, bytes + 4 * row, sizeof(word));
        __m512i& sum = sums[row][kChain % kChains];
        sum = _mm512_dpbusd_epi32(sum, weights, _mm512_set1_epi32(word));
    }
}

// Adds the products of a line; returns the address of the bytes for the next line.
template <int kBits, int kLine, int kRows, int kChains>
TENGINE_VNNI_INLINE const int8_t* add_line(const char* at, const int8_t* bytes,
                                           __m512i (&sums)[kRows][kChains])
{
    const __m512i words = _mm512_loadu_si512(at);
    if constexpr (kBits == 8) {
        add_words<kLine>(words, bytes, sums);
        return bytes + 4 * kRows;
    } else {
        const __m512i half = _mm512_set1_epi8(15);
        add_words<2 * kLine>(_mm512_and_si512(words, half), bytes, sums);
        add_words<2 * kLine + 1>(_mm512_and_si512(_mm512_srli_epi16(words, 4), half),
                                 bytes + 4 * kRows, sums);
        return bytes + 8 * kRows;
    }
}

// The initial accumulators of a block: minus the zero points times the sums of bytes.
template <int kRows, int kChains>
TENGINE_VNNI_INLINE void start_block(const uint8_t* zero_points, const int32_t* byte_sums,
                                     __m512i (&sums)[kRows][kChains])
{
    for (int row = 0; row < kRows; ++row) {
        for (int chain = 1; chain < kChains; ++chain)
            sums[row][chain] = _mm512_setzero_si512();
        sums[row][0] = _mm512_set1_epi32(byte_sums[row]);
    }
    if (!zero_points) return;
    const __m512i zeros =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(zero_points)));
    for (int row = 0; row < kRows; ++row)  // both have 16 bits
        sums[row][0] = _mm512_madd_epi16(zeros, sums[row][0]);
}

template <int kBits, int kRows>
TENGINE_VNNI void multiply_tile(const NbitsPanel& panel, const NbitsBytes& tile, float* sums)
{
    constexpr int kChains = count_chains(kRows);
    const char* at = panel.blocks;
    const int8_t* bytes = tile.values;
    __m512 total[kRows];
    for (int row = 0; row < kRows; ++row)
        total[row] = _mm512_setzero_ps();
    for (int64_t block = 0; block < panel.block_num; ++block) {
        const __m512 scale = _mm512_loadu_ps(at);
        at += kNbitsLine;
        __m512i part[kRows][kChains];
        start_block<kRows, kChains>(
            panel.zero_points ? panel.zero_points + block * kNbitsColumns : nullptr,
            tile.sums + block * kRows, part);
        for (int64_t line = 0; line < panel.lines; line += 2, at += 2 * kNbitsLine) {
            bytes = add_line<kBits, 0>(at, bytes, part);
            bytes = add_line<kBits, 1>(at + kNbitsLine, bytes, part);
        }
        for (int row = 0; row < kRows; ++row) {
            __m512i sum = part[row][0];
            for (int chain = 1; chain < kChains; ++chain)
                sum = _mm512_add_epi32(sum, part[row][chain]);
            const __m512 factor =
                _mm512_mul_ps(scale, _mm512_set1_ps(tile.scales[block * kRows + row]));
            total[row] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), factor, total[row]);
        }
    }
    for (int row = 0; row < kRows; ++row)
        _mm512_storeu_ps(sums + row * kNbitsColumns, total[row]);
}

template <int kBits>
void multiply(const NbitsPanel& panel, const NbitsBytes& tile, int64_t rows, float* sums)
{
    using MultiplyTile = void (*)(const NbitsPanel&, const NbitsBytes&, float*);
    static constexpr MultiplyTile kTiles[kMostRows] = {
        multiply_tile<kBits, 1>,  multiply_tile<kBits, 2>,  multiply_tile<kBits, 3>,
        multiply_tile<kBits, 4>,  multiply_tile<kBits, 5>,  multiply_tile<kBits, 6>,
        multiply_tile<kBits, 7>,  multiply_tile<kBits, 8>,  multiply_tile<kBits, 9>,
        multiply_tile<kBits, 10>, multiply_tile<kBits, 11>, multiply_tile<kBits, 12>};
    kTiles[rows - 1](panel, tile, sums);
}

}  // namespace

const NbitsInt8Product vnni_nbits_product = {
    CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512VL | CPU_FEATURE_AVX512_VNNI,
    kMostRows,
    {multiply<4>, multiply<8>}};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const NbitsInt8Product vnni_nbits_product = {CPU_FEATURE_AVX512_VNNI, 0, {nullptr, nullptr}};

}  // namespace tengine::cpu
#endif

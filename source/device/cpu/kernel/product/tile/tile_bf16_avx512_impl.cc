// SPDX-License-Identifier: Apache-2.0
// vdpbf16ps: the products of two bf16 of the input by two of the weights, added to each lane in
// fp32, each sum rounded to nearest even; vcvtne2ps2bf16: accumulators rounded to bf16. Denormal
// numbers count as 0 in both.
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#if defined(__AVX512BF16__)
#include <immintrin.h>

namespace tengine::cpu {
namespace {

struct Set
{
    using Operand = __m512bh;
    using Input = Operand;
    using Sum = __m512;
    static constexpr int64_t kVectorBytes = 64;
    static constexpr int kRows = 14;
    static constexpr bool kHasHalves = true;

    static Operand load(const char* weights)
    {
        __m512i vector = _mm512_loadu_si512(weights);
        __asm__("" : "+v"(vector));  // not loaded again for each row (keep_in_register)
        return reinterpret_cast<Operand>(vector);
    }
    static Input spread(const char* group, uint32_t)
    {
        int32_t two;
        __builtin_memcpy(&two, group, sizeof two);
        return reinterpret_cast<Input>(_mm512_set1_epi32(two));
    }
    static Input spread_half(const char* half)
    {
        uint16_t one;
        __builtin_memcpy(&one, half, sizeof one);
        return reinterpret_cast<Input>(_mm512_set1_epi32(one));
    }
    static Sum start(const int32_t* values) { return _mm512_loadu_ps(values); }
    static void add(Input input, Operand weights, Sum& sum)
    {
        sum = _mm512_dpbf16_ps(sum, weights, input);
    }
    static void store(const Sum& sum, int32_t* values) { _mm512_storeu_ps(values, sum); }
    static int64_t lanes() { return 16; }
};

#include "device/cpu/kernel/product/tile/group_tile-inl.h"

// Masks of all lanes, where GCC 12 would warn of undefined values in forms without.
constexpr __mmask16 kAll = 0xffff;

inline __m512 load_halves(const uint16_t* from, __mmask16 which)
{
    const __m256i halves = _mm256_maskz_loadu_epi16(which, from);
    const __m512i words = _mm512_maskz_cvtepu16_epi32(kAll, halves);
    return reinterpret_cast<__m512>(_mm512_maskz_slli_epi32(kAll, words, 16));
}

// The order of operands lets NaN pass.
inline __m512 clip(__m512 low, __m512 high, __m512 x)
{
    return _mm512_maskz_min_ps(kAll, high, _mm512_maskz_max_ps(kAll, low, x));
}

void finish(const Float16Results& results)
{
    const __mmask32 columns = 0xffffffffu >> (32 - results.columns);
    const __m512 low = _mm512_set1_ps(results.low), high = _mm512_set1_ps(results.high);
    const bool is_wide = results.width > 16;
    for (int64_t row = 0; row < results.rows; ++row) {
        const float* sums = results.sums + row * results.width;
        __m512 x = _mm512_loadu_ps(sums);
        __m512 y = is_wide ? _mm512_loadu_ps(sums + 16) : low;
        if (results.addend) {
            const uint16_t* addend = results.addend + row * results.step;
            x = _mm512_add_ps(x, load_halves(addend, static_cast<__mmask16>(columns)));
            y = _mm512_add_ps(y, load_halves(addend + 16, static_cast<__mmask16>(columns >> 16)));
        }
        const __m512bh halves = _mm512_cvtne2ps_pbh(clip(low, high, y), clip(low, high, x));
        _mm512_mask_storeu_epi16(results.output + row * results.step, columns,
                                 reinterpret_cast<__m512i>(halves));
    }
}

}  // namespace

const TileFormat avx512_bf16_format = {
    CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512VL | CPU_FEATURE_AVX512_BF16,
    2,
    2,
    Set::kRows,
    32,
    false,
    multiply_group_tile<Set>,
    finish};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat avx512_bf16_format = {};

}  // namespace tengine::cpu
#endif

// SPDX-License-Identifier: Apache-2.0
// vdpbf16ps: the products of two bf16 of the input by two of the weights, added to each lane in
// fp32, each sum rounded to nearest even. Denormal numbers count as 0.
#include "base/cpu.h"
#include "device/cpu/kernel/byte_tile.h"

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
        return reinterpret_cast<Operand>(_mm512_loadu_si512(weights));
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

#include "device/cpu/kernel/byte_tile-inl.h"

}  // namespace

const ByteFormat avx512_bf16_format = {
    CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512VL | CPU_FEATURE_AVX512_BF16,
    2,
    2,
    Set::kRows,
    32,
    false,
    multiply_byte_tile<Set>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const ByteFormat avx512_bf16_format = {};

}  // namespace tengine::cpu
#endif

// SPDX-License-Identifier: Apache-2.0
// vpdpbusd: the products of four uint8 by four int8, added to each lane, modulo 2^32.
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__)
#include <immintrin.h>

namespace tengine::cpu {
namespace {

struct Set
{
    using Operand = __m512i;
    using Input = Operand;
    using Sum = __m512i;
    static constexpr int64_t kVectorBytes = 64;
    static constexpr bool kHasHalves = false;
    static constexpr int kRows = 14;

    static Operand load(const char* weights)
    {
        Operand vector = _mm512_loadu_si512(weights);
        __asm__("" : "+v"(vector));  // not loaded again for each row (keep_in_register)
        return vector;
    }
    static Operand spread(const char* group, uint32_t flip)
    {
        int32_t four;
        __builtin_memcpy(&four, group, sizeof four);
        return _mm512_xor_si512(_mm512_set1_epi32(four), _mm512_set1_epi32(static_cast<int>(flip)));
    }
    static Sum start(const int32_t* values) { return _mm512_loadu_si512(values); }
    static void add(Operand input, Operand weights, Sum& sum)
    {
        sum = _mm512_dpbusd_epi32(sum, input, weights);
    }
    static void store(const Sum& sum, int32_t* values) { _mm512_storeu_si512(values, sum); }
    static int64_t lanes() { return 16; }
};

#include "device/cpu/kernel/product/tile/group_tile-inl.h"

}  // namespace

const TileFormat avx512_vnni_format = {
    CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512VL | CPU_FEATURE_AVX512_VNNI,
    1,
    4,
    Set::kRows,
    32,
    true,
    multiply_group_tile<Set>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat avx512_vnni_format = {};

}  // namespace tengine::cpu
#endif

// SPDX-License-Identifier: Apache-2.0
// vpdpbusd with vectors of 32 bytes, for processors without AVX-512.
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#if defined(__AVXVNNI__)
#include <immintrin.h>

namespace tengine::cpu {
namespace {

struct Set
{
    using Operand = __m256i;
    using Input = Operand;
    using Sum = __m256i;
    static constexpr int64_t kVectorBytes = 32;
    static constexpr bool kHasHalves = false;
    static constexpr int kRows = 6;

    static Operand load(const char* weights)
    {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
    }
    static Operand spread(const char* group, uint32_t flip)
    {
        int32_t four;
        __builtin_memcpy(&four, group, sizeof four);
        return _mm256_xor_si256(_mm256_set1_epi32(four), _mm256_set1_epi32(static_cast<int>(flip)));
    }
    static Sum start(const int32_t* values)
    {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
    }
    static void add(Operand input, Operand weights, Sum& sum)
    {
        sum = _mm256_dpbusd_avx_epi32(sum, input, weights);
    }
    static void store(const Sum& sum, int32_t* values)
    {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), sum);
    }
    static int64_t lanes() { return 8; }
};

#include "device/cpu/kernel/product/tile/group_tile-inl.h"

}  // namespace

const TileFormat avx_vnni_format = {
    CPU_FEATURE_AVX2 | CPU_FEATURE_AVX_VNNI, 1, 4, Set::kRows, 16, true, multiply_group_tile<Set>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat avx_vnni_format = {};

}  // namespace tengine::cpu
#endif

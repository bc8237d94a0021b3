// SPDX-License-Identifier: Apache-2.0
// Four rounds at a time: `w` holds the last 16 words of the message's schedule, four to a register.
// What the instructions do: Intel, "Intel SHA Extensions" (2013); Arm ARM, SHA256H and the like.
#include "base/sha256_instructions.h"

#include "base/cpu.h"

#if defined(__x86_64__)

#include <immintrin.h>

// The words of the next four rounds, of the 16 before them.
__attribute__((target("sha,sse4.1"))) static __m128i next_words(__m128i w0, __m128i w1, __m128i w2,
                                                                __m128i w3)
{
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
    return _mm_sha256msg2_epu32(sum, w3);
}

// The instructions want the state as {f, e, b, a} and {h, g, d, c}, from the lowest word up.
__attribute__((target("sha,sse4.1"))) static void add_blocks(uint32_t state[8],
                                                             const uint8_t* bytes, size_t block_num)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)state), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; block_num > 0; --block_num, bytes += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            const __m128i* block = (const __m128i*)bytes;
            w[i % 4] = i < 4 ? _mm_shuffle_epi8(_mm_loadu_si128(block + i), big_endian)
                             : next_words(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
            const __m128i* k = (const __m128i*)sha256_round_constants;
            const __m128i wk = _mm_add_epi32(w[i % 4], _mm_loadu_si128(k + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i*)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i*)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

add_sha256_blocks_t find_sha256_instructions(void)
{
    const uint64_t needed = CPU_FEATURE_SSE4_2 | CPU_FEATURE_SHA;
    return (get_cpu_features() & needed) == needed ? add_blocks : NULL;
}

// Clang 14 declares them only where all of the file may use them.
#elif defined(__aarch64__) && defined(__linux__) && !defined(__clang__)

#include <arm_neon.h>

__attribute__((target("+crypto"))) static void add_blocks(uint32_t state[8], const uint8_t* bytes,
                                                          size_t block_num)
{
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
    for (; block_num > 0; --block_num, bytes += 64) {
        const uint32x4_t abcd_before = abcd, efgh_before = efgh;
        uint32x4_t w[4];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            w[i % 4] = i < 4 ? vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes + 16 * i)))
                             : vsha256su1q_u32(vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]),
                                               w[(i + 2) % 4], w[(i + 3) % 4]);
            const uint32x4_t wk = vaddq_u32(w[i % 4], vld1q_u32(sha256_round_constants + 4 * i));
            const uint32x4_t abcd_now = abcd;
            abcd = vsha256hq_u32(abcd, efgh, wk);
            efgh = vsha256h2q_u32(efgh, abcd_now, wk);
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

add_sha256_blocks_t find_sha256_instructions(void)
{
    return get_cpu_features() & CPU_FEATURE_ARM_SHA2 ? add_blocks : NULL;
}

#else

add_sha256_blocks_t find_sha256_instructions(void)
{
    return NULL;
}

#endif

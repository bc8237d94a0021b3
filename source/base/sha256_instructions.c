// SPDX-License-Identifier: Apache-2.0
// SHA-256 with the processor's instructions, four rounds at a time: `w` holds the last 16 words of
// the message's schedule, four to a register. The instructions are in: Intel, "Intel SHA
// Extensions" (2013); Arm ARM, SHA256H and related instructions.
#include "base/sha256_instructions.h"

#include "base/cpu.h"

#if defined(__x86_64__)

#include <immintrin.h>

// Returns the words of the next four rounds, computed from the 16 before them.
__attribute__((target("sha,sse4.1"))) static __m128i next_words(__m128i w0, __m128i w1, __m128i w2,
                                                                __m128i w3)
{
    const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
    return _mm_sha256msg2_epu32(sum, w3);
}

// The state in the instructions' order, {f, e, b, a} and {h, g, d, c} from the lowest word up, and
// the position in its data.
typedef struct stream
{
    __m128i abef, cdgh, abef_before, cdgh_before;
    __m128i w[4];
    const __m128i* block;
} stream_t;

__attribute__((target("sha,sse4.1"), always_inline)) static inline stream_t start_stream(
    const uint32_t state[8], const uint8_t* bytes)
{
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)state), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)(state + 4)), 0x1b);
    return (stream_t){.abef = _mm_alignr_epi8(cdab, efgh, 8),
                      .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0),
                      .block = (const __m128i*)bytes};
}

__attribute__((target("sha,sse4.1"), always_inline)) static inline void end_stream(
    const stream_t* stream, uint32_t state[8])
{
    const __m128i feba = _mm_shuffle_epi32(stream->abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(stream->cdgh, 0xb1);
    _mm_storeu_si128((__m128i*)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i*)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

// Rounds 4 i to 4 i + 3 of a block.
__attribute__((target("sha,sse4.1"), always_inline)) static inline void add_rounds(stream_t* stream,
                                                                                   int i)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i* w = stream->w;
    w[i % 4] = i < 4 ? _mm_shuffle_epi8(_mm_loadu_si128(stream->block + i), big_endian)
                     : next_words(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
    const __m128i* k = (const __m128i*)sha256_round_constants;
    const __m128i wk = _mm_add_epi32(w[i % 4], _mm_loadu_si128(k + i));
    stream->cdgh = _mm_sha256rnds2_epu32(stream->cdgh, stream->abef, wk);
    stream->abef = _mm_sha256rnds2_epu32(stream->abef, stream->cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

// `number` is a constant where it is called.
__attribute__((target("sha,sse4.1"), always_inline)) static inline void add_streams(
    stream_t streams[], size_t block_num, int number)
{
    for (; block_num > 0; --block_num) {
        for (int n = 0; n < number; ++n) {
            streams[n].abef_before = streams[n].abef;
            streams[n].cdgh_before = streams[n].cdgh;
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
#pragma GCC unroll 2
            for (int n = 0; n < number; ++n)
                add_rounds(&streams[n], i);
        }
        for (int n = 0; n < number; ++n) {
            streams[n].abef = _mm_add_epi32(streams[n].abef, streams[n].abef_before);
            streams[n].cdgh = _mm_add_epi32(streams[n].cdgh, streams[n].cdgh_before);
            streams[n].block += 4;
        }
    }
}

__attribute__((target("sha,sse4.1"))) static void add_blocks(uint32_t state[8],
                                                             const uint8_t* bytes, size_t block_num)
{
    stream_t stream = start_stream(state, bytes);
    add_streams(&stream, block_num, 1);
    end_stream(&stream, state);
}

__attribute__((target("sha,sse4.1"))) static void add_block_pairs(uint32_t states[2][8],
                                                                  const uint8_t* const bytes[2],
                                                                  size_t block_num)
{
    stream_t streams[2] = {start_stream(states[0], bytes[0]), start_stream(states[1], bytes[1])};
    add_streams(streams, block_num, 2);
    for (int n = 0; n < 2; ++n)
        end_stream(&streams[n], states[n]);
}

const sha256_instructions_t* find_sha256_instructions(void)
{
    static const sha256_instructions_t instructions = {add_blocks, add_block_pairs};
    const uint64_t needed = CPU_FEATURE_SSE4_2 | CPU_FEATURE_SHA;
    return (get_cpu_features() & needed) == needed ? &instructions : NULL;
}

// Clang 14 declares the intrinsics only when the whole file is compiled for them.
#elif defined(__aarch64__) && defined(__linux__) && !defined(__clang__)

#include <arm_neon.h>

// A state, and the position in its data.
typedef struct stream
{
    uint32x4_t abcd, efgh, abcd_before, efgh_before;
    uint32x4_t w[4];
    const uint8_t* block;
} stream_t;

// Rounds 4 i to 4 i + 3 of a block.
__attribute__((target("+crypto"), always_inline)) static inline void add_rounds(stream_t* stream,
                                                                                int i)
{
    uint32x4_t* w = stream->w;
    w[i % 4] = i < 4 ? vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(stream->block + 16 * i)))
                     : vsha256su1q_u32(vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]), w[(i + 2) % 4],
                                       w[(i + 3) % 4]);
    const uint32x4_t wk = vaddq_u32(w[i % 4], vld1q_u32(sha256_round_constants + 4 * i));
    const uint32x4_t abcd_now = stream->abcd;
    stream->abcd = vsha256hq_u32(stream->abcd, stream->efgh, wk);
    stream->efgh = vsha256h2q_u32(stream->efgh, abcd_now, wk);
}

// `number` is a constant where it is called.
__attribute__((target("+crypto"), always_inline)) static inline void add_streams(stream_t streams[],
                                                                                 size_t block_num,
                                                                                 int number)
{
    for (; block_num > 0; --block_num) {
        for (int n = 0; n < number; ++n) {
            streams[n].abcd_before = streams[n].abcd;
            streams[n].efgh_before = streams[n].efgh;
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
#pragma GCC unroll 2
            for (int n = 0; n < number; ++n)
                add_rounds(&streams[n], i);
        }
        for (int n = 0; n < number; ++n) {
            streams[n].abcd = vaddq_u32(streams[n].abcd, streams[n].abcd_before);
            streams[n].efgh = vaddq_u32(streams[n].efgh, streams[n].efgh_before);
            streams[n].block += 64;
        }
    }
}

__attribute__((target("+crypto"))) static void add_blocks(uint32_t state[8], const uint8_t* bytes,
                                                          size_t block_num)
{
    stream_t stream = {.abcd = vld1q_u32(state), .efgh = vld1q_u32(state + 4), .block = bytes};
    add_streams(&stream, block_num, 1);
    vst1q_u32(state, stream.abcd);
    vst1q_u32(state + 4, stream.efgh);
}

__attribute__((target("+crypto"))) static void add_block_pairs(uint32_t states[2][8],
                                                               const uint8_t* const bytes[2],
                                                               size_t block_num)
{
    stream_t streams[2];
    for (int n = 0; n < 2; ++n)
        streams[n] = (stream_t){
            .abcd = vld1q_u32(states[n]), .efgh = vld1q_u32(states[n] + 4), .block = bytes[n]};
    add_streams(streams, block_num, 2);
    for (int n = 0; n < 2; ++n) {
        vst1q_u32(states[n], streams[n].abcd);
        vst1q_u32(states[n] + 4, streams[n].efgh);
    }
}

const sha256_instructions_t* find_sha256_instructions(void)
{
    static const sha256_instructions_t instructions = {add_blocks, add_block_pairs};
    return get_cpu_features() & CPU_FEATURE_ARM_SHA2 ? &instructions : NULL;
}

#else

const sha256_instructions_t* find_sha256_instructions(void)
{
    return NULL;
}

#endif

// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 (fp16) and bfloat16 (bf16), kept in uint16_t, to and from float.
// Narrowing rounds to nearest, ties to even; beyond the range it gives infinity. Subnormal numbers
// are exact. A NaN stays a NaN with its sign and the high bits of its payload and becomes quiet.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

static inline uint32_t fp32_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bits_to_fp32(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The portable implementation: integer arithmetic only, the same on every machine and rounding
// mode.
static inline float plain_fp16_to_fp32(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    const uint32_t rebias = 112u << 23;  // 127 - 15
    if (magnitude >= 0x7c00u) {
        const uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
        return bits_to_fp32(sign | 0x7f800000u | quiet | (magnitude & 0x3ffu) << 13);
    }
    if (magnitude >= 0x0400u) return bits_to_fp32(sign | ((magnitude << 13) + rebias));
    // A subnormal is magnitude * 2^-24; both the conversion and the product are exact.
    return bits_to_fp32(sign | fp32_to_bits((float)magnitude * 0x1p-24f));
}

static inline uint16_t plain_fp32_to_fp16(float value)
{
    const uint32_t bits = fp32_to_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t half;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
        half = 0x7c00u;
    } else if (magnitude >= 0x38800000u) {  // 2^-14, the least normal number
        const uint32_t odd = magnitude >> 13 & 1u;
        half = (magnitude - (112u << 23) + 0xfffu + odd) >> 13;
    } else if (magnitude > 0x33000000u) {  // above 2^-25, which ties to zero
        // The result counts units of 2^-24: shift the mantissa there and round the bits that fall
        // off.
        const uint32_t shift = 126u - (magnitude >> 23);
        const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        const uint32_t odd = mantissa >> shift & 1u;
        half = (mantissa + (1u << (shift - 1u)) - 1u + odd) >> shift;
    } else {
        half = 0u;
    }
    return (uint16_t)(sign | half);
}

static inline float fp16_to_fp32(uint16_t half)
{
#if defined(__F16C__)
    return _cvtsh_ss(half);
#elif defined(__ARM_FP16_FORMAT_IEEE) && defined(__ARM_FP) && (__ARM_FP & 2)
    __fp16 native;
    memcpy(&native, &half, sizeof native);
    return (float)native;
#else
    return plain_fp16_to_fp32(half);
#endif
}

static inline uint16_t fp32_to_fp16(float value)
{
#if defined(__F16C__)
    // __extension__: clang's macro is a compound literal, which C++ does not know.
    return __extension__(uint16_t) _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#elif defined(__ARM_FP16_FORMAT_IEEE) && defined(__ARM_FP) && (__ARM_FP & 2)
    const __fp16 native = (__fp16)value;
    uint16_t half;
    memcpy(&half, &native, sizeof half);
    return half;
#else
    return plain_fp32_to_fp16(value);
#endif
}

static inline float bf16_to_fp32(uint16_t value)
{
    const uint32_t bits = (uint32_t)value << 16;
    const uint32_t quiet = (bits & 0x7fffffffu) > 0x7f800000u ? 0x00400000u : 0u;
    return bits_to_fp32(bits | quiet);
}

static inline uint16_t fp32_to_bf16(float value)
{
    const uint32_t bits = fp32_to_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x0040u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// BFMMLA (Armv8.6 BF16, AArch64 and AArch32): two rows of four bf16 by two columns of as many,
// added to fp32 (group_tile_pairs-inl.h). Each sum of two products is rounded to odd, and so is its
// accumulator; denormal numbers count as 0.
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

#include "device/cpu/kernel/product/tile/group_tile_pairs-inl.h"

struct Float16Pairs
{
    using Operand = uint16x8_t;
    using Sum = float32x4_t;
    static constexpr bool kHasHalves = true;

    static Operand load(const char* weights)
    {
        return vld1q_u16(reinterpret_cast<const uint16_t*>(weights));
    }
    static Operand load_pair(const char* first, const char* second)
    {
        return vcombine_u16(vld1_u16(reinterpret_cast<const uint16_t*>(first)),
                            vld1_u16(reinterpret_cast<const uint16_t*>(second)));
    }
    static Operand join(uint64_t first, uint64_t second)
    {
        return vcombine_u16(vcreate_u16(first), vcreate_u16(second));
    }
    static Sum start(const int32_t* two)
    {
        const float32x2_t pair = vld1_f32(reinterpret_cast<const float*>(two));
        return vcombine_f32(pair, pair);
    }
    static Sum add(Sum sums, Operand input, Operand weights)
    {
#ifdef __aarch64__
        // Volatile: left to itself, GCC 12 reads all weights before, for which there are no
        // registers.
        __asm__ volatile("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(sums) : "w"(input), "w"(weights));
        return sums;
#else
        return vbfmmlaq_f32(sums, vreinterpretq_bf16_u16(input), vreinterpretq_bf16_u16(weights));
#endif
    }
    static void store(Sum sums, int32_t* first, int32_t* second)
    {
        vst1_f32(reinterpret_cast<float*>(first), vget_low_f32(sums));
        if (second) vst1_f32(reinterpret_cast<float*>(second), vget_high_f32(sums));
    }
};

}  // namespace

const TileFormat bfmmla_format = {CPU_FEATURE_ARM_BF16,
                                  2,
                                  kGroupBytes / 2,
                                  kMostRows,
                                  kColumns,
                                  false,
                                  multiply_pair_tile<Float16Pairs>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat bfmmla_format = {};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_BF16_VECTOR_ARITHMETIC

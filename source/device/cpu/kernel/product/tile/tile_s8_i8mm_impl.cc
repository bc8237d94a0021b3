// SPDX-License-Identifier: Apache-2.0
// SMMLA and USMMLA (Armv8.6 I8MM, AArch64 and AArch32): two rows of eight bytes, signed or
// unsigned, by two columns of as many signed ones (group_tile_pairs-inl.h).
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#ifdef __ARM_FEATURE_MATMUL_INT8
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

#include "device/cpu/kernel/product/tile/group_tile_pairs-inl.h"

template <bool kIsUnsigned>
struct Int8Pairs
{
    using Operand = int8x16_t;
    using Sum = int32x4_t;
    static constexpr bool kHasHalves = false;

    static Operand load(const char* weights)
    {
        return vld1q_s8(reinterpret_cast<const int8_t*>(weights));
    }
    static Operand load_pair(const char* first, const char* second)
    {
        return vcombine_s8(vld1_s8(reinterpret_cast<const int8_t*>(first)),
                           vld1_s8(reinterpret_cast<const int8_t*>(second)));
    }
    static Sum start(const int32_t* two)
    {
        const int32x2_t pair = vld1_s32(two);
        return vcombine_s32(pair, pair);
    }
    static Sum add(Sum sums, Operand input, Operand weights)
    {
#ifdef __aarch64__
        // Volatile: left to itself, GCC 12 reads all weights before, for which there are no
        // registers.
        if constexpr (kIsUnsigned)
            __asm__ volatile("usmmla %0.4s, %1.16b, %2.16b"
                             : "+w"(sums)
                             : "w"(input), "w"(weights));
        else
            __asm__ volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(input), "w"(weights));
        return sums;
#else
        return kIsUnsigned ? vusmmlaq_s32(sums, vreinterpretq_u8_s8(input), weights)
                           : vmmlaq_s32(sums, input, weights);
#endif
    }
    static void store(Sum sums, int32_t* first, int32_t* second)
    {
        vst1_s32(first, vget_low_s32(sums));
        if (second) vst1_s32(second, vget_high_s32(sums));
    }
};

}  // namespace

const TileFormat i8mm_format = {CPU_FEATURE_ARM_I8MM,
                                1,
                                kGroupBytes,
                                kMostRows,
                                kColumns,
                                false,
                                multiply_pair_tile<Int8Pairs<false>>};
const TileFormat i8mm_unsigned_format = {CPU_FEATURE_ARM_I8MM,
                                         1,
                                         kGroupBytes,
                                         kMostRows,
                                         kColumns,
                                         true,
                                         multiply_pair_tile<Int8Pairs<true>>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat i8mm_format = {};
const TileFormat i8mm_unsigned_format = {};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_MATMUL_INT8

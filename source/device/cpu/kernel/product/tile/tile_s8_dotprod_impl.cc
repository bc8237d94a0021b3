// SPDX-License-Identifier: Apache-2.0
// SDOT (Armv8.2 DotProd, AArch64 and AArch32): the products of four int8, added to each lane. The
// group of a row is a quarter of a vector, so that a row is loaded once for four groups.
// Limits: sixteen loads for 64 SDOT (AArch32, which has half the registers: twelve for 32).
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

struct Set
{
    using Operand = int8x16_t;
    using Input = Operand;
    using Sum = int32x4_t;
    static constexpr int64_t kVectorBytes = 16;
    static constexpr bool kHasHalves = false, kFlips = true;
#ifdef __aarch64__
    static constexpr int kRows = 8;
#else
    static constexpr int kRows = 4;
#endif

    static Operand load(const char* weights)
    {
        return vld1q_s8(reinterpret_cast<const int8_t*>(weights));
    }
    static Operand spread(const char* group, uint32_t flip)
    {
        uint32_t four;
        __builtin_memcpy(&four, group, sizeof four);
        return vreinterpretq_s8_u32(veorq_u32(vdupq_n_u32(four), vdupq_n_u32(flip)));
    }
    static Sum start(const int32_t* values)
    {
        return vld1q_s32(values);
    }
    static void add(Operand input, Operand weights, Sum& sum)
    {
        sum = vdotq_s32(sum, weights, input);
    }
    static Input load_inputs(const char* groups)
    {
        return load(groups);
    }
    static Operand flip(Operand input)
    {
        return veorq_s8(input, vdupq_n_s8(INT8_MIN));
    }
    template <int kQuarter>
    static void add_quarter(Operand input, Operand weights, Sum& sum)
    {
#ifdef __aarch64__
        // Volatile: GCC 12 would place those of one accumulator next to each other, which wait for
        // each other on in-order processors.
        __asm__ volatile("sdot %0.4s, %1.16b, %2.4b[%3]"
                         : "+w"(sum)
                         : "w"(weights), "w"(input), "i"(kQuarter));
#else
        const int8x8_t half = kQuarter < 2 ? vget_low_s8(input) : vget_high_s8(input);
        sum = vdotq_lane_s32(sum, weights, half, kQuarter % 2);
#endif
    }
    static void store(const Sum& sum, int32_t* values)
    {
        vst1q_s32(values, sum);
    }
    static int64_t lanes()
    {
        return 4;
    }
};

#define TENGINE_CPU_TILE_QUARTERS
#include "device/cpu/kernel/product/tile/group_tile-inl.h"

}  // namespace

const TileFormat dotprod_format = {CPU_FEATURE_ARM_DOTPROD, 1, 4, Set::kRows, 8, false,
                                   multiply_group_tile<Set>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat dotprod_format = {};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_DOTPROD

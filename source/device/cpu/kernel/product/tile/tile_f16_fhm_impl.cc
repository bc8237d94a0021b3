// SPDX-License-Identifier: Apache-2.0
// FMLAL (Armv8.2 FHM, AArch64 and AArch32): four fp16 of the weights times one of the input, added
// to four lanes in fp32, each sum rounded once; FMLAL2 does so with the other four of a vector. The
// weights of a pair of elements are taken apart when they are loaded.
// Limits: the instructions' rate, and for 40 of them (AArch32: 16) two loads of weights, which are
// taken apart, and five (two) of the input.
#include "base/cpu.h"
#include "device/cpu/kernel/product/tile/group_tile.h"

#ifdef __ARM_FEATURE_FP16_FML
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

struct Set
{
    // The first elements of pairs in eight columns, and the second ones.
    struct Operand
    {
        float16x8_t first, second;
    };
    using Input = float16x4_t;
    struct Sum
    {
        float32x4_t low, high;
    };
    static constexpr int64_t kVectorBytes = 32;
    static constexpr bool kHasHalves = true;
#ifdef __aarch64__
    static constexpr int kRows = 5;
#else
    static constexpr int kRows = 2;
#endif

    static Operand load(const char* weights)
    {
        const uint16x8x2_t pairs = vld2q_u16(reinterpret_cast<const uint16_t*>(weights));
        return {vreinterpretq_f16_u16(pairs.val[0]), vreinterpretq_f16_u16(pairs.val[1])};
    }
    static Input spread(const char* group, uint32_t)
    {
        uint32_t two;
        __builtin_memcpy(&two, group, sizeof two);
        return vcreate_f16(two);
    }
    static Input spread_half(const char* half)
    {
        uint16_t one;
        __builtin_memcpy(&one, half, sizeof one);
        return vcreate_f16(one);
    }
    static Sum start(const int32_t* values)
    {
        const auto* floats = reinterpret_cast<const float*>(values);
        return {vld1q_f32(floats), vld1q_f32(floats + 4)};
    }
    static void add(Input input, Operand weights, Sum& sum)
    {
        sum.low = vfmlalq_lane_low_f16(sum.low, weights.first, input, 0);
        sum.high = vfmlalq_lane_high_f16(sum.high, weights.first, input, 0);
        sum.low = vfmlalq_lane_low_f16(sum.low, weights.second, input, 1);
        sum.high = vfmlalq_lane_high_f16(sum.high, weights.second, input, 1);
    }
    static void store(const Sum& sum, int32_t* values)
    {
        auto* floats = reinterpret_cast<float*>(values);
        vst1q_f32(floats, sum.low);
        vst1q_f32(floats + 4, sum.high);
    }
    static int64_t lanes()
    {
        return 8;
    }
};

#include "device/cpu/kernel/product/tile/group_tile-inl.h"

}  // namespace

const TileFormat fhm_format = {CPU_FEATURE_ARM_FHM,     2, 2, Set::kRows, 16, false,
                               multiply_group_tile<Set>};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const TileFormat fhm_format = {};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_FP16_FML

// SPDX-License-Identifier: Apache-2.0
// Products of fp16 values with the NEON of every AArch64 processor and, on AArch32, of VFPv4, see
// half_product.h.
//
// Four channels by eight positions are summed in registers; each value is converted to fp32 when it
// is loaded.
// Limits: for eight multiply-adds three conversions and two loads.
#include "base/cpu.h"
#include "device/cpu/kernel/half_product.h"

#if defined(__ARM_NEON) && defined(__ARM_FP16_FORMAT_IEEE) && (__ARM_FP & 2)
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

constexpr int kChannels = 4;

inline float32x4_t load(const uint16_t* values)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(values)));
}

// Where the products are exact, it does not matter that AArch32 multiplies by a lane without
// fusing.
template <int kLane>
inline void add_products(float32x4_t* totals, float32x4_t low, float32x4_t high, float32x2_t w)
{
#ifdef __aarch64__
    totals[0] = vfmaq_lane_f32(totals[0], low, w, kLane);
    totals[1] = vfmaq_lane_f32(totals[1], high, w, kLane);
#else
    totals[0] = vmlaq_lane_f32(totals[0], low, w, kLane);
    totals[1] = vmlaq_lane_f32(totals[1], high, w, kLane);
#endif
}

void multiply_part(const uint16_t* weights, const uint16_t* input, int64_t depth,
                   const float* starts, int64_t stride, float* sums)
{
    float32x4_t total[2 * kChannels];
    for (int row = 0; row < kChannels; ++row)
        total[2 * row] = total[2 * row + 1] = vdupq_n_f32(starts[row]);
    for (int64_t k = 0; k < depth; ++k, weights += kHalfRows, input += kHalfColumns) {
        const float32x4_t w = load(weights), low = load(input), high = load(input + 4);
        add_products<0>(total, low, high, vget_low_f32(w));
        add_products<1>(total + 2, low, high, vget_low_f32(w));
        add_products<0>(total + 4, low, high, vget_high_f32(w));
        add_products<1>(total + 6, low, high, vget_high_f32(w));
    }
    for (int row = 0; row < kChannels; ++row) {
        vst1q_f32(sums + row * stride, total[2 * row]);
        vst1q_f32(sums + row * stride + 4, total[2 * row + 1]);
    }
}

void multiply(const uint16_t* weights, const uint16_t* input, int64_t depth, int64_t blocks,
              const float* starts, int64_t stride, float* sums)
{
    for (; blocks > 0; --blocks, input += depth * kHalfColumns, sums += kHalfColumns)
        for (int row = 0; row < kHalfRows; row += kChannels)
            multiply_part(weights + row, input, depth, starts + row, stride, sums + row * stride);
}

}  // namespace

const HalfProduct neon_product = {CPU_FEATURE_NEON, multiply};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const HalfProduct neon_product = {CPU_FEATURE_NEON, nullptr};

}  // namespace tengine::cpu
#endif

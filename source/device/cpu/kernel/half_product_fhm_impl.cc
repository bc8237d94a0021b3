// SPDX-License-Identifier: Apache-2.0
// Products of fp16 values with FMLAL (Armv8.2 FHM, AArch64 and AArch32), see half_product.h.
//
// FMLAL multiplies four values with one taken out of a vector of eight and adds the products to
// four fp32 lanes; FMLAL2 does so with the other four. Eight channels (AArch32, which has half the
// registers: four) by eight positions are summed in registers.
// Limits: none but the instruction's rate, two loads for sixteen of them (AArch32: for eight).
#include "base/cpu.h"
#include "device/cpu/kernel/half_product.h"

#ifdef __ARM_FEATURE_FP16_FML
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

#ifdef __aarch64__
constexpr int kQuads = 2;  // of channels
#else
constexpr int kQuads = 1;
#endif
constexpr int kChannels = 4 * kQuads;

inline float16x8_t load(const uint16_t* values)
{
    return vreinterpretq_f16_u16(vld1q_u16(values));
}

template <int kLane>
inline void add_products(float32x4_t* totals, float16x8_t x, float16x4_t w)
{
    totals[2 * kLane] = vfmlalq_lane_low_f16(totals[2 * kLane], x, w, kLane);
    totals[2 * kLane + 1] = vfmlalq_lane_high_f16(totals[2 * kLane + 1], x, w, kLane);
}

void multiply_part(const uint16_t* weights, const uint16_t* input, int64_t depth,
                   const float* starts, int64_t stride, float* sums)
{
    float32x4_t total[kQuads][8];
    for (int row = 0; row < kChannels; ++row)
        total[row / 4][row % 4 * 2] = total[row / 4][row % 4 * 2 + 1] = vdupq_n_f32(starts[row]);
    for (int64_t k = 0; k < depth; ++k, weights += kHalfRows, input += kHalfColumns) {
        const float16x8_t x = load(input);
        for (int quad = 0; quad < kQuads; ++quad) {
            const float16x4_t w = vreinterpret_f16_u16(vld1_u16(weights + 4 * quad));
            add_products<0>(total[quad], x, w);
            add_products<1>(total[quad], x, w);
            add_products<2>(total[quad], x, w);
            add_products<3>(total[quad], x, w);
        }
    }
    for (int row = 0; row < kChannels; ++row) {
        vst1q_f32(sums + row * stride, total[row / 4][row % 4 * 2]);
        vst1q_f32(sums + row * stride + 4, total[row / 4][row % 4 * 2 + 1]);
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

const HalfProduct fhm_product = {CPU_FEATURE_ARM_FHM, multiply};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const HalfProduct fhm_product = {CPU_FEATURE_ARM_FHM, nullptr};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_FP16_FML

// SPDX-License-Identifier: Apache-2.0
// Products of bytes with SDOT (Armv8.2 DotProd, AArch64 and AArch32), see byte_product.h.
//
// SDOT adds four products to each of four lanes. Here a lane is a position and its four bytes are
// multiplied with the same four bytes of a channel, which the instruction takes out of a vector of
// four channels. Eight channels by eight positions (AArch32, which has half the registers: four)
// are summed in registers.
// Limits: four loads for sixteen SDOT (AArch32: three for eight).
#include "base/cpu.h"
#include "device/cpu/kernel/byte_product.h"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

#ifdef __aarch64__
constexpr int kVectors = 2;  // of four positions
#else
constexpr int kVectors = 1;
#endif
constexpr int kGroup = 4;
constexpr int kStep = kGroup * kByteColumns;

void multiply_part(const int8_t* weights, const int8_t* input, int64_t groups, int64_t stride,
                   int32_t* sums)
{
    int32x4_t total[kVectors][kByteRows];
    for (auto& vector : total)
        for (int32x4_t& row : vector)
            row = vdupq_n_s32(0);
    for (int64_t k = 0; k < groups; ++k, weights += kGroup * kByteRows, input += kStep) {
        const int8x16_t low = vld1q_s8(weights), high = vld1q_s8(weights + 16);
        const int8x8_t w01 = vget_low_s8(low), w23 = vget_high_s8(low);
        const int8x8_t w45 = vget_low_s8(high), w67 = vget_high_s8(high);
        for (int v = 0; v < kVectors; ++v) {
            const int8x16_t x = vld1q_s8(input + 16 * v);
            total[v][0] = vdotq_lane_s32(total[v][0], x, w01, 0);
            total[v][1] = vdotq_lane_s32(total[v][1], x, w01, 1);
            total[v][2] = vdotq_lane_s32(total[v][2], x, w23, 0);
            total[v][3] = vdotq_lane_s32(total[v][3], x, w23, 1);
            total[v][4] = vdotq_lane_s32(total[v][4], x, w45, 0);
            total[v][5] = vdotq_lane_s32(total[v][5], x, w45, 1);
            total[v][6] = vdotq_lane_s32(total[v][6], x, w67, 0);
            total[v][7] = vdotq_lane_s32(total[v][7], x, w67, 1);
        }
    }
    for (int v = 0; v < kVectors; ++v)
        for (int row = 0; row < kByteRows; ++row)
            vst1q_s32(sums + row * stride + 4 * v, total[v][row]);
}

void multiply(const int8_t* weights, const int8_t* input, int64_t groups, int64_t blocks,
              int64_t stride, int32_t* sums)
{
    for (; blocks > 0; --blocks, input += groups * kStep, sums += kByteColumns)
        for (int i = 0; i < kByteColumns; i += 4 * kVectors)
            multiply_part(weights, input + kGroup * i, groups, stride, sums + i);
}

}  // namespace

const ByteProduct dotprod_product = {CPU_FEATURE_ARM_DOTPROD, multiply};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const ByteProduct dotprod_product = {CPU_FEATURE_ARM_DOTPROD, nullptr};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_DOTPROD

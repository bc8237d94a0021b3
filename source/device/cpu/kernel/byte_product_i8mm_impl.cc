// SPDX-License-Identifier: Apache-2.0
// Products of bytes with SMMLA (Armv8.6 I8MM, AArch64 and AArch32), see byte_product.h.
//
// SMMLA takes two rows of eight bytes from each operand and adds the four products of rows to four
// lanes. Eight channels by eight positions (AArch32, which has half the registers: four) are summed
// in registers, two channels by two positions in each.
// Limits: eight loads for sixteen SMMLA (AArch32: six for eight), each of which is as much work as
// two SDOT.
#include "base/cpu.h"
#include "device/cpu/kernel/byte_product.h"

#ifdef __ARM_FEATURE_MATMUL_INT8
#include <arm_neon.h>

namespace tengine::cpu {
namespace {

#ifdef __aarch64__
constexpr int kPairs = 4;  // of positions
#else
constexpr int kPairs = 2;
#endif
constexpr int kRowPairs = kByteRows / 2;
constexpr int kGroup = 8;
constexpr int kStep = kGroup * kByteColumns;

void multiply_part(const int8_t* weights, const int8_t* input, int64_t groups, int64_t stride,
                   int32_t* sums)
{
    int32x4_t total[kRowPairs][kPairs];
    for (auto& rows : total)
        for (int32x4_t& square : rows)
            square = vdupq_n_s32(0);
    for (int64_t k = 0; k < groups; ++k, weights += kGroup * kByteRows, input += kStep) {
        int8x16_t x[kPairs];
        for (int pair = 0; pair < kPairs; ++pair)
            x[pair] = vld1q_s8(input + 16 * pair);
        for (int row = 0; row < kRowPairs; ++row) {
            const int8x16_t w = vld1q_s8(weights + 16 * row);
            for (int pair = 0; pair < kPairs; ++pair)
                total[row][pair] = vmmlaq_s32(total[row][pair], w, x[pair]);
        }
    }
    for (int row = 0; row < kRowPairs; ++row, sums += 2 * stride)
        for (int pair = 0; pair < kPairs; ++pair) {
            vst1_s32(sums + 2 * pair, vget_low_s32(total[row][pair]));
            vst1_s32(sums + stride + 2 * pair, vget_high_s32(total[row][pair]));
        }
}

void multiply(const int8_t* weights, const int8_t* input, int64_t groups, int64_t blocks,
              int64_t stride, int32_t* sums)
{
    for (; blocks > 0; --blocks, input += groups * kStep, sums += kByteColumns)
        for (int i = 0; i < kByteColumns; i += 2 * kPairs)
            multiply_part(weights, input + kGroup * i, groups, stride, sums + i);
}

}  // namespace

const ByteProduct i8mm_product = {CPU_FEATURE_ARM_I8MM, multiply};

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

const ByteProduct i8mm_product = {CPU_FEATURE_ARM_I8MM, nullptr};

}  // namespace tengine::cpu
#endif  // __ARM_FEATURE_MATMUL_INT8

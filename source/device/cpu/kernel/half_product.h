// SPDX-License-Identifier: Apache-2.0
// Matrix products of fp16 values summed in fp32, one file an instruction set:
// half_product_<set>_impl.cc. Some are compiled for processors that this one may not be, so neither
// they nor this header may have inline functions that others have too.
//
// The product of two fp16 values is exact in fp32, and each sum takes its terms in order, so all
// give the same bits: n terms are off by at most n * eps * sum |a| |b| with the eps of fp32.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Weights are packed in panels of eight channels, the input in blocks of eight positions: the first
// value of each channel (position), then the second of each.
inline constexpr int kHalfRows = 8;
inline constexpr int kHalfColumns = 8;

// The products of a panel with `blocks` consecutive blocks, `depth` values each: the sum of row r
// at position i, which begins with starts[r], goes to sums[r * stride + i].
using MultiplyHalves = void (*)(const uint16_t* weights, const uint16_t* input, int64_t depth,
                                int64_t blocks, const float* starts, int64_t stride, float* sums);

struct HalfProduct
{
    uint64_t features;        // of base/cpu.h, which the processor must have
    MultiplyHalves multiply;  // null where the compiler does not know the instructions
};

extern const HalfProduct fhm_product;   // multiplies fp16 values
extern const HalfProduct neon_product;  // converts them first

}  // namespace tengine::cpu

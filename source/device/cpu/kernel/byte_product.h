// SPDX-License-Identifier: Apache-2.0
// Matrix products of signed bytes with instructions that sum several of them in a lane, one file an
// instruction set: byte_product_<set>_impl.cc. These are compiled for processors that this one may
// not be, so neither they nor this header may have inline functions that others have too.
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Weights are packed in panels of eight channels, the input in blocks of sixteen positions. `group`
// values of each channel (of each position) that will be multiplied lie side by side, after them
// those of the next channel (position), then come those of the next group.
inline constexpr int kByteRows = 8;
inline constexpr int kByteColumns = 16;

// The products of a panel with `blocks` consecutive blocks, `groups` groups each, modulo 2^32: the
// sum of row r at position i goes to sums[r * stride + i].
using MultiplyBytes = void (*)(const int8_t* weights, const int8_t* input, int64_t groups,
                               int64_t blocks, int64_t stride, int32_t* sums);

struct ByteProduct
{
    uint64_t features;       // of base/cpu.h, which the processor must have
    MultiplyBytes multiply;  // null where the compiler does not know the instructions
};

extern const ByteProduct dotprod_product;  // groups of 4
extern const ByteProduct i8mm_product;     // groups of 8

}  // namespace tengine::cpu

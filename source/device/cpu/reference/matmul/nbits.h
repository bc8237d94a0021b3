// SPDX-License-Identifier: Apache-2.0
// Elements of fewer than 8 bits, for MatMulNBits and GatherBlockQuantized.
#pragma once

#include <cstdint>

#include "operator/onnx/quantized_product_param.h"

namespace tengine::cpu {

// Returns the zero point of elements without one.
inline int get_nbits_middle(const nbits_shape* shape)
{
    return 1 << (shape->bits - 1);
}

// Returns element `index` of the packed ones at `bytes`.
inline int read_nbits(const uint8_t* bytes, int64_t index, int bits)
{
    const int each = 8 / bits;  // elements of a byte
    return bytes[index / each] >> index % each * bits & ((1 << bits) - 1);
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// The QLinearAdd that is fused into an int8 convolution: the results equal those of the two nodes
// bit by bit.
#pragma once

#include <cstdint>

#include "device/cpu/kernel/vector/requantization.h"

namespace tengine::cpu {

// The result is (a.factor * (x - a_zero) + b.factor * (y - b_zero)) / 2^shift, plus the zero point,
// of elements made unsigned; a is the result of the convolution.
struct Int8Addition
{
    int32_t a_zero, b_zero, zero;
    ir_multiplier_t a, b;  // with one shift
    uint8_t flip;          // makes elements unsigned
    // The same as floats: a_scale * x + b_scale * y + offset, see Int8Scaling; this number of low
    // bits of the fraction may be wrong.
    float a_scale, b_scale, offset;
    int32_t tie_bits;
};

// `scales` are the inputs of a QLinearAdd from its first scale on: those of a and b, each with its
// zero point, and those of the result. False if they are not constants of one element, or if the
// products leave so few bits of the fraction that vectors would often be computed twice.
bool describe_int8_addition(const tensor* const (&scales)[6], int data_type,
                            Int8Addition* out_addition);

// The operands are uint8.
uint8_t add_bytes_exactly(const Int8Addition& addition, uint8_t x, uint8_t y);

}  // namespace tengine::cpu

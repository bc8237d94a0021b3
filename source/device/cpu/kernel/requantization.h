// SPDX-License-Identifier: Apache-2.0
// What the vectors of requantize-inl.h share with plain code.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/cpu/reference/qlinear.h"
#include "tengine/fixed_point.h"

namespace tengine::cpu {

// A type of bytes with a zero point.
struct ByteRange
{
    int32_t zero_point, lowest, highest;
};

inline ByteRange find_byte_range(int data_type, int zero_point)
{
    const bool is_signed = data_type == TENGINE_DT_INT8;
    return {zero_point, is_signed ? INT8_MIN : 0, is_signed ? INT8_MAX : UINT8_MAX};
}

// What the byte 0 is as one of the floats of requantize-inl.h.
inline constexpr float kLowestByteFloat = 256;

// The factor of a multiplier, rounded to a float.
inline float round_multiplier(ir_multiplier_t multiplier)
{
    return std::ldexp(static_cast<float>(multiplier.factor), -multiplier.shift);
}

// One multiplier for each sum. Not inline, since files for other instruction sets call it.
void requantize_exactly(const ByteRange& range, const int32_t* sums,
                        const ir_multiplier_t* multipliers, int64_t count, uint8_t* to);

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// The part of requantize-inl.h that its vectors share with plain code. The arithmetic is that of
// tengine/fixed_point.h; the reference implements it separately, with identical results.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/zero_point.h"
#include "tengine/fixed_point.h"

namespace tengine::cpu {

// An int8 or uint8 type with a zero point, and how products become its integers.
struct Int8Range
{
    int32_t zero_point, lowest, highest;
    ir_rounding_t rounding = IR_ROUNDING_NEAREST;
};

inline Int8Range find_byte_range(int data_type, int zero_point,
                                 ir_rounding_t rounding = IR_ROUNDING_NEAREST)
{
    const bool is_signed = data_type == TENGINE_DT_INT8;
    return {zero_point, is_signed ? INT8_MIN : 0, is_signed ? INT8_MAX : UINT8_MAX, rounding};
}

// The rounding of the run.
inline ir_rounding_t rounding_of(const node& node)
{
    return static_cast<ir_rounding_t>(node.graph->run_options->rounding);
}

// The lowest value of the type among the floats of requantize-inl.h.
inline constexpr float kLowestInt8Float = 256;

// The factor of a multiplier, rounded to a float.
inline float round_multiplier(ir_multiplier_t multiplier)
{
    return std::ldexp(static_cast<float>(multiplier.factor), -multiplier.shift);
}

// make_ir_multipliers(), with the node in the message.
TENGINE_MUST_USE int find_multipliers(const KernelContext& context, const double* reals, int count,
                                      ir_multiplier_t* out_multipliers);

// Quantises a value of any size in the range's scale.
inline uint8_t saturate_int8(const Int8Range& range, int64_t value)
{
    return static_cast<uint8_t>(
        clamp_ir_integer(value + range.zero_point, range.lowest, range.highest));
}

// One multiplier for each accumulator. Not inline, since files for other instruction sets call it.
void requantize_exactly(const Int8Range& range, const int32_t* sums,
                        const ir_multiplier_t* multipliers, int64_t count, uint8_t* to);

}  // namespace tengine::cpu

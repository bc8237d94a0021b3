// SPDX-License-Identifier: Apache-2.0
// What the kernels of the integer operators share: scales and zero points become multipliers at
// run time, sums become bytes. The arithmetic is that of tengine/fixed_point.h, so a device that
// follows it gives the same bits.
#pragma once

#include <cstdint>
#include <limits>

#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/quantize.h"
#include "device/cpu/types.h"
#include "tengine/fixed_point.h"

namespace tengine::cpu {

using ByteTypes = TypeList<int8_t, uint8_t>;

// So many products of two centred bytes fit an int32.
inline constexpr int64_t kMostNarrowProducts = std::numeric_limits<int32_t>::max() / (255 * 255);

// Scale and zero point of a whole tensor, whose inputs are at `index` and after it.
struct Quantization
{
    double scale;
    int zero_point;

    Quantization(const KernelContext& context, int index)
        : scale(context.input(index)->f32[0]),
          zero_point(read_zero_point(context.input(index + 1), 0))
    {
    }
};

// make_ir_multipliers(), with the node in the sentence.
inline int make_multipliers(const KernelContext& context, const double* reals, int number,
                            ir_multiplier_t* out_multipliers)
{
    if (make_ir_multipliers(reals, number, out_multipliers) == TENGINE_OK) return TENGINE_OK;
    int wrong = 0;
    while (wrong < number - 1 && reals[wrong] >= 0 && reals[wrong] < 2147483647.0)
        ++wrong;
    return fail_node(context.node, TENGINE_ERANGE,
                     "its scales make a factor of %g, expected 0 to 2^31", reals[wrong]);
}

// Multipliers of a product of x, its scale at input `x_index`, with weights, theirs at input 4,
// whose result has the scale at input `y_index`: one for each scale of the weights.
inline int make_weight_multipliers(const KernelContext& context, int x_index, int y_index,
                                   ir_multiplier_t* out_multipliers, double alpha = 1)
{
    const double x_scale = context.input(x_index)->f32[0], y_scale = context.input(y_index)->f32[0];
    const tensor* weight_scale = context.input(4);
    for (int64_t i = 0; i < weight_scale->elem_num; ++i) {
        const double real = alpha * x_scale * weight_scale->f32[i] / y_scale;
        TENGINE_RETURN_IF_ERROR(make_multipliers(context, &real, 1, &out_multipliers[i]));
    }
    return TENGINE_OK;
}

// Makes bytes of sums for a tensor of `data_type`; int8 and uint8 have the same bits. A sum beyond
// int32 is taken as the nearest int32.
class Requantizer
{
  public:
    Requantizer(int data_type, int zero_point)
        : zero_point_(zero_point),
          lowest_(data_type == TENGINE_DT_INT8 ? INT8_MIN : 0),
          highest_(data_type == TENGINE_DT_INT8 ? INT8_MAX : UINT8_MAX)
    {
    }

    uint8_t operator()(int64_t sum, ir_multiplier_t multiplier) const
    {
        const int32_t narrow = clamp_ir_integer(sum, std::numeric_limits<int32_t>::min(),
                                                std::numeric_limits<int32_t>::max());
        return static_cast<uint8_t>(
            requantize_ir_sum(narrow, multiplier, zero_point_, lowest_, highest_));
    }
    // Of a value already in the result's scale.
    uint8_t saturate(int64_t rounded) const
    {
        return static_cast<uint8_t>(clamp_ir_integer(rounded + zero_point_, lowest_, highest_));
    }

  private:
    int32_t zero_point_, lowest_, highest_;
};

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "device/cpu/kernel/vector/byte_addition.h"

namespace tengine::cpu {
namespace {

// The limit of the sum of both factors: beyond it the fraction has too few bits.
constexpr double kMostScale = 8;

bool is_number(const tensor* value)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST && value->elem_num == 1;
}

}  // namespace

// The error, with s for a_scale + b_scale and in units of 2^-24: both scales contribute 255 s
// together, the rounding of products as much; the offset 512 + 255 s, its sum with a product the
// same, and the result 512. That is below 3 + 2 s bits of the fraction, which are 512.
bool describe_int8_addition(const tensor* const (&scales)[6], int data_type,
                            Int8Addition* out_addition)
{
    for (int i = 0; i < 6; ++i)
        if (!is_number(scales[i]) && (i % 2 == 0 || scales[i])) return false;
    const double scale = double{scales[4]->f32[0]};
    const double reals[] = {double{scales[0]->f32[0]} / scale, double{scales[2]->f32[0]} / scale};
    ir_multiplier_t multipliers[2];
    if (!(reals[0] >= 0 && reals[1] >= 0 && reals[0] + reals[1] <= kMostScale) ||
        make_ir_multipliers(reals, 2, multipliers) != TENGINE_OK)
        return false;
    Int8Addition& addition = *out_addition;
    const int sign = data_type == TENGINE_DT_INT8 ? 128 : 0;
    addition.flip = static_cast<uint8_t>(sign);
    addition.a_zero = read_zero_point(scales[1], 0) + sign;
    addition.b_zero = read_zero_point(scales[3], 0) + sign;
    addition.zero = read_zero_point(scales[5], 0) + sign;
    addition.a = multipliers[0];
    addition.b = multipliers[1];
    addition.a_scale = round_multiplier(multipliers[0]);
    addition.b_scale = round_multiplier(multipliers[1]);
    const double a = double{addition.a_scale}, b = double{addition.b_scale};
    addition.offset = static_cast<float>(kLowestInt8Float + addition.zero - addition.a_zero * a -
                                         addition.b_zero * b);
    addition.tie_bits = static_cast<int32_t>(std::ceil(3 + 2 * (a + b)));
    return true;
}

uint8_t add_bytes_exactly(const Int8Addition& addition, uint8_t x, uint8_t y)
{
    const int64_t sum = int64_t{addition.a.factor} * (x - addition.a_zero) +
                        int64_t{addition.b.factor} * (y - addition.b_zero);
    return saturate_int8(find_byte_range(TENGINE_DT_UINT8, addition.zero),
                         round_ir_shift(sum, addition.a.shift));
}

}  // namespace tengine::cpu

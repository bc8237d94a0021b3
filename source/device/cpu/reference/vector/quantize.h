// SPDX-License-Identifier: Apache-2.0
// Rounding and saturation of the quantised operators, and reading of their scales and zero points.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/small_float.h"
#include "device/cpu/shared/types.h"
#include "device/cpu/shared/zero_point.h"
#include "tengine/ir.h"

namespace tengine::cpu {

// The range of a quantised type, for kernels that choose it at run time.
struct QuantizedRange
{
    double lowest, highest;
};

template <class T>
constexpr QuantizedRange range_of()
{
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}

inline QuantizedRange byte_range(int data_type)
{
    return data_type == TENGINE_DT_INT8 ? range_of<int8_t>() : range_of<uint8_t>();
}

// Returns round(value) + zero_point, ties to even, saturated; the lowest value for NaN.
inline int quantize(double value, int zero_point, const QuantizedRange& range)
{
    const double shifted = std::nearbyint(value) + zero_point;
    if (!(shifted > range.lowest)) return static_cast<int>(range.lowest);
    return static_cast<int>(shifted < range.highest ? shifted : range.highest);
}

// The scale and zero point with which DynamicQuantizeLinear converts values to uint8: their range,
// widened to include 0, becomes 0..255.
struct DynamicRange
{
    float scale;
    int zero_point;

    DynamicRange(const float* values, int64_t number)
    {
        float lowest = 0, highest = 0;
        for (int64_t i = 0; i < number; ++i) {
            lowest = std::min(lowest, values[i]);
            highest = std::max(highest, values[i]);
        }
        // If all values are zero, any scale is correct.
        scale = highest == lowest ? 1.0f : (highest - lowest) / 255.0f;
        zero_point = quantize(-lowest / scale, 0, range_of<uint8_t>());
    }
    uint8_t quantize_value(float value) const
    {
        return static_cast<uint8_t>(quantize(value / scale, zero_point, range_of<uint8_t>()));
    }
};

// Returns element `index` of a parameter of any float type, or a power of two.
inline double read_real(const tensor* values, int64_t index)
{
    switch (values->data_type) {
        case TENGINE_DT_FP16:
            return fp16_to_fp32(values->f16[index]);
        case TENGINE_DT_BF16:
            return bf16_to_fp32(values->f16[index]);
        case TENGINE_DT_FP64:
            return static_cast<const double*>(values->data)[index];
        case TENGINE_DT_FLOAT8E8M0:
            return small_float_to_double(find_small_float(TENGINE_DT_FLOAT8E8M0),
                                         values->u8[index]);
        default:
            return values->f32[index];
    }
}

}  // namespace tengine::cpu

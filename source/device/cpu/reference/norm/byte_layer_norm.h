// SPDX-License-Identifier: Apache-2.0
// The arithmetic of tengine.QLinearLayerNormalization (operator/onnx/qlinear_param.h): no
// floating-point sum depends on an order, and no product and sum may be contracted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "device/cpu/reference/matmul/qlinear.h"
#include "operator/onnx/norm_param.h"

namespace tengine::cpu {

constexpr int kNormBits = 8;  // bits of the fraction
constexpr float kNormUnit = 1 << kNormBits;
constexpr float kNormLimit = 1 << 21;

struct Int8Norm
{
    double x_scale, epsilon;
    int64_t n;
    int x_zero_point, y_zero_point, lowest, highest;

    explicit Int8Norm(const KernelContext& context)
        : x_scale(context.input(1)->f32[0]),
          epsilon(context.param<layer_norm_param>().epsilon),
          x_zero_point(read_zero_point(context.input(2), 0)),
          y_zero_point(read_zero_point(context.input(5), 0))
    {
        const tensor& x = *context.input(0);
        const int axis = context.param<layer_norm_param>().axis;
        const bool is_signed = context.output(0)->data_type == TENGINE_DT_INT8;
        n = multiply_dims(&x, axis < 0 ? axis + x.dim_num : axis, x.dim_num);
        lowest = is_signed ? INT8_MIN : 0;
        highest = is_signed ? INT8_MAX : UINT8_MAX;
    }

    // Returns the factor of n c - sum c; 0 for a row of equal values without an epsilon.
    float find_factor(int64_t sum, int64_t squares) const
    {
        const auto number = static_cast<double>(n);
        const auto spread = static_cast<double>(n * squares - sum * sum);
        const double variance = spread * x_scale * x_scale / (number * number) + epsilon;
        return variance > 0 ? static_cast<float>(x_scale / (number * std::sqrt(variance))) : 0;
    }
};

inline int32_t round_norm(float value)
{
    return static_cast<int32_t>(std::nearbyint(std::clamp(value, -kNormLimit, kNormLimit)));
}

// Returns a scale or bias in the result's units: finite, as are all products with it, and 0 for
// NaN.
inline float scale_norm(float value, float y_scale)
{
    constexpr float kLargest = 0x1p100f;
    const float scaled = value * kNormUnit / y_scale;
    return std::isnan(scaled) ? 0 : std::clamp(scaled, -kLargest, kLargest);
}

inline uint8_t finish_norm(const Int8Norm& norm, int32_t distance, float factor, float scale,
                           int32_t bias)
{
    const int32_t value = round_norm(static_cast<float>(distance) * factor * scale) + bias;
    const int64_t rounded = divide_by_power(value, kNormBits);
    return static_cast<uint8_t>(
        std::clamp<int64_t>(rounded + norm.y_zero_point, norm.lowest, norm.highest));
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// The arithmetic of QLinearSoftmax (operator/onnx/qlinear_param.h).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel_context.h"
#include "device/cpu/reference/matmul/qlinear.h"

namespace tengine::cpu {

// The exponentials of each distance below the largest x of a row; they do not grow with the
// distance.
using Int8Exponentials = std::array<uint32_t, 256>;

inline Int8Exponentials find_int8_exponentials(double scale)
{
    Int8Exponentials powers = {};
    for (size_t i = 0; i < powers.size(); ++i)
        powers[i] = static_cast<uint32_t>(
            std::nearbyint(0x1p23 * std::exp(-scale * static_cast<double>(i))));
    return powers;
}

// The quantised shares of exponentials in the sum of their row.
struct Int8Share
{
    double scale;
    int zero_point, highest;
    float factor = 0;

    // The result's scale is at input 3.
    explicit Int8Share(const KernelContext& context)
        : scale(context.input(3)->f32[0]),
          zero_point(read_zero_point(context.input(4), 0)),
          highest(context.output(0)->data_type == TENGINE_DT_INT8 ? INT8_MAX : UINT8_MAX)
    {
    }

    // A nonzero exponential times the largest factor is also beyond all quantised values.
    void set_sum(uint64_t sum)
    {
        factor = static_cast<float>(std::min(1 / (static_cast<double>(sum) * scale), 0x1p100));
    }
    uint8_t operator()(uint32_t power) const
    {
        const float real = std::min(static_cast<float>(power) * factor, 256.0f);
        return static_cast<uint8_t>(
            std::min(static_cast<int>(std::nearbyint(real)) + zero_point, highest));
    }
};

}  // namespace tengine::cpu

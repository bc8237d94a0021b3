// SPDX-License-Identifier: Apache-2.0
// The common part of the kernels of integer operators: multipliers from scales and zero points at
// run time, requantised sums (requantize.h).
#pragma once

#include <cstdint>
#include <limits>

#include "device/cpu/kernel_context.h"
#include "device/cpu/reference/vector/quantize.h"
#include "device/cpu/reference/vector/requantize.h"
#include "device/cpu/shared/types.h"
#include "device/cpu/shared/zero_point.h"

namespace tengine::cpu {

using Int8Types = TypeList<int8_t, uint8_t>;

// The number of products of two centred 8-bit values whose sum fits an int32.
inline constexpr int64_t kMostNarrowProducts = std::numeric_limits<int32_t>::max() / (255 * 255);

// Scale and zero point of a whole tensor: the inputs at `index` and after it.
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

// How the node's products become integers.
inline ir_rounding_t find_rounding(const KernelContext& context)
{
    return static_cast<ir_rounding_t>(context.node->graph->run_options->rounding);
}

// The scale a * b / y of products, as the run's rounding has it.
inline double find_product_scale(const KernelContext& context, float a, float b, float y)
{
    if (find_rounding(context) != IR_ROUNDING_FLOAT) return double{a} * b / y;
    const float product = a * b;
    return double{product / y};
}

// Makes multipliers for products of x and weights, one for each scale of the weights. The scale of
// x is input `x_index`, that of the weights input 4, that of the result input `y_index`.
inline int make_weight_multipliers(const KernelContext& context, int x_index, int y_index,
                                   Multiplier* out_multipliers, double alpha = 1)
{
    const float x_scale = context.input(x_index)->f32[0], y_scale = context.input(y_index)->f32[0];
    const tensor* weight_scale = context.input(4);
    for (int64_t i = 0; i < weight_scale->elem_num; ++i) {
        const double real =
            alpha * find_product_scale(context, x_scale, weight_scale->f32[i], y_scale);
        TENGINE_RETURN_IF_ERROR(make_multipliers(context, &real, 1, &out_multipliers[i]));
    }
    return TENGINE_OK;
}

}  // namespace tengine::cpu

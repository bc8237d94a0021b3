// SPDX-License-Identifier: Apache-2.0
// The taps of GridSample along an axis for a value of the grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/float_to_index.h"
#include "device/cpu/reference/window/sample.h"
#include "device/cpu/shared/types.h"
#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

constexpr int kMostGridTaps = 4;  // of one dimension, in mode cubic
// The choice of PyTorch and ONNX for GridSample.
constexpr double kGridCubicSlope = -0.75;

enum class GridMode
{
    kNearest,
    kLinear,
    kCubic
};
enum class GridPadding
{
    kZeros,
    kBorder,
    kReflection
};

struct GridSettings
{
    GridMode mode;
    GridPadding padding;
    bool align_corners;

    explicit GridSettings(const grid_sample_param& param)
        : mode(std::strcmp(param.mode, "cubic") == 0    ? GridMode::kCubic
               : std::strcmp(param.mode, "linear") == 0 ? GridMode::kLinear
                                                        : GridMode::kNearest),
          padding(std::strcmp(param.padding_mode, "border") == 0       ? GridPadding::kBorder
                  : std::strcmp(param.padding_mode, "reflection") == 0 ? GridPadding::kReflection
                                                                       : GridPadding::kZeros),
          align_corners(param.align_corners != 0)
    {
    }

    // The image's edges in elements: centres or outer sides of the outermost elements.
    double low() const { return align_corners ? 0.0 : -0.5; }
    double high(int size) const { return align_corners ? size - 1.0 : size - 0.5; }
};

// Reflects x at both ends of [low, high] until it is inside.
inline double reflect_between(double x, double low, double high)
{
    const double range = high - low;
    if (range <= 0) return low;
    const double folded = std::fmod(std::fabs(x - low), 2 * range);
    return low + std::min(folded, 2 * range - folded);
}

// Converts the grid's value, -1 to 1 between the edges, to a coordinate of an axis. The result is
// never NaN or too large for an integer.
inline double find_grid_coordinate(const GridSettings& settings, double value, int size)
{
    const double low = settings.low();
    const double high = settings.high(size);
    double x = (value + 1) / 2 * (high - low) + low;
    if (settings.mode == GridMode::kNearest) x = std::nearbyint(x);
    if (x < low || x > high) {
        // In mode cubic each tap is clamped on its own, as in PyTorch.
        if (settings.padding == GridPadding::kBorder && settings.mode != GridMode::kCubic)
            x = std::clamp(x, 0.0, size - 1.0);
        if (settings.padding == GridPadding::kReflection) x = reflect_between(x, low, high);
    }
    const double far = 2.0 * size + 8;
    return x > -far ? std::min(x, far) : -far;
}

// The taps of one axis; position -1 reads as 0.
struct GridTaps
{
    int num;
    int64_t positions[kMostGridTaps];
    double weights[kMostGridTaps];
};

inline int64_t find_grid_position(const GridSettings& settings, double x, int size)
{
    if (x >= 0 && x < size) return float_to_index(x, 0, size - 1);
    if (settings.padding == GridPadding::kZeros) return -1;
    if (settings.padding == GridPadding::kReflection)
        x = reflect_between(x, settings.low(), settings.high(size));
    return float_to_index(x, 0, size - 1);
}

inline GridTaps find_grid_taps(const GridSettings& settings, double value, int size)
{
    const double x = find_grid_coordinate(settings, value, size);
    GridTaps taps;
    if (settings.mode == GridMode::kNearest) {
        taps.num = 1;
        taps.positions[0] = find_grid_position(settings, std::nearbyint(x), size);
        taps.weights[0] = 1;
        return taps;
    }
    const bool cubic = settings.mode == GridMode::kCubic;
    taps.num = cubic ? 4 : 2;
    const double first = std::floor(x) - (cubic ? 1 : 0);
    for (int t = 0; t < taps.num; ++t) {
        const double distance = std::fabs(first + t - x);
        taps.positions[t] = find_grid_position(settings, first + t, size);
        taps.weights[t] = cubic ? cubic_weight(distance, kGridCubicSlope) : 1 - distance;
    }
    return taps;
}

inline double read_grid(const tensor* grid, int64_t position)
{
    switch (grid->data_type) {
        case TENGINE_DT_FP16:
            return static_cast<const Half*>(grid->data)[position];
        case TENGINE_DT_BF16:
            return static_cast<const BFloat16*>(grid->data)[position];
        case TENGINE_DT_FP64:
            return static_cast<const double*>(grid->data)[position];
        default:
            return grid->f32[position];
    }
}

}  // namespace tengine::cpu

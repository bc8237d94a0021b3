// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>

#include "device/cpu/kernel/window/resize_source.h"

namespace tengine::cpu {
namespace {

// Position i of the output lies at (i + begin) * factor / divisor - end + shift of the input. A
// term that a coordinate mode does not have is 0 or 1, which changes no bit.
template <class F>
struct AxisMap
{
    F begin = 0, factor = 1, divisor = 1, end = 0, shift = 0;

    F operator()(int64_t i) const
    {
        return (static_cast<F>(i) + begin) * factor / divisor - end + shift;
    }
};

template <class F>
AxisMap<F> find_axis_map(const resize_param& param, const resize_axis& axis, int64_t input_size)
{
    constexpr F kHalf = 0.5;
    const std::string_view mode = param.coordinate_transformation_mode;
    const auto scale = static_cast<F>(axis.scale), size = static_cast<F>(input_size);
    const bool is_single = axis.length <= 1;
    AxisMap<F> map;
    if (mode == "align_corners") {
        map.factor = is_single ? 0 : static_cast<F>(input_size - 1);
        map.divisor = is_single ? 1 : static_cast<F>(axis.length) - 1;
        return map;
    }
    if (mode == "pytorch_half_pixel" && is_single) {
        map.factor = 0;
        return map;
    }
    map.divisor = scale;
    if (mode == "asymmetric") return map;
    map.begin = kHalf;
    if (mode == "tf_half_pixel_for_nn") return map;
    map.end = kHalf;
    if (mode == "half_pixel_symmetric")
        map.shift = size * kHalf * (1 - static_cast<F>(axis.size) / (scale * size));
    return map;
}

// Beyond the edge all positions are the same, and so are those that are NaN.
template <class F>
F keep_near(F position, int64_t input_size)
{
    return position > -1 ? std::min(position, static_cast<F>(input_size)) : F{-1};
}

int64_t clamp_index(int64_t index, int64_t input_size)
{
    return std::clamp<int64_t>(index, 0, input_size - 1);
}

using RoundsUp = bool (*)(float fraction);

// Whether the element after a position is the nearest, by the distance to the one before.
RoundsUp find_rounding(std::string_view mode)
{
    if (mode == "floor") return [](float) { return false; };
    if (mode == "ceil") return [](float fraction) { return fraction > 0; };
    if (mode == "round_prefer_ceil") return [](float fraction) { return fraction >= 0.5f; };
    return [](float fraction) { return fraction > 0.5f; };
}

}  // namespace

void find_nearest_offsets(const resize_param& param, const resize_axis& axis, int64_t input_size,
                          int64_t step, int64_t* out_offsets)
{
    const auto map = find_axis_map<float>(param, axis, input_size);
    const RoundsUp rounds_up = find_rounding(param.nearest_mode);
    for (int64_t i = 0; i < axis.size; ++i) {
        const float position = keep_near(map(i), input_size), before = std::floor(position);
        const int64_t index = static_cast<int64_t>(before) + rounds_up(position - before);
        out_offsets[i] = (axis.identity ? i : clamp_index(index, input_size)) * step;
    }
}

void find_pixel_taps(const resize_param& param, const resize_axis& axis, int64_t input_size,
                     PixelTap* out_taps)
{
    const auto map = find_axis_map<double>(param, axis, input_size);
    for (int64_t i = 0; i < axis.size; ++i) {
        const double position = keep_near(map(i), input_size), before = std::floor(position);
        const auto index = static_cast<int64_t>(before);
        const double weight = std::ldexp(position - before, kPixelTapBits);
        out_taps[i] = axis.identity ? PixelTap{i, i, 0}
                                    : PixelTap{clamp_index(index, input_size),
                                               clamp_index(index + 1, input_size),
                                               static_cast<int32_t>(std::lrint(weight))};
    }
}

}  // namespace tengine::cpu

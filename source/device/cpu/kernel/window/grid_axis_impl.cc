// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>

#include "device/cpu/kernel/window/grid_axis.h"

namespace tengine::cpu {

// The edges are the centres of the outer elements, or their outer sides.
GridAxis::GridAxis(const grid_sample_param& param, int size)
    : begin_(param.align_corners ? 0 : -0.5),
      end_(begin_ + size - (param.align_corners ? 1 : 0)),
      size_(size)
{
    const std::string_view padding = param.padding_mode;
    repeats_border_ = padding == "border";
    mirrors_ = padding == "reflection";
}

// Reflects the point between the edges.
double GridAxis::mirror(double point) const
{
    const double length = end_ - begin_;
    if (length <= 0) return begin_;
    const double way = std::fmod(std::fabs(point - begin_), 2 * length);
    return begin_ + (way > length ? 2 * length - way : way);
}

// Never a NaN, and always within the range of an integer.
double GridAxis::find_point(double value) const
{
    const double most = 2.0 * size_ + 8;
    double point = (value + 1) / 2 * (end_ - begin_) + begin_;
    const bool is_outside = point < begin_ || point > end_;
    if (is_outside && repeats_border_) point = std::min(std::max(point, 0.0), size_ - 1.0);
    if (is_outside && mirrors_) point = mirror(point);
    if (!(point > -most)) return -most;
    return point < most ? point : most;
}

int64_t GridAxis::find_pixel(double place) const
{
    const bool is_inside = place >= 0 && place < size_;
    if (!is_inside && !repeats_border_ && !mirrors_) return -1;
    if (!is_inside && mirrors_) place = mirror(place);
    return static_cast<int64_t>(std::min(std::max(place, 0.0), size_ - 1.0));
}

GridTap GridAxis::find_tap(double value) const
{
    const double point = find_point(value), before = std::floor(point);
    const double share = point - before;
    return {{find_pixel(before), find_pixel(before + 1)}, {1 - share, 1 - (1 - share)}};
}

}  // namespace tengine::cpu

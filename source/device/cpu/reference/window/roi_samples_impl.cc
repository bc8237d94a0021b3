// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_to_index.h"
#include "device/cpu/reference/window/roi_samples.h"

namespace tengine::cpu {
namespace {

RoiGrid find_grid(double begin, double end, int bins, int sampling_ratio, bool at_least_one)
{
    const double size = at_least_one ? std::max(end - begin, 1.0) : end - begin;
    const double bin_size = size / bins;
    return {
        begin, bin_size,
        sampling_ratio > 0 ? sampling_ratio : float_to_index(std::ceil(bin_size), 0, INT32_MAX)};
}

}  // namespace

bool find_roi_taps(int height, int width, double y, double x, RoiTaps& out_taps)
{
    if (height == 0 || width == 0) return false;
    if (!(y >= -1 && y <= height && x >= -1 && x <= width)) return false;
    y = std::clamp<double>(y, 0, height - 1);
    x = std::clamp<double>(x, 0, width - 1);
    const int top = static_cast<int>(y), left = static_cast<int>(x);
    const int bottom = std::min(top + 1, height - 1);
    const int right = std::min(left + 1, width - 1);
    const double down = y - top, across = x - left;
    const int64_t upper = int64_t{top} * width, lower = int64_t{bottom} * width;
    out_taps = {
        {upper + left, upper + right, lower + left, lower + right},
        {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}};
    return true;
}

double RoiGrid::position(int bin, int64_t sample_index) const
{
    return start + (bin + (static_cast<double>(sample_index) + 0.5) / samples) * bin_size;
}

// Two more at either end allow for the rounding of positions.
RoiSamples RoiGrid::find_inside(int bin, int size) const
{
    if (bin_size == 0) return {0, samples};  // all samples coincide
    const auto find_index = [&](double at) {
        const double index = ((at - start) / bin_size - bin) * static_cast<double>(samples);
        return float_to_index(index, 0, samples);
    };
    const auto [first, last] = std::minmax({find_index(-1), find_index(size)});
    return {std::max<int64_t>(first - 2, 0), std::min(last + 2, samples)};
}

RoiGrids find_roi_grids(const roi_align_param& param, const double edges[4], int bin_rows,
                        int bin_columns)
{
    const bool half_pixel = std::strcmp(param.coordinate_transformation_mode, "half_pixel") == 0;
    const auto edge = [&](int index) {
        return edges[index] * param.spatial_scale - (half_pixel ? 0.5 : 0);
    };
    return {find_grid(edge(1), edge(3), bin_rows, param.sampling_ratio, !half_pixel),
            find_grid(edge(0), edge(2), bin_columns, param.sampling_ratio, !half_pixel)};
}

}  // namespace tengine::cpu

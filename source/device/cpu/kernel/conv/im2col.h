// SPDX-License-Identifier: Apache-2.0
// The im2col matrix of a convolution: a row for each input channel and tap, a column for each
// output position (K. Chellapilla et al., High Performance Convolutional Neural Networks for
// Document Processing, 2006).
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/shared/window_range.h"

namespace tengine::cpu {

// Writes columns begin..end-1 of one row: `valid` columns read row[column * stride + shift].
template <class T>
T* gather_columns(const T* row, const Range& valid, int64_t stride, int64_t shift, int64_t begin,
                  int64_t end, T padding, T* out)
{
    const int64_t first = std::clamp(valid.begin, begin, end);
    const int64_t last = std::clamp(valid.end, first, end);
    out = std::fill_n(out, first - begin, padding);
    if (stride == 1) {
        out = std::copy_n(row + first + shift, last - first, out);
    } else {
        for (int64_t column = first; column < last; ++column)
            *out++ = row[column * stride + shift];
    }
    return std::fill_n(out, end - last, padding);
}

// Writes row `row` of the matrix at positions begin..end-1; `input` is the group's.
template <class T>
void gather_row(const ConvProblem& conv, const T* input, int64_t row, int64_t begin, int64_t end,
                T padding, T* out)
{
    const auto& [depth, height, width] = conv.axes;
    const int64_t index = row % conv.taps;
    const int64_t tap[kConvAxes] = {index / width.kernel / height.kernel,
                                    index / width.kernel % height.kernel, index % width.kernel};
    const T* plane = input + row / conv.taps * conv.input_plane;
    const int64_t shift = tap[2] * width.dilation - width.pad_begin;
    const Range valid = positions_within(0, width.input, shift, width.stride, width.output);
    int64_t column = begin % width.output;
    int64_t y = begin / width.output % height.output;
    int64_t z = begin / width.output / height.output;
    while (begin < end) {
        const int64_t column_end = std::min<int64_t>(width.output, column + end - begin);
        const int64_t from_z = z * depth.stride - depth.pad_begin + tap[0] * depth.dilation;
        const int64_t from_y = y * height.stride - height.pad_begin + tap[1] * height.dilation;
        const bool inside =
            from_z >= 0 && from_z < depth.input && from_y >= 0 && from_y < height.input;
        const T* from = plane + (inside ? (from_z * height.input + from_y) * width.input : 0);
        out = gather_columns(from, inside ? valid : Range{0, 0}, width.stride, shift, column,
                             column_end, padding, out);
        begin += column_end - column;
        column = 0;
        if (++y == height.output) {
            y = 0;
            ++z;
        }
    }
}

}  // namespace tengine::cpu

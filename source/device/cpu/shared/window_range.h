// SPDX-License-Identifier: Apache-2.0
// The positions of an axis that a window covers, and the number of taps that count: for kernels
// that move a window over their input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "operator/onnx/window.h"

namespace tengine::cpu {

struct Range
{
    int64_t begin, end;
};

// The x in [0, limit) with begin <= x * stride + shift < end.
inline Range positions_within(int64_t begin, int64_t end, int64_t shift, int64_t stride,
                              int64_t limit)
{
    const auto first_from = [&](int64_t bound) {
        return bound <= shift ? 0 : (bound - shift + stride - 1) / stride;
    };
    return {std::min(first_from(begin), limit), std::min(first_from(end), limit)};
}

// Elements of the input of one channel.
inline int64_t input_plane_size(const window& window)
{
    int64_t size = 1;
    for (int i = 0; i < window.axis_num; ++i)
        size *= window.axes[i].input;
    return size;
}

// The most elements that one window can cover, at most those of the input.
inline int64_t most_taps(const window& shape)
{
    return std::min(multiply_window_kernel(&shape), input_plane_size(shape));
}

// Taps at output `position` that are on the input, or on input and padding.
inline int64_t count_taps(const window_axis& axis, int position, bool with_padding)
{
    int first = 0, last;
    if (with_padding) {
        const int64_t room =
            int64_t{axis.pad_begin} + axis.input + axis.pad_end - int64_t{position} * axis.stride;
        return std::min<int64_t>(axis.kernel, (room + axis.dilation - 1) / axis.dilation);
    }
    clip_window_taps(&axis, position, &first, &last);
    return last - first;
}

// Saturates: beyond INT64_MAX the mean differs negligibly.
inline int64_t multiply_counts(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace tengine::cpu

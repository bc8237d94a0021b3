// SPDX-License-Identifier: Apache-2.0
// The loop that convolutions and pools share: row after row of the output, and for each the rows of
// the kernel that meet the input. Kernels then work on the last axis, without bounds checks.
#pragma once

#include <cstdint>

#include "device/cpu/shared/window_range.h"
#include "operator/onnx/window.h"

namespace tengine::cpu {

// Outputs of the last axis that are computed together, with accumulators on the stack.
constexpr int kRowBlock = 128;

// Returns the number of output rows of one channel.
inline int64_t output_row_num(const window& window)
{
    int64_t size = 1;
    for (int i = 0; i < window.axis_num - 1; ++i)
        size *= window.axes[i].output;
    return size;
}

inline const window_axis& last_axis(const window& window)
{
    return window.axes[window.axis_num - 1];
}

// Computes the coordinates of output row `row` on the outer axes.
inline void locate_row(const window& window, int64_t row, int* out_position)
{
    for (int i = window.axis_num - 2; i >= 0; --i) {
        out_position[i] = static_cast<int>(row % window.axes[i].output);
        row /= window.axes[i].output;
    }
}

// Calls body(input_offset, tap_offset) for every kernel row that meets the input at an output row;
// the offsets are those of the input row and the kernel row within the channel.
template <bool kTransposed, class Body>
void for_each_kernel_row(const window& window, const int* position, const Body& body, int depth = 0,
                         int64_t input_row = 0, int64_t tap_row = 0)
{
    const window_axis& axis = window.axes[depth];
    if (depth == window.axis_num - 1) return body(input_row * axis.input, tap_row * axis.kernel);

    const auto descend = [&](int64_t input, int tap) {
        for_each_kernel_row<kTransposed>(window, position, body, depth + 1,
                                         input_row * axis.input + input,
                                         tap_row * axis.kernel + tap);
    };
    if constexpr (kTransposed) {
        for (int k = 0; k < axis.kernel; ++k) {
            const int64_t offset =
                int64_t{position[depth]} + axis.pad_begin - int64_t{k} * axis.dilation;
            if (offset >= 0 && offset % axis.stride == 0 && offset / axis.stride < axis.input)
                descend(offset / axis.stride, k);
        }
    } else {
        int first, last;
        clip_window_taps(&axis, position[depth], &first, &last);
        const int64_t start = int64_t{position[depth]} * axis.stride - axis.pad_begin;
        for (int k = first; k < last; ++k)
            descend(start + int64_t{k} * axis.dilation, k);
    }
}

}  // namespace tengine::cpu

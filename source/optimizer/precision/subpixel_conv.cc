// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/subpixel_conv.h"

#include <algorithm>
#include <climits>

namespace tengine {
namespace {

// Input i adds tap t to the position s i + t - pad, which is phase b of the Conv's position a with
// s a + b - crop: i = a + (b + pad - crop - t) / s, for all a.
SubpixelAxis find_window(const window_axis& axis, int crop)
{
    const int64_t stride = axis.stride;
    int64_t first = 0, last = 0;
    for (int64_t tap = 0; tap < axis.kernel; ++tap) {
        // One of the phases 0 to s - 1 has this tap.
        const int64_t at = axis.pad_begin - crop - tap;
        const int64_t phase = ((-at) % stride + stride) % stride;
        first = std::min(first, (at + phase) / stride);
        last = std::max(last, (at + phase) / stride);
    }
    const int64_t wanted = (int64_t{axis.output} + crop + stride - 1) / stride;
    const int64_t window = last - first + 1;
    const int64_t pad_end = std::max<int64_t>(wanted - 1 + last - (axis.input - 1), 0);
    const int64_t positions = axis.input - first + pad_end - window + 1;
    const int64_t shift = axis.pad_begin - crop - stride * first;
    if (std::max({window, pad_end, positions * stride, shift + stride}) > INT_MAX) return {};
    return {axis.kernel,
            axis.stride,
            crop,
            static_cast<int>(window),
            static_cast<int>(-first),
            static_cast<int>(pad_end),
            static_cast<int>(positions),
            axis.output,
            static_cast<int>(shift)};
}

}  // namespace

bool find_subpixel_axis(const window_axis& axis, SubpixelAxis* out_axis)
{
    if (axis.dilation != 1 && axis.kernel != 1) return false;
    const SubpixelAxis uncut = find_window(axis, 0);
    const SubpixelAxis cut = find_window(axis, axis.pad_begin % axis.stride);
    *out_axis = cut.window > 0 && cut.window < uncut.window ? cut : uncut;
    return out_axis->window > 0;
}

Vector<uint8_t> move_weights(const SubpixelConv& conv, const uint8_t* weights, const uint8_t* zeros,
                             int64_t zero_num)
{
    const auto& [y, x] = conv.axes;
    const int64_t taps = int64_t{y.kernel} * x.kernel;
    Vector<uint8_t> moved;
    moved.reserve(static_cast<size_t>(conv.channels()) *
                  static_cast<size_t>(conv.input_channels * conv.places()));
    for (int i = 0; i < conv.channels(); ++i) {
        const int channel = conv.find_channel(i), phase = conv.find_phase(i);
        const int64_t group = channel / conv.output_channels;
        const uint8_t zero = zeros[zero_num > 1 ? channel : 0];
        for (int64_t input = 0; input < conv.input_channels; ++input) {
            const int64_t line = (group * conv.input_channels + input) * conv.output_channels;
            const uint8_t* from = weights + (line + channel % conv.output_channels) * taps;
            for (int place = 0; place < conv.places(); ++place) {
                const int row = y.find_tap(phase / x.stride, place / x.window);
                const int column = x.find_tap(phase % x.stride, place % x.window);
                const bool is_tap = row >= 0 && column >= 0;
                moved.push_back(is_tap ? from[int64_t{row} * x.kernel + column] : zero);
            }
        }
    }
    return moved;
}

}  // namespace tengine

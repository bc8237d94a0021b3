// SPDX-License-Identifier: Apache-2.0
// The positions of Resize in its input, for kernels that copy or interpolate all channels of a
// position. A position that is rounded differently is another element: the file is compiled without
// fused multiply-adds, so that positions are those of the reference on every processor. The
// reference computes tf_crop_and_resize.
#pragma once

#include <cstdint>

#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

// The nearest element for each position of an axis, `step` times its index.
void find_nearest_offsets(const resize_param& param, const resize_axis& axis, int64_t input_size,
                          int64_t step, int64_t* out_offsets);

constexpr int kPixelTapBits = 11;

// The elements before and after a position, and the weight of the latter, in units of
// 2^-kPixelTapBits; the former has the rest.
struct PixelTap
{
    int64_t before, after;
    int32_t weight;
};

// The taps of all positions of an axis.
void find_pixel_taps(const resize_param& param, const resize_axis& axis, int64_t input_size,
                     PixelTap* out_taps);

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Where Resize looks in its input, for kernels that take or mix whole pixels. A position that is
// rounded differently is another pixel: the file is compiled without fused multiply-adds, so that
// positions are those of the reference on every processor. tf_crop_and_resize is left to it.
#pragma once

#include <cstdint>

#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

// The nearest element for each position of an axis, `step` times its index.
void find_nearest_offsets(const resize_param& param, const resize_axis& axis, int64_t input_size,
                          int64_t step, int64_t* out_offsets);

constexpr int kPixelTapBits = 11;

// The elements before and after a position, and how much of the latter counts, in units of
// 2^-kPixelTapBits; the former counts for the rest.
struct PixelTap
{
    int64_t before, after;
    int32_t weight;
};

// Those of all positions of an axis.
void find_pixel_taps(const resize_param& param, const resize_axis& axis, int64_t input_size,
                     PixelTap* out_taps);

}  // namespace tengine::cpu

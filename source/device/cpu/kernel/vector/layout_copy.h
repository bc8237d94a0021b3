// SPDX-License-Identifier: Apache-2.0
// Copies of an image of floats between layouts, for kernels that use NHWC internally. Copies of
// whole tensors are kernels themselves (plan/layout.h).
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Copies positions begin..end-1 of `plane` of an image, all channels, on the calling thread: from
// NCHW to NHWC, and back.
void copy_pixels_last(const float* planar, int64_t plane, int64_t channels, int64_t begin,
                      int64_t end, float* last);
void copy_pixels_planar(const float* last, int64_t plane, int64_t channels, int64_t begin,
                        int64_t end, float* planar);

}  // namespace tengine::cpu

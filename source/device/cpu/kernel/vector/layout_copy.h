// SPDX-License-Identifier: Apache-2.0
// Copies of an image of floats between layouts, for kernels that have channels last inside. Those
// of whole tensors are kernels themselves (plan/layout.h).
#pragma once

#include <cstdint>

namespace tengine::cpu {

// Pixels begin..end-1 of `plane` of an image, of all channels, on the calling thread: from one
// plane for each channel to pixels with all channels, and back.
void copy_pixels_last(const float* planar, int64_t plane, int64_t channels, int64_t begin,
                      int64_t end, float* last);
void copy_pixels_planar(const float* last, int64_t plane, int64_t channels, int64_t begin,
                        int64_t end, float* planar);

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// The samples of roi_align.cc along one axis. A sample counts or does not, and a different rounding
// could move it beyond the edge: the file is compiled without fused multiply-adds, so that
// positions are those of the reference on every processor.
#pragma once

#include <cstdint>

#include "operator/onnx/roi_param.h"

namespace tengine::cpu {

// The two elements around a sample, and the weight of each.
struct RoiTap
{
    int64_t pixels[2];
    double weights[2];
};

// A region split into bins along an axis of `size` elements.
class RoiAxis
{
  public:
    // `begin` and `end` are the edges of the region, in elements of the original image.
    RoiAxis(const roi_align_param& param, double begin, double end, int bins, int size);

    // The number of samples of each bin.
    int64_t sample_num() const { return sample_num_; }
    // The samples of a bin that may be inside the image; all others are 0.
    void find_inside(int bin, int64_t* out_first, int64_t* out_end) const;
    // False if a sample is 0: more than one element outside the image.
    bool find_tap(int bin, int64_t sample, RoiTap* out_tap) const;

  private:
    double begin_, bin_size_;
    int64_t sample_num_;
    int size_;
};

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// The elements of an axis that grid_sample.cc interpolates for a value of the grid. The file is
// compiled without fused multiply-adds, so that points are those of the reference on every
// processor.
#pragma once

#include <cstdint>

#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

// The two elements around a point, and the weight of each; element -1 is 0.
struct GridTap
{
    int64_t pixels[2];
    double weights[2];
};

// An axis of the image with `size` elements, in mode linear.
class GridAxis
{
  public:
    GridAxis(const grid_sample_param& param, int size);

    // For any value; -1 to 1 lie between the edges of the image.
    GridTap find_tap(double value) const;

  private:
    double find_point(double value) const;
    double mirror(double point) const;
    int64_t find_pixel(double place) const;

    double begin_, end_;  // the edges of the image
    int size_;
    bool repeats_border_, mirrors_;
};

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Which pixels of an axis grid_sample.cc mixes for a value of the grid. The file is compiled
// without fused multiply-adds, so that points are where the reference has them on every processor.
#pragma once

#include <cstdint>

#include "operator/onnx/resize_param.h"

namespace tengine::cpu {

// The two pixels around a point, and how much of each counts; pixel -1 is 0.
struct GridTap
{
    int64_t pixels[2];
    double weights[2];
};

// An axis of `size` pixels of the image, in mode linear.
class GridAxis
{
  public:
    GridAxis(const grid_sample_param& param, int size);

    // For a value of -1 to 1 between the edges of the image, or any other.
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

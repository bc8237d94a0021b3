// SPDX-License-Identifier: Apache-2.0
// The positions of RoiAlign's samples, computed in double.
#pragma once

#include <cstdint>

#include "operator/onnx/roi_param.h"

namespace tengine::cpu {

// The four pixels around a sample, and their weights: both of the upper row, then both of the lower
// one.
struct RoiTaps
{
    int64_t offsets[4];
    double weights[4];
};

// Finds the taps. False more than one pixel outside the plane, where a sample is 0.
bool find_roi_taps(int height, int width, double y, double x, RoiTaps& out_taps);

// Samples begin..end-1 of a bin along one axis.
struct RoiSamples
{
    int64_t begin, end;

    double number() const { return static_cast<double>(end - begin); }
};

// A region cut into bins, and the samples taken of each bin along one axis.
struct RoiGrid
{
    double start, bin_size;
    int64_t samples;

    double position(int bin, int64_t sample_index) const;

    // Returns the samples of a bin that may be in a plane of `size` pixels; all others are 0.
    RoiSamples find_inside(int bin, int size) const;
};

struct RoiGrids
{
    RoiGrid rows, columns;

    // Returns the number of samples of each bin.
    double count() const
    {
        return static_cast<double>(rows.samples) * static_cast<double>(columns.samples);
    }
};

// Computes the grids of the region with these edges: x and y of its beginning, x and y of its end.
RoiGrids find_roi_grids(const roi_align_param& param, const double edges[4], int bin_rows,
                        int bin_columns);

}  // namespace tengine::cpu

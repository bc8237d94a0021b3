// SPDX-License-Identifier: Apache-2.0
// Where elements are: shapes with the channels last, boxes of rows, and places in the buffer.
// Tensors of rank 4 lie as images x rows x columns x channels; those of other ranks as they are,
// the last axis being the channels, so that a shape may be seen in several ways.
#pragma once

#include <cstdint>

#include "tengine/ir.h"

namespace tengine::tpu {

struct Shape
{
    int n = 1, h = 1, w = 1, c = 1;
    bool operator==(const Shape& o) const { return n == o.n && h == o.h && w == o.w && c == o.c; }
    bool operator!=(const Shape& o) const { return !(*this == o); }
    int64_t elements() const { return int64_t{n} * h * w * c; }
    // The same bytes as one column of vectors.
    Shape flattened() const { return {1, n * h * w, 1, c}; }
};

// The shape of a tensor whose dimensions are known; rank 4 is taken with the channels last, in
// others the last axis is c, the one before it h, and all in front of that n.
Shape shape_of(const tensor& tensor);

// Rows [y0, y1) of each of the images [n0, n1), over the whole width. Rows of a frame have numbers
// below 0 or from the height on.
struct Box
{
    int n0 = 0, n1 = 0, y0 = 0, y1 = 0;
    bool operator==(const Box& o) const
    {
        return n0 == o.n0 && n1 == o.n1 && y0 == o.y0 && y1 == o.y1;
    }
    int images() const { return n1 - n0; }
    int rows() const { return y1 - y0; }
};

// Elements around each image that are kept with a value's zero, for windows that reach beyond it.
struct Frame
{
    int top = 0, left = 0, bottom = 0, right = 0;
    bool empty() const { return top == 0 && left == 0 && bottom == 0 && right == 0; }
};

// Part of a value in the buffer. Columns are adjacent (pixel = channels * bytes).
struct Place
{
    int64_t base = 0;  // that of image 0, row 0, column 0, which may lie outside
    int64_t image = 0, row = 0, pixel = 0;
    int64_t at(int n, int y, int x) const { return base + n * image + y * row + x * pixel; }
};

}  // namespace tengine::tpu

// SPDX-License-Identifier: Apache-2.0
// The smallest rectangle around a region, in any direction.
#pragma once

#include "drawing.h"
#include "region.h"

struct rectangle
{
    struct point centre;
    struct point axis;  // unit vector of the side that is more horizontal, to the right
    float width;        // along the axis
    float height;
};

// Corners in the order of reading.
struct box
{
    struct point corners[4];
};

// Returns 0, or -1 after a message.
int rectangle_around(const struct region* region, struct rectangle* out_rectangle);

// The corners from the upper left one, clockwise. Text in a tall rectangle reads downwards: there
// the first corner is the upper right one.
struct box rectangle_corners(const struct rectangle* rectangle);

// SPDX-License-Identifier: Apache-2.0
// Lines, boxes and dots on a picture. Pixels outside of the picture are not drawn.
#pragma once

#include "picture.h"

struct point
{
    float x;  // pixels from the left edge of the picture
    float y;  // pixels from its upper edge
};

struct colour
{
    unsigned char red, green, blue;
};

// `thickness`: pixels, 1 or more.
void draw_line(struct picture* picture, struct point from, struct point to, int thickness,
               struct colour colour);

// The outline of a polygon.
void draw_polygon(struct picture* picture, const struct point corners[], int corner_num,
                  int thickness, struct colour colour);

// A square of `thickness` pixels around a point.
void draw_dot(struct picture* picture, struct point centre, int thickness, struct colour colour);

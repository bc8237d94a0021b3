// SPDX-License-Identifier: Apache-2.0
// Lines, boxes and dots on a picture.
#include "drawing.h"

#include <math.h>

// Pixels outside of this are on no picture; the comparison is false for NaN.
static int is_near(float position)
{
    return fabsf(position) < 1e6f;
}

static void draw_pixel(struct picture* picture, int x, int y, struct colour colour)
{
    if (x < 0 || x >= picture->width || y < 0 || y >= picture->height) return;
    unsigned char* pixel = picture->pixels + ((size_t)y * (size_t)picture->width + (size_t)x) * 3;
    pixel[0] = colour.red;
    pixel[1] = colour.green;
    pixel[2] = colour.blue;
}

void draw_dot(struct picture* picture, struct point centre, int thickness, struct colour colour)
{
    if (!is_near(centre.x) || !is_near(centre.y)) return;
    const int left = (int)floorf(centre.x - 0.5f * (float)(thickness - 1));
    const int top = (int)floorf(centre.y - 0.5f * (float)(thickness - 1));
    for (int y = top; y < top + thickness; ++y)
        for (int x = left; x < left + thickness; ++x)
            draw_pixel(picture, x, y, colour);
}

void draw_line(struct picture* picture, struct point from, struct point to, int thickness,
               struct colour colour)
{
    const float length = fmaxf(fabsf(to.x - from.x), fabsf(to.y - from.y));
    if (!is_near(length)) return;
    const int step_num = (int)length + 1;
    for (int i = 0; i <= step_num; ++i) {
        const float part = (float)i / (float)step_num;
        const struct point at = {from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)};
        draw_dot(picture, at, thickness, colour);
    }
}

void draw_polygon(struct picture* picture, const struct point corners[], int corner_num,
                  int thickness, struct colour colour)
{
    for (int i = 0; i < corner_num; ++i)
        draw_line(picture, corners[i], corners[(i + 1) % corner_num], thickness, colour);
}

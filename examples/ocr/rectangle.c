// SPDX-License-Identifier: Apache-2.0
// The smallest rectangle around a region. One of its sides is on a side of the convex hull (H.
// Freeman, R. Shapira, "Determining the minimum-area encasing rectangle", CACM 1975).
#include "rectangle.h"

#include <math.h>
#include <stdlib.h>

#include "message.h"

struct hull
{
    struct point* points;
    int count;
};

static float cross(struct point from, struct point middle, struct point to)
{
    return (middle.x - from.x) * (to.y - from.y) - (middle.y - from.y) * (to.x - from.x);
}

// Adds a point to a chain that began with point `start`, without the points that it makes hollow.
static void add_point(struct hull* hull, int start, struct point point)
{
    while (hull->count >= start + 2 &&
           cross(hull->points[hull->count - 2], hull->points[hull->count - 1], point) >= 0)
        --hull->count;
    hull->points[hull->count++] = point;
}

// The extent of the region at the upper edge of row `y`: that of the wider of both rows.
static struct point left_of(const struct region* region, int y)
{
    const int above = region->left[y > 0 ? y - 1 : y];
    const int below = region->left[y < region->row_num ? y : y - 1];
    const struct point point = {(float)(above < below ? above : below), (float)(region->top + y)};
    return point;
}

static struct point right_of(const struct region* region, int y)
{
    const int above = region->right[y > 0 ? y - 1 : y];
    const int below = region->right[y < region->row_num ? y : y - 1];
    const struct point point = {(float)(above > below ? above : below), (float)(region->top + y)};
    return point;
}

// The convex hull: down along the left side, up along the right one (A. M. Andrew, "Another
// efficient algorithm for convex hulls in two dimensions", 1979; rows are in order already).
static int hull_create(const struct region* region, struct hull* out_hull)
{
    out_hull->count = 0;
    out_hull->points = calloc(2 * ((size_t)region->row_num + 1), sizeof(struct point));
    if (!out_hull->points) return fail("out of memory for a region of %d rows", region->row_num);
    for (int y = 0; y <= region->row_num; ++y)
        add_point(out_hull, 0, left_of(region, y));
    const int start = out_hull->count - 1;
    for (int y = region->row_num; y >= 0; --y)
        add_point(out_hull, start, right_of(region, y));
    return 0;
}

// The axis of the rectangle with a side along this vector.
static struct point axis_along(float x, float y)
{
    const float length = hypotf(x, y);
    struct point axis = {x / length, y / length};
    if (fabsf(axis.y) > fabsf(axis.x)) {
        const struct point turned = {axis.y, -axis.x};
        axis = turned;
    }
    if (axis.x < 0) {
        axis.x = -axis.x;
        axis.y = -axis.y;
    }
    return axis;
}

static struct rectangle rectangle_along(const struct hull* hull, struct point axis)
{
    float least_u = HUGE_VALF, most_u = -HUGE_VALF, least_v = HUGE_VALF, most_v = -HUGE_VALF;
    for (int i = 0; i < hull->count; ++i) {
        const struct point point = hull->points[i];
        const float u = point.x * axis.x + point.y * axis.y;
        const float v = point.y * axis.x - point.x * axis.y;
        least_u = fminf(least_u, u);
        most_u = fmaxf(most_u, u);
        least_v = fminf(least_v, v);
        most_v = fmaxf(most_v, v);
    }
    const float u = (least_u + most_u) / 2;
    const float v = (least_v + most_v) / 2;
    const struct rectangle rectangle = {{u * axis.x - v * axis.y, u * axis.y + v * axis.x},
                                        axis,
                                        most_u - least_u,
                                        most_v - least_v};
    return rectangle;
}

int rectangle_around(const struct region* region, struct rectangle* out_rectangle)
{
    struct hull hull;
    float least_area = HUGE_VALF;
    if (hull_create(region, &hull) < 0) return -1;
    for (int i = 0; i < hull.count; ++i) {
        const struct point from = hull.points[i];
        const struct point to = hull.points[(i + 1) % hull.count];
        const struct rectangle rectangle =
            rectangle_along(&hull, axis_along(to.x - from.x, to.y - from.y));
        const float area = rectangle.width * rectangle.height;
        if (area < least_area) *out_rectangle = rectangle;
        least_area = fminf(least_area, area);
    }
    free(hull.points);
    return 0;
}

struct box rectangle_corners(const struct rectangle* rectangle)
{
    static const float kSides[4][2] = {{-0.5f, -0.5f}, {0.5f, -0.5f}, {0.5f, 0.5f}, {-0.5f, 0.5f}};
    const int first = rectangle->height >= 1.5f * rectangle->width;
    const struct point axis = rectangle->axis;
    struct box box;
    for (int i = 0; i < 4; ++i) {
        const float u = kSides[(first + i) % 4][0] * rectangle->width;
        const float v = kSides[(first + i) % 4][1] * rectangle->height;
        box.corners[i].x = rectangle->centre.x + u * axis.x - v * axis.y;
        box.corners[i].y = rectangle->centre.y + u * axis.y + v * axis.x;
    }
    return box;
}

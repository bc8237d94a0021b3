// SPDX-License-Identifier: Apache-2.0
// Merges the detections of one face, as MediaPipe's weighted non-maximum suppression does: the
// average trembles less from frame to frame than the most probable detection.
#include "suppression.h"

#include <math.h>
#include <stdlib.h>

static const float kSameFace = 0.3f;  // detections are of one face from this overlap on

static int compare_probabilities(const void* a, const void* b)
{
    const struct face* first = a;
    const struct face* second = b;
    return (first->probability < second->probability) - (first->probability > second->probability);
}

// The length that two intervals share.
static float shared_length(float centre, float length, float other_centre, float other_length)
{
    const float begin = fmaxf(centre - length / 2, other_centre - other_length / 2);
    const float end = fminf(centre + length / 2, other_centre + other_length / 2);
    return fmaxf(end - begin, 0);
}

// The area of the intersection as a share of the area of the union.
static float overlap(const struct face* a, const struct face* b)
{
    const float shared = shared_length(a->centre.x, a->width, b->centre.x, b->width) *
                         shared_length(a->centre.y, a->height, b->centre.y, b->height);
    const float together = a->width * a->height + b->width * b->height - shared;
    return together > 0 ? shared / together : 0;
}

static void add_point(struct point* sum, struct point point, float weight)
{
    sum->x += weight * point.x;
    sum->y += weight * point.y;
}

// Adds `weight` x the positions of a face to a sum.
static void add_weighted(struct face* sum, const struct face* face, float weight)
{
    add_point(&sum->centre, face->centre, weight);
    sum->width += weight * face->width;
    sum->height += weight * face->height;
    for (int i = 0; i < kKeyPointNum; ++i)
        add_point(&sum->key_points[i], face->key_points[i], weight);
}

// Replaces the first face by the average of those that overlap it; the others stay behind it.
static void merge_first(struct faces* faces)
{
    const struct face first = faces->items[0];
    struct face sum = {0};
    float weight = 0;
    int count = 1;
    for (int i = 0; i < faces->count; ++i) {
        const struct face face = faces->items[i];
        if (i > 0 && overlap(&first, &face) <= kSameFace) {
            faces->items[count++] = face;
            continue;
        }
        add_weighted(&sum, &face, face.probability);
        weight += face.probability;
    }
    const struct face none = {0};
    faces->items[0] = none;
    add_weighted(&faces->items[0], &sum, 1 / weight);
    faces->items[0].probability = first.probability;
    faces->count = count;
}

void suppress_weighted(struct faces* faces)
{
    if (faces->count == 0) return;
    qsort(faces->items, (size_t)faces->count, sizeof *faces->items, compare_probabilities);
    for (int i = 0; i < faces->count; ++i) {
        struct faces rest = {faces->items + i, faces->count - i};
        merge_first(&rest);
        faces->count = i + rest.count;
    }
}

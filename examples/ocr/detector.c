// SPDX-License-Identifier: Apache-2.0
// Finds the lines of text on a picture by differentiable binarisation (M. Liao et al., "Real-time
// scene text detection with differentiable binarization", AAAI 2020): the network gives each pixel
// the probability that it belongs to shrunken text.
#include "detector.h"

#include <math.h>
#include <stdlib.h>

#include "message.h"

static const float kLongestSide = 960;  // pixels of the picture that the network sees
static const float kTextPixel = 0.3f;   // a pixel belongs to text above this probability
static const float kTextRegion = 0.6f;  // and a region if this is its average
static const float kUnclip = 1.5f;      // regions grow by this share of area / perimeter
static const float kSmallestSide = 3;   // pixels of a region, before it grows

// The network takes multiples of 32 pixels.
static int input_size(int size, float factor)
{
    const int multiple = 32 * (int)lroundf((float)size * factor / 32);
    return multiple > 32 ? multiple : 32;
}

// The picture as the input of the network: blue first, with ImageNet's mean and deviation of red.
static int feed(struct network* network, const struct picture* picture)
{
    static const float kMean[3] = {0.406f * 255, 0.456f * 255, 0.485f * 255};
    static const float kDeviation[3] = {0.225f * 255, 0.224f * 255, 0.229f * 255};
    const int longest = picture->width > picture->height ? picture->width : picture->height;
    const float factor = fminf(1, kLongestSide / (float)longest);
    const struct tengine_image_target target = {
        TENGINE_DT_FP32,
        {1, 3, input_size(picture->height, factor), input_size(picture->width, factor)},
        0,
        0};
    const struct tengine_image image = picture_view(picture);
    struct tengine_image_settings settings;
    if (tengine_image_settings_init(&settings, sizeof settings) < 0) return -1;
    settings.format = TENGINE_IMAGE_BGR;
    for (int c = 0; c < 3; ++c) {
        settings.mean[c] = kMean[c];
        settings.scale[c] = 1 / kDeviation[c];
    }
    float* values = network_input(network, target.dims, 4);
    if (!values) return -1;
    const size_t value_num = (size_t)3 * (size_t)target.dims[2] * (size_t)target.dims[3];
    return tengine_image_convert(&image, 1, &settings, &target, values, value_num * sizeof(float));
}

static int add_box(const struct box* box, struct boxes* boxes)
{
    if (boxes->count == boxes->capacity) {
        const int capacity = boxes->capacity > 0 ? 2 * boxes->capacity : 16;
        struct box* items = realloc(boxes->items, (size_t)capacity * sizeof *items);
        if (!items) return fail("out of memory for %d boxes", capacity);
        boxes->items = items;
        boxes->capacity = capacity;
    }
    boxes->items[boxes->count++] = *box;
    return 0;
}

// From pixels of the map to pixels of the picture, without what is outside.
static void scale_box(struct box* box, const struct picture* picture, int width, int height)
{
    for (int i = 0; i < 4; ++i) {
        struct point* corner = &box->corners[i];
        const float x = corner->x * (float)picture->width / (float)width;
        const float y = corner->y * (float)picture->height / (float)height;
        corner->x = fminf(fmaxf(x, 0), (float)picture->width);
        corner->y = fminf(fmaxf(y, 0), (float)picture->height);
    }
}

// Adds the box of a region, unless it is too small or too improbable.
static int add_region(const struct region* region, const struct picture* picture, int width,
                      int height, struct boxes* boxes)
{
    struct rectangle rectangle;
    if (region->score < kTextRegion) return 0;
    if (rectangle_around(region, &rectangle) < 0) return -1;
    if (fminf(rectangle.width, rectangle.height) < kSmallestSide) return 0;
    const float perimeter = 2 * (rectangle.width + rectangle.height);
    const float grown = 2 * kUnclip * rectangle.width * rectangle.height / perimeter;
    rectangle.width += grown;
    rectangle.height += grown;
    struct box box = rectangle_corners(&rectangle);
    scale_box(&box, picture, width, height);
    return add_box(&box, boxes);
}

static float top_of(const struct box* box)
{
    return fminf(fminf(box->corners[0].y, box->corners[1].y),
                 fminf(box->corners[2].y, box->corners[3].y));
}

static float bottom_of(const struct box* box)
{
    return fmaxf(fmaxf(box->corners[0].y, box->corners[1].y),
                 fmaxf(box->corners[2].y, box->corners[3].y));
}

static float left_of(const struct box* box)
{
    return fminf(fminf(box->corners[0].x, box->corners[1].x),
                 fminf(box->corners[2].x, box->corners[3].x));
}

static int compare_tops(const void* a, const void* b)
{
    const float difference = top_of(a) - top_of(b);
    return (difference > 0) - (difference < 0);
}

static int compare_lefts(const void* a, const void* b)
{
    const float difference = left_of(a) - left_of(b);
    return (difference > 0) - (difference < 0);
}

// Boxes whose tops differ by less than half of the first one's height are a row.
static void sort_boxes(struct boxes* boxes)
{
    struct box* items = boxes->items;
    if (boxes->count > 0) qsort(items, (size_t)boxes->count, sizeof *items, compare_tops);
    for (int begin = 0, end = 0; begin < boxes->count; begin = end) {
        const float top = top_of(&items[begin]);
        const float most = (bottom_of(&items[begin]) - top) / 2;
        for (end = begin + 1; end < boxes->count && top_of(&items[end]) - top < most;)
            ++end;
        qsort(items + begin, (size_t)(end - begin), sizeof *items, compare_lefts);
    }
}

int detect_lines(struct network* network, const struct picture* picture, struct boxes* out_boxes)
{
    int dims[4];  // 1 x 1 x height x width
    struct region region;
    struct region_search search;
    if (feed(network, picture) < 0 || network_run(network) < 0) return -1;
    const float* map = network_output(network, 0, dims, 4);
    if (!map) return -1;
    int status = region_search_begin(map, dims[3], dims[2], kTextPixel, &search);
    while (status == 0 && region_search_next(&search, &region))
        status = add_region(&region, picture, dims[3], dims[2], out_boxes);
    region_search_end(&search);
    sort_boxes(out_boxes);
    return status;
}

void boxes_free(struct boxes* boxes)
{
    free(boxes->items);
}

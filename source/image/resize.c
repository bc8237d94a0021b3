// SPDX-License-Identifier: Apache-2.0
// Two passes over bytes with integer weights, as in Pillow's Resample.c, so that every rounding is
// identical.
#include "image/resize.h"

#include <math.h>

#include "base/alloc.h"

enum
{
    WEIGHT_BITS = 22  // of the fraction
};

// The old pixels that each new pixel of an axis is made of, and their weights. For any number of
// weights their sum times 255 fits into an int: their rounding at most doubles it.
typedef struct weights
{
    int most;      // old pixels of one new pixel
    int* first;    // [new pixels]
    int* number;   // [new pixels]
    int* weights;  // [new pixels, most]
} weights_t;

static void free_weights(weights_t* weights)
{
    free_memory(weights->first);
    free_memory(weights->number);
    free_memory(weights->weights);
}

static int allocate_weights(size_t pixels, int most, weights_t* out)
{
    size_t bytes = 0;
    out->most = most;
    out->first = alloc_memory(pixels * sizeof(int));
    out->number = alloc_memory(pixels * sizeof(int));
    const bool fits = checked_multiply(pixels, (size_t)most * sizeof(int), &bytes);
    out->weights = fits ? alloc_memory(bytes) : NULL;
    if (out->first && out->number && out->weights) return TENGINE_OK;
    free_weights(out);
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for %zu x %d weights of a resize",
                             pixels, most);
}

static double triangle(double distance)
{
    return fmax(0, 1 - fabs(distance));
}

// Computes the triangle's height at each old pixel's centre, relative to their sum.
static void weigh(double center, double width, int original, int* out_first, int* out_number,
                  int* out_weights)
{
    int first = (int)(center - width + 0.5);
    int last = (int)(center + width + 0.5);
    if (first < 0) first = 0;
    if (last > original) last = original;
    double sum = 0;
    for (int i = first; i < last; ++i)
        sum += triangle((i - center + 0.5) * (1 / width));
    for (int i = first; i < last; ++i) {
        const double share = triangle((i - center + 0.5) * (1 / width)) / sum;
        out_weights[i - first] = (int)(0.5 + share * (1 << WEIGHT_BITS));
    }
    *out_first = first;
    *out_number = last - first;
}

static int make_weights(int original, const image_axis_t* axis, weights_t* out)
{
    const double ratio = (double)(axis->high - axis->low) / axis->resized;
    const double width = fmax(ratio, 1.0);
    const int64_t most = (int64_t)ceil(width) * 2 + 1;
    TENGINE_RETURN_IF_ERROR(
        allocate_weights((size_t)axis->number, most < original ? (int)most : original, out));
    for (int i = 0; i < axis->number; ++i)
        weigh(axis->low + (axis->first + i + 0.5) * ratio, width, original, &out->first[i],
              &out->number[i], out->weights + (size_t)i * (size_t)out->most);
    return TENGINE_OK;
}

static uint8_t to_byte(int sum)
{
    const int value = sum >> WEIGHT_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void narrow_grey_row(const uint8_t* from, const weights_t* columns, int width, uint8_t* out)
{
    for (int x = 0; x < width; ++x) {
        const int* weight = columns->weights + (size_t)x * (size_t)columns->most;
        const uint8_t* begin = from + columns->first[x];
        int sum = 1 << (WEIGHT_BITS - 1);
        for (int k = 0; k < columns->number[x]; ++k)
            sum += weight[k] * begin[k];
        *out++ = to_byte(sum);
    }
}

static void narrow_colour_row(const uint8_t* from, const weights_t* columns, int width,
                              uint8_t* out)
{
    for (int x = 0; x < width; ++x) {
        const int* weight = columns->weights + (size_t)x * (size_t)columns->most;
        const uint8_t* pixel = from + 3 * (size_t)columns->first[x];
        int red = 1 << (WEIGHT_BITS - 1), green = red, blue = red;
        for (int k = 0; k < columns->number[x]; ++k, pixel += 3) {
            red += weight[k] * pixel[0];
            green += weight[k] * pixel[1];
            blue += weight[k] * pixel[2];
        }
        *out++ = to_byte(red);
        *out++ = to_byte(green);
        *out++ = to_byte(blue);
    }
}

// Adds row by row, so that the sums of a row vectorise.
static void blend_rows(const uint8_t* from, size_t row_bytes, const int* weights, int number,
                       int* sums, uint8_t* out)
{
    for (size_t i = 0; i < row_bytes; ++i)
        sums[i] = 1 << (WEIGHT_BITS - 1);
    for (int k = 0; k < number; ++k)
        for (size_t i = 0; i < row_bytes; ++i)
            sums[i] += weights[k] * from[(size_t)k * row_bytes + i];
    for (size_t i = 0; i < row_bytes; ++i)
        out[i] = to_byte(sums[i]);
}

// The old rows that the new ones are made of.
static void find_rows(const weights_t* rows, int number, int* out_first, int* out_number)
{
    int first = rows->first[0], last = 0;
    for (int i = 0; i < number; ++i) {
        if (rows->first[i] < first) first = rows->first[i];
        if (rows->first[i] + rows->number[i] > last) last = rows->first[i] + rows->number[i];
    }
    *out_first = first;
    *out_number = last - first;
}

static int resize_by(const picture_t* from, const weights_t* columns, const weights_t* rows,
                     int width, int height, uint8_t* out_bytes, size_t out_row_bytes)
{
    const size_t row_bytes = (size_t)width * (size_t)from->channels;
    int first, number;
    size_t bytes = 0;
    find_rows(rows, height, &first, &number);
    const bool fits = checked_multiply((size_t)number, row_bytes, &bytes);
    uint8_t* narrow = fits ? alloc_raw_memory(bytes) : NULL;
    int* sums = alloc_memory(row_bytes * sizeof(int));
    if (narrow && sums) {
        for (int y = 0; y < number; ++y)
            (from->channels == 1 ? narrow_grey_row : narrow_colour_row)(
                from->bytes + (size_t)(first + y) * from->row_bytes, columns, width,
                narrow + (size_t)y * row_bytes);
        for (int y = 0; y < height; ++y)
            blend_rows(narrow + (size_t)(rows->first[y] - first) * row_bytes, row_bytes,
                       rows->weights + (size_t)y * (size_t)rows->most, rows->number[y], sums,
                       out_bytes + (size_t)y * out_row_bytes);
    }
    const int status = narrow && sums
                           ? TENGINE_OK
                           : tengine_error_set(TENGINE_ENOMEM,
                                               "out of memory for a resize of %d x %d pixels to "
                                               "%d x %d",
                                               from->width, from->height, width, height);
    free_memory(narrow);
    free_memory(sums);
    return status;
}

int resize_picture(const picture_t* from, const image_axis_t* columns, const image_axis_t* rows,
                   uint8_t* out_bytes, size_t out_row_bytes)
{
    weights_t across, down;
    TENGINE_RETURN_IF_ERROR(make_weights(from->width, columns, &across));
    int status = make_weights(from->height, rows, &down);
    if (status == TENGINE_OK) {
        status = resize_by(from, &across, &down, columns->number, rows->number, out_bytes,
                           out_row_bytes);
        free_weights(&down);
    }
    free_weights(&across);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// Two passes over bytes with integer weights, as in Pillow's Resample.c, so that every rounding is
// identical.
#include "resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    WEIGHT_BITS = 22  // of the fraction
};

// The old pixels that each new pixel of an axis is made of, and their weights.
struct weights
{
    int most;      // old pixels of one new pixel
    int* first;    // [new pixels]
    int* number;   // [new pixels]
    int* weights;  // [new pixels, most]
};

static void free_weights(struct weights* weights)
{
    free(weights->first);
    free(weights->number);
    free(weights->weights);
}

static int allocate_weights(int resized, int most, struct weights* out)
{
    const size_t pixels = (size_t)resized;
    out->most = most;
    out->first = calloc(pixels, sizeof(int));
    out->number = calloc(pixels, sizeof(int));
    out->weights = calloc(pixels * (size_t)most, sizeof(int));
    if (out->first && out->number && out->weights) return 0;
    free_weights(out);
    return -1;
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
        sum += fmax(0, 1 - fabs((i - center + 0.5) * (1 / width)));
    for (int i = first; i < last; ++i) {
        const double share = fmax(0, 1 - fabs((i - center + 0.5) * (1 / width))) / sum;
        out_weights[i - first] = (int)(0.5 + share * (1 << WEIGHT_BITS));
    }
    *out_first = first;
    *out_number = last - first;
}

static int make_weights(int original, float low, float high, int resized, struct weights* out)
{
    const double ratio = (double)(high - low) / resized;
    const double width = fmax(ratio, 1.0);
    if (allocate_weights(resized, (int)ceil(width) * 2 + 1, out) < 0) return -1;
    for (int i = 0; i < resized; ++i)
        weigh(low + (i + 0.5) * ratio, width, original, &out->first[i], &out->number[i],
              out->weights + (size_t)i * (size_t)out->most);
    return 0;
}

static unsigned char to_byte(int sum)
{
    const int value = sum >> WEIGHT_BITS;
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// Resizes along one axis: pixels are `step` bytes apart, there are `lines` lines that are
// `line_step` bytes apart, in runs of `run` bytes.
struct pass
{
    size_t step;
    size_t lines;
    size_t line_step;
    size_t out_step;
    size_t out_line_step;
    size_t run;
};

static void resample(const unsigned char* from, const struct pass* pass,
                     const struct weights* weights, int resized, unsigned char* to)
{
    for (size_t line = 0; line < pass->lines; ++line) {
        for (int i = 0; i < resized; ++i) {
            const int* weight = weights->weights + (size_t)i * (size_t)weights->most;
            const unsigned char* begin =
                from + line * pass->line_step + (size_t)weights->first[i] * pass->step;
            unsigned char* out = to + line * pass->out_line_step + (size_t)i * pass->out_step;
            for (size_t c = 0; c < pass->run; ++c) {
                int sum = 1 << (WEIGHT_BITS - 1);
                for (int k = 0; k < weights->number[i]; ++k)
                    sum += weight[k] * begin[(size_t)k * pass->step + c];
                out[c] = to_byte(sum);
            }
        }
    }
}

static int resize_by(const struct picture* from, const struct weights* columns,
                     const struct weights* rows, int height, int width, unsigned char* out_bytes)
{
    const size_t pixel = (size_t)from->channels;
    const size_t row = (size_t)width * pixel;
    unsigned char* narrow = malloc((size_t)from->height * row);
    if (!narrow) return -1;
    const struct pass along = {pixel, (size_t)from->height, (size_t)from->width * pixel, pixel, row,
                               pixel};
    resample(from->bytes, &along, columns, width, narrow);
    const struct pass down = {row, 1, 0, row, 0, row};
    resample(narrow, &down, rows, height, out_bytes);
    free(narrow);
    return 0;
}

int picture_resize(const struct picture* from, const struct picture_box* box, int height, int width,
                   unsigned char* out_bytes)
{
    struct weights columns, rows;
    if (make_weights(from->width, box->left, box->right, width, &columns) < 0) return -1;
    int status = make_weights(from->height, box->top, box->bottom, height, &rows);
    if (status == 0) {
        status = resize_by(from, &columns, &rows, height, width, out_bytes);
        free_weights(&rows);
    }
    free_weights(&columns);
    return status;
}

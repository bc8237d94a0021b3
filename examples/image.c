// SPDX-License-Identifier: Apache-2.0
// Image files as network input: stb_image decodes, the rest is here.
#include "image.h"

#include <math.h>
#include <stddef.h>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#define STBI_NO_LINEAR
#include <stb_image.h>

struct pixels
{
    const unsigned char* bytes;  // [height, width, channels]
    int channels;
    int height;
    int width;
};

// A stretch of one axis, in pixels of the file's image; pixel i covers i..i+1.
struct interval
{
    double low;
    double high;
};

// What the pixel `index` of a resized axis averages: its own share of the axis, but at least the
// width of one pixel. That makes it area averaging where the image shrinks (and exact where the
// factor is whole), and linear interpolation where it grows.
static struct interval interval_of(int index, int resized, int original)
{
    const double ratio = (double)original / resized;
    const double length = fmax(ratio, 1.0);
    const double low = (index + 0.5) * ratio - length / 2;
    struct interval result;
    result.low = fmin(fmax(low, 0.0), original - length);
    result.high = fmin(result.low + length, original);
    return result;
}

static double overlap(struct interval interval, int pixel)
{
    return fmin(interval.high, pixel + 1.0) - fmax(interval.low, pixel);
}

static double average(const struct pixels* image, int channel, struct interval rows,
                      struct interval columns)
{
    double sum = 0.0;
    double area = 0.0;
    for (int y = (int)rows.low; y < rows.high; ++y) {
        const unsigned char* row = image->bytes + (size_t)y * image->width * image->channels;
        for (int x = (int)columns.low; x < columns.high; ++x) {
            const double weight = overlap(rows, y) * overlap(columns, x);
            sum += weight * row[(size_t)x * image->channels + channel];
            area += weight;
        }
    }
    return sum / area;
}

static void resize(const struct pixels* image, int height, int width,
                   const struct image_values* values, float* out_planes)
{
    for (int c = 0; c < image->channels; ++c) {
        for (int y = 0; y < height; ++y) {
            const struct interval rows = interval_of(y, height, image->height);
            for (int x = 0; x < width; ++x) {
                const struct interval columns = interval_of(x, width, image->width);
                const double pixel = average(image, c, rows, columns);
                *out_planes++ = ((float)pixel - values->mean[c]) * values->scale[c];
            }
        }
    }
}

const char* image_load(const char* path, int channels, int height, int width,
                       const struct image_values* values, float* out_planes)
{
    struct pixels image;
    int channels_in_file;
    unsigned char* bytes =
        stbi_load(path, &image.width, &image.height, &channels_in_file, channels);
    if (bytes == NULL) return stbi_failure_reason();
    image.bytes = bytes;
    image.channels = channels;
    resize(&image, height, width, values, out_planes);
    stbi_image_free(bytes);
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
// The picture of a line of text.
#include "line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static int distance(struct point from, struct point to)
{
    const int pixels = (int)lroundf(hypotf(to.x - from.x, to.y - from.y));
    return pixels > 1 ? pixels : 1;
}

static int clamp(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

// The pixel at a place between pixels, whose centres are at halves.
static void sample(const struct picture* picture, float x, float y, unsigned char out_pixel[3])
{
    const size_t row_bytes = (size_t)picture->width * 3;
    const float left = floorf(x - 0.5f);
    const float top = floorf(y - 0.5f);
    const float right_share = x - 0.5f - left;
    const float bottom_share = y - 0.5f - top;
    const size_t x0 = 3 * (size_t)clamp((int)left, picture->width - 1);
    const size_t x1 = 3 * (size_t)clamp((int)left + 1, picture->width - 1);
    const unsigned char* upper =
        picture->pixels + row_bytes * (size_t)clamp((int)top, picture->height - 1);
    const unsigned char* lower =
        picture->pixels + row_bytes * (size_t)clamp((int)top + 1, picture->height - 1);
    for (int c = 0; c < 3; ++c) {
        const float above = upper[x0 + c] + right_share * (float)(upper[x1 + c] - upper[x0 + c]);
        const float below = lower[x0 + c] + right_share * (float)(lower[x1 + c] - lower[x0 + c]);
        out_pixel[c] = (unsigned char)(above + bottom_share * (below - above) + 0.5f);
    }
}

int line_cut(const struct picture* picture, const struct box* box, struct picture* out_line)
{
    const struct point* corners = box->corners;
    const int width = distance(corners[0], corners[1]);
    const int height = distance(corners[0], corners[3]);
    if (picture_create(width, height, out_line) < 0) return -1;
    unsigned char* pixel = out_line->pixels;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column, pixel += 3) {
            const float u = ((float)column + 0.5f) / (float)width;
            const float v = ((float)row + 0.5f) / (float)height;
            const float x = corners[0].x + u * (corners[1].x - corners[0].x) +
                            v * (corners[3].x - corners[0].x);
            const float y = corners[0].y + u * (corners[1].y - corners[0].y) +
                            v * (corners[3].y - corners[0].y);
            sample(picture, x, y, pixel);
        }
    return 0;
}

int line_width(const struct picture* line)
{
    const int width = (int)lroundf((float)kLineHeight * (float)line->width / (float)line->height);
    return width > 1 ? width : 1;
}

// Values from -1 to 1, blue first.
static int convert(const struct picture* line, int width, float* out_values, size_t size)
{
    const struct tengine_image image = picture_view(line);
    const struct tengine_image_target target = {TENGINE_DT_FP32, {1, 3, kLineHeight, width}, 0, 0};
    struct tengine_image_settings settings;
    if (tengine_image_settings_init(&settings, sizeof settings) < 0) return -1;
    settings.format = TENGINE_IMAGE_BGR;
    for (int c = 0; c < 3; ++c) {
        settings.mean[c] = 127.5f;
        settings.scale[c] = 1 / 127.5f;
    }
    return tengine_image_convert(&image, 1, &settings, &target, out_values, size);
}

int line_feed(struct network* network, const struct picture* line, int width)
{
    const int dims[] = {1, 3, kLineHeight, width};
    const int full = line_width(line);
    const size_t used = (size_t)(full < width ? full : width);
    const size_t row_num = (size_t)3 * kLineHeight;
    float* input = network_input(network, dims, 4);
    if (!input) return -1;
    float* values = malloc(row_num * used * sizeof *values);
    if (!values) return fail("out of memory for a line of %zu pixels", used);
    const int status = convert(line, (int)used, values, row_num * used * sizeof *values);
    memset(input, 0, row_num * (size_t)width * sizeof *input);
    for (size_t row = 0; status == 0 && row < row_num; ++row)
        memcpy(input + row * (size_t)width, values + row * used, used * sizeof *values);
    free(values);
    return status;
}

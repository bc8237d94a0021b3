// SPDX-License-Identifier: Apache-2.0
// The geometry is that of ImageOps of Pillow, and of Resize and CenterCrop of torchvision, with
// their roundings.
#include "image/fit.h"

#include <math.h>

#include "image/resize.h"

// An axis in full, of `original` pixels.
static image_axis_t whole_axis(int original, int resized)
{
    const image_axis_t axis = {0, (float)original, resized, 0, resized};
    return axis;
}

// The centre of a whole axis of `resized` pixels.
static image_axis_t centre_of_axis(int original, int resized, int number)
{
    image_axis_t axis = whole_axis(original, resized);
    axis.first = (int)nearbyint((resized - number) / 2.0);
    axis.number = number;
    return axis;
}

// The size of a picture whose shorter side is resized to this one.
static void find_resized(int from_height, int from_width, int shorter_side, int64_t* out_height,
                         int64_t* out_width)
{
    *out_height = *out_width = shorter_side;
    if (from_height > from_width)
        *out_height = (int64_t)((double)shorter_side * from_height / from_width);
    else
        *out_width = (int64_t)((double)shorter_side * from_width / from_height);
}

int check_fit(int from_height, int from_width, const struct tengine_image_settings* settings,
              int height, int width)
{
    if (settings->shorter_side == 0) return TENGINE_OK;
    int64_t resized_height, resized_width;
    find_resized(from_height, from_width, settings->shorter_side, &resized_height, &resized_width);
    // A double compares products that an int64_t may not hold.
    if ((double)resized_height * (double)resized_width > MOST_IMAGE_PIXELS)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "shorter_side is %d, and a picture of %d x %d pixels then has "
                                 "%lld x %lld, expected at most %d pixels",
                                 settings->shorter_side, from_width, from_height,
                                 (long long)resized_width, (long long)resized_height,
                                 MOST_IMAGE_PIXELS);
    if (resized_height < height || resized_width < width)
        return tengine_error_set(TENGINE_EINVAL,
                                 "shorter_side is %d, and a picture of %d x %d pixels then has "
                                 "%lld x %lld, expected at least the %d x %d of the input",
                                 settings->shorter_side, from_width, from_height,
                                 (long long)resized_width, (long long)resized_height, width,
                                 height);
    return TENGINE_OK;
}

static int crop_resized(const picture_t* from, int shorter_side, int height, int width,
                        uint8_t* out_bytes)
{
    int64_t resized_height, resized_width;
    find_resized(from->height, from->width, shorter_side, &resized_height, &resized_width);
    const image_axis_t columns = centre_of_axis(from->width, (int)resized_width, width);
    const image_axis_t rows = centre_of_axis(from->height, (int)resized_height, height);
    return resize_picture(from, &columns, &rows, out_bytes, (size_t)width * (size_t)from->channels);
}

// Takes the centre with the proportions of the input.
static int crop(const picture_t* from, int height, int width, uint8_t* out_bytes)
{
    const double wanted = (double)width / height;
    const double present = (double)from->width / from->height;
    const double part_width = present >= wanted ? wanted * from->height : from->width;
    const double part_height = present >= wanted ? from->height : from->width / wanted;
    const double left = (from->width - part_width) * 0.5;
    const double top = (from->height - part_height) * 0.5;
    const image_axis_t columns = {(float)left, (float)(left + part_width), width, 0, width};
    const image_axis_t rows = {(float)top, (float)(top + part_height), height, 0, height};
    return resize_picture(from, &columns, &rows, out_bytes, (size_t)width * (size_t)from->channels);
}

static int stretch(const picture_t* from, int height, int width, uint8_t* out_bytes,
                   size_t out_row_bytes)
{
    const image_axis_t columns = whole_axis(from->width, width);
    const image_axis_t rows = whole_axis(from->height, height);
    return resize_picture(from, &columns, &rows, out_bytes, out_row_bytes);
}

// Computes the size of a whole picture inside height x width, rounded as Python does.
static void find_inside(const picture_t* from, int* height, int* width)
{
    const double present = (double)from->width / from->height;
    const double wanted = (double)*width / *height;
    if (present > wanted)
        *height = (int)nearbyint((double)from->height / from->width * *width);
    else if (present < wanted)
        *width = (int)nearbyint((double)from->width / from->height * *height);
    if (*height < 1) *height = 1;
    if (*width < 1) *width = 1;
}

static int letterbox(const picture_t* from, const int fill[3], int height, int width,
                     uint8_t* out_bytes)
{
    const size_t channels = (size_t)from->channels, pixels = (size_t)height * (size_t)width;
    int inner_height = height, inner_width = width;
    find_inside(from, &inner_height, &inner_width);
    const size_t top = (size_t)nearbyint((height - inner_height) * 0.5);
    const size_t left = (size_t)nearbyint((width - inner_width) * 0.5);
    for (size_t i = 0; i < pixels * channels; ++i)
        out_bytes[i] = (uint8_t)fill[i % channels];
    return stretch(from, inner_height, inner_width,
                   out_bytes + (top * (size_t)width + left) * channels, (size_t)width * channels);
}

int fit_picture(const picture_t* from, const struct tengine_image_settings* settings, int height,
                int width, uint8_t* out_bytes)
{
    if (settings->fit == TENGINE_IMAGE_LETTERBOX)
        return letterbox(from, settings->fill, height, width, out_bytes);
    if (settings->shorter_side > 0)
        return crop_resized(from, settings->shorter_side, height, width, out_bytes);
    if (settings->fit == TENGINE_IMAGE_CROP) return crop(from, height, width, out_bytes);
    return stretch(from, height, width, out_bytes, (size_t)width * (size_t)from->channels);
}

// SPDX-License-Identifier: Apache-2.0
// A picture in memory.
#include "picture.h"

#include <stdlib.h>

#include "message.h"

static const int64_t kMostPixels = INT64_C(100) << 20;

int picture_create(int width, int height, struct picture* out_picture)
{
    out_picture->width = width;
    out_picture->height = height;
    const int is_too_large = (int64_t)width * height > kMostPixels;
    out_picture->pixels = is_too_large ? NULL : malloc((size_t)width * (size_t)height * 3);
    if (!out_picture->pixels)
        return fail("out of memory for a picture of %dx%d pixels", width, height);
    return 0;
}

void picture_free(struct picture* picture)
{
    free(picture->pixels);
    picture->pixels = NULL;
}

struct tengine_image picture_view(const struct picture* picture)
{
    const struct tengine_image view = {
        picture->pixels, picture->width, picture->height, TENGINE_IMAGE_RGB, 0, 0};
    return view;
}

// Turned as EXIF says, with three channels.
static int make_upright(const struct tengine_image* image, struct picture* out_picture)
{
    struct tengine_image_settings settings;
    const int lies = image->orientation >= 5;
    const int width = lies ? image->height : image->width;
    const int height = lies ? image->width : image->height;
    if (picture_create(width, height, out_picture) < 0) return -1;
    if (tengine_image_settings_init(&settings, sizeof settings) < 0) return -1;
    settings.orientation = 1;
    const struct tengine_image_target target = {TENGINE_DT_UINT8, {1, height, width, 3}, 0, 0};
    return tengine_image_convert(image, 1, &settings, &target, out_picture->pixels,
                                 (size_t)width * (size_t)height * 3);
}

int picture_load(const char* path, struct picture* out_picture)
{
    const struct picture none = {0};
    struct tengine_image image;
    *out_picture = none;
    if (tengine_image_load(path, kMostPixels, &image) < 0) return -1;
    const int status = make_upright(&image, out_picture);
    tengine_image_free(&image);
    return status;
}

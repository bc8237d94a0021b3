// SPDX-License-Identifier: Apache-2.0
// The stand-in for decode.c in a build without stb_image.
#include "image/decode.h"

static int fail(void)
{
    return tengine_error_set(TENGINE_ENOTSUP,
                             "this build cannot decode pictures: stb_image was not found, or "
                             "TENGINE_WITH_STB is off");
}

int read_image_size(const uint8_t* bytes, size_t size, int* out_width, int* out_height)
{
    (void)bytes;
    (void)size;
    (void)out_width;
    (void)out_height;
    return fail();
}

int decode_image(const uint8_t* bytes, size_t size, int64_t most_pixels,
                 struct tengine_image* out_image)
{
    (void)bytes;
    (void)size;
    (void)most_pixels;
    (void)out_image;
    return fail();
}

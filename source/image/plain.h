// SPDX-License-Identifier: Apache-2.0
// Pictures in the channels of an input: turned upright, cut to a box, grey or red, green, blue.
#pragma once

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

// The bytes of a pixel of a TENGINE_IMAGE_*; 0: no such format.
int image_pixel_bytes(int format);

// The size of a picture that is turned and cut as the settings say. TENGINE_EINVAL: the box is not
// inside.
TENGINE_MUST_USE int find_plain_size(const struct tengine_image* image,
                                     const struct tengine_image_settings* settings, int* out_height,
                                     int* out_width);

// The picture with `channels` (1 or 3), turned and cut. *out_memory is to be freed with
// free_memory() after the use of *out_picture, which may also refer to the pixels of `image`.
// Colours become grey as by convert("L") of Pillow. Fails as find_plain_size() and with
// TENGINE_ENOMEM.
TENGINE_MUST_USE int make_plain_picture(const struct tengine_image* image,
                                        const struct tengine_image_settings* settings, int channels,
                                        picture_t* out_picture, uint8_t** out_memory);

TENGINE_EXTERN_C_END

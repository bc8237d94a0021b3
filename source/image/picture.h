// SPDX-License-Identifier: Apache-2.0
// The room image: pictures as input of a network, for the C API (tengine/image.h). Files are
// decoded in decode.h and made plain in plain.h, resized in resize.h by the geometry of fit.h, and
// become values in values.h. Settings come from settings.h. Nothing here knows tensors.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tengine/image.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    MOST_IMAGE_PIXELS = 1 << 28
};

// Bytes of grey (1 channel) or of red, green, blue (3). Pixels of a row follow each other.
typedef struct picture
{
    const uint8_t* bytes;
    size_t row_bytes;
    int channels;
    int height;
    int width;
} picture_t;

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Files of pictures. Any thread; the bytes are not trusted.
#pragma once

#include <stdbool.h>

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

// The type by the first bytes, see tengine_image_get_type; NULL: none.
const char* find_image_type(const uint8_t* bytes, size_t size);

// The functions of the C API with these contracts, after their arguments have been checked.
// Messages do not name the file.
TENGINE_MUST_USE int read_image_size(const uint8_t* bytes, size_t size, int* out_width,
                                     int* out_height);
TENGINE_MUST_USE int decode_image(const uint8_t* bytes, size_t size, int64_t most_pixels,
                                  struct tengine_image* out_image);

TENGINE_EXTERN_C_END

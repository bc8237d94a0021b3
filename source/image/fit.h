// SPDX-License-Identifier: Apache-2.0
// Pictures of other proportions in the size of an input.
#pragma once

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

// Checks that a picture of this size can be given height x width pixels. TENGINE_EINVAL: the
// resized picture is smaller. TENGINE_ELIMIT: it has too many pixels.
TENGINE_MUST_USE int check_fit(int from_height, int from_width,
                               const struct tengine_image_settings* settings, int height,
                               int width);

// Resizes a picture that check_fit() has passed to height x width x channels bytes. TENGINE_ENOMEM.
TENGINE_MUST_USE int fit_picture(const picture_t* from,
                                 const struct tengine_image_settings* settings, int height,
                                 int width, uint8_t* out_bytes);

TENGINE_EXTERN_C_END

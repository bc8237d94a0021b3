// SPDX-License-Identifier: Apache-2.0
// Pictures of another size, with the same bytes as Pillow (PIL) with Image.Resampling.BILINEAR:
// shrinking averages all pixels under a triangle as wide as two new ones, growing interpolates.
#pragma once

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

// One axis: the pixels from `low` to `high`, in fractions of pixels, become `resized` ones, of
// which `number` are computed, from `first` on. The ends are floats, as in Pillow.
typedef struct image_axis
{
    float low;
    float high;
    int resized;
    int first;
    int number;
} image_axis_t;

// Resizes as image.resize((columns.resized, rows.resized), BILINEAR, box) of Pillow does, and
// writes the computed part to `out_bytes`, whose rows are `out_row_bytes` apart. TENGINE_ENOMEM.
TENGINE_MUST_USE int resize_picture(const picture_t* from, const image_axis_t* columns,
                                    const image_axis_t* rows, uint8_t* out_bytes,
                                    size_t out_row_bytes);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Pictures as the values of an input.
#pragma once

#include <stdbool.h>

#include "image/picture.h"

TENGINE_EXTERN_C_BEGIN

// The values of pictures, with the dimensions by name.
typedef struct image_values
{
    int data_type;  // TENGINE_DT_*
    bool channels_last;
    int number;  // of pictures
    int channels;
    int height;
    int width;
    float scale;  // of bytes; 0: none
    int zero_point;
} image_values_t;

// Finds the dimensions of N x C x H x W or N x H x W x C; false: there is no layout in which C is 1
// or 3, or a dimension is not positive.
bool read_image_dims(const int dims[4], int layout, image_values_t* out_values);

// The bytes of an element; 0: the type is none that pictures can have.
int image_element_bytes(int data_type);

// Checks the picture against its settings and the values, before anything is written.
TENGINE_MUST_USE int check_image(const struct tengine_image* image,
                                 const struct tengine_image_settings* settings,
                                 const image_values_t* values);

// Writes all values of the picture `index` of the batch; `out_values` are those of the batch. Fails
// as check_image() does, and with TENGINE_ENOMEM.
TENGINE_MUST_USE int write_image(const struct tengine_image* image,
                                 const struct tengine_image_settings* settings,
                                 const image_values_t* values, int index, void* out_values);

TENGINE_EXTERN_C_END

// SPDX-License-Identifier: Apache-2.0
// Pictures of another size, with the same bytes as Pillow (PIL) with Image.Resampling.BILINEAR:
// shrinking averages all pixels under a triangle as wide as two new ones, growing interpolates.
#pragma once

// Rows from the top, pixels from the left, `channels` bytes each.
struct picture
{
    unsigned char* bytes;
    int channels;
    int height;
    int width;
};

// A part of a picture, in pixels and fractions of them. Its ends are floats, as in Pillow.
struct picture_box
{
    float left;
    float top;
    float right;
    float bottom;
};

// Resizes the pixels in `box`, as image.resize((width, height), BILINEAR, box) of Pillow does.
// `out_bytes` has height x width x channels. Returns 0, or -1 when out of memory.
int picture_resize(const struct picture* from, const struct picture_box* box, int height, int width,
                   unsigned char* out_bytes);

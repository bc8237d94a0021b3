// SPDX-License-Identifier: Apache-2.0
// Image files as network input, for classify.c.
#pragma once

#include <stddef.h>

// The ways in which a picture of other proportions comes to the size that a network takes.
enum image_fit
{
    IMAGE_STRETCH,   // whole, its proportions change
    IMAGE_CROP,      // its middle, as large as fits: ImageOps.fit of Pillow
    IMAGE_LETTERBOX  // whole, between bars of grey 114: ImageOps.pad of Pillow
};

// The value a network gets for a pixel of channel c: (pixel - mean[c]) * scale[c], pixel 0..255.
// A grey image has channel 0 only; of a colour image they are red, green, blue, here and in memory.
struct image_values
{
    float mean[3];
    float scale[3];
    enum image_fit fit;
    int is_bgr;         // 1: in memory they are blue, green, red; mean and scale stay R,G,B
    int channels_last;  // 1: [height, width, channels] in memory, else [channels, height, width]
};

// Whether a file begins as one of an image type that image_decode knows.
int image_is_known(const void* bytes, size_t size);

// Decodes an image file (PNG, JPEG, BMP, PGM, PPM) of `size` bytes, converts it to `channels` (1:
// grey, 3: colour), resizes it to height x width pixels with the bytes of Pillow's bilinear filter
// (resize.h), and writes its values to `out_planes`. Returns NULL, or a constant message why it
// failed: of another kind, damaged, cut short, without pixels, more than 2^28 of them, PGM or PPM
// with more than 8 bits, out of memory.
const char* image_decode(const void* bytes, size_t size, int channels, int height, int width,
                         const struct image_values* values, float* out_planes);

// The same of a file by its path, which may have up to 256 MB.
const char* image_load(const char* path, int channels, int height, int width,
                       const struct image_values* values, float* out_planes);

// The size in pixels that a file says it has. Returns as the above.
const char* image_size(const void* bytes, size_t size, int* out_height, int* out_width);

// SPDX-License-Identifier: Apache-2.0
// Image files as network input, for classify.c.
#pragma once

#include <stddef.h>

// The ways to scale a picture of other proportions to the network's size.
enum image_fit
{
    IMAGE_STRETCH,   // whole, with changed proportions
    IMAGE_CROP,      // the largest middle that fits: ImageOps.fit of Pillow
    IMAGE_LETTERBOX  // whole, between bars of grey 114: ImageOps.pad of Pillow
};

// The network's value for a pixel of channel c: (pixel - mean[c]) * scale[c], pixel 0..255. A grey
// image has channel 0 only; the channels of a colour image are red, green, blue, here and in
// memory.
struct image_values
{
    float mean[3];
    float scale[3];
    enum image_fit fit;
    int is_bgr;         // 1: the order in memory is blue, green, red; mean and scale stay R,G,B
    int channels_last;  // 1: [height, width, channels] in memory, else [channels, height, width]
};

// Whether a file begins like one of an image type that image_decode supports.
int image_is_known(const void* bytes, size_t size);

// Decodes an image file (PNG, JPEG, BMP, PGM, PPM) of `size` bytes, converts it to `channels` (1:
// grey, 3: colour), resizes it to height x width pixels with the bytes of Pillow's bilinear filter
// (resize.h), and writes its values to `out_planes`. Returns NULL, or a constant message about the
// failure: another kind of file, damaged, truncated, without pixels, more than 2^28 of them, PGM or
// PPM with more than 8 bits, out of memory.
const char* image_decode(const void* bytes, size_t size, int channels, int height, int width,
                         const struct image_values* values, float* out_planes);

// Does the same for a file by its path, of up to 256 MB.
const char* image_load(const char* path, int channels, int height, int width,
                       const struct image_values* values, float* out_planes);

// Reads the size in pixels from the file's header. Returns a message as image_decode does.
const char* image_size(const void* bytes, size_t size, int* out_height, int* out_width);

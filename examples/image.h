// SPDX-License-Identifier: Apache-2.0
// Image files as network input, for classify.c.
#pragma once

// The value a network gets for a pixel of channel c: (pixel - mean[c]) * scale[c], pixel 0..255.
// A grey image has channel 0 only; of a colour image they are red, green, blue.
struct image_values
{
    float mean[3];
    float scale[3];
};

// Reads an image file (PNG, JPEG, BMP, PGM, PPM), converts it to `channels` (1: grey, 3: colour),
// resizes it to height x width pixels without keeping its proportions, and writes it as
// [channels, height, width] to `out_planes`. Returns NULL, or a constant sentence why it failed.
const char* image_load(const char* path, int channels, int height, int width,
                       const struct image_values* values, float* out_planes);

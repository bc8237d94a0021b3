// SPDX-License-Identifier: Apache-2.0
// A picture in memory, upright and in RGB; drawing.h draws on it, png.h writes it.
#pragma once

#include "tengine/image.h"

struct picture
{
    unsigned char* pixels;  // red, green, blue; rows follow each other without gaps
    int width;
    int height;
};

// Reads a PNG, JPEG, BMP, PGM or PPM file and turns it upright. Returns 0, or -1 after a message;
// picture_free is legal in both cases, and for a picture that is all zero.
int picture_load(const char* path, struct picture* out_picture);

// A picture of this size, 1 pixel or more, without defined pixels. Returns as picture_load.
int picture_create(int width, int height, struct picture* out_picture);
void picture_free(struct picture* picture);

// The picture as the functions of image.h take it.
struct tengine_image picture_view(const struct picture* picture);

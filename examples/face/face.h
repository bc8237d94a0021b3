// SPDX-License-Identifier: Apache-2.0
// A face on a picture, and lists of faces.
#pragma once

#include "drawing.h"

enum
{
    kKeyPointNum = 6  // right eye, left eye, tip of the nose, mouth, right ear, left ear
};

struct face
{
    float probability;
    struct point centre;
    float width;
    float height;
    struct point key_points[kKeyPointNum];
};

struct faces
{
    struct face* items;
    int count;
};

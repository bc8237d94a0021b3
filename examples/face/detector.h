// SPDX-License-Identifier: Apache-2.0
// Finds the faces on a picture with one of MediaPipe's BlazeFace networks.
#pragma once

#include "face.h"
#include "network.h"

struct detector
{
    struct network network;
    int size;  // pixels of a side of the input
    int anchor_num;
    struct point* anchors;  // centres, in pixels of the input
};

// Opens a network for short range, up to 2 m from the camera, or full range. Returns 0, or -1 after
// a message; detector_close is legal in both cases, and for a detector that is all zero.
int detector_open(const char* path, const struct run_options* options,
                  struct detector* out_detector);
void detector_close(struct detector* detector);

// Finds the faces whose probability is `level` or more, most probable first. Returns 0, or -1 after
// a message; faces_free is legal in both cases.
int detector_find(struct detector* detector, const struct picture* picture, float level,
                  struct faces* out_faces);
void faces_free(struct faces* faces);

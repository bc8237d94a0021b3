// SPDX-License-Identifier: Apache-2.0
// The places on the input that the rows of the network's outputs are relative to.
#pragma once

#include "drawing.h"

// The number of anchors for an input of `size` x `size` pixels, or -1 if no network with this size
// is known.
int anchor_count(int size);

// Writes the centres of the anchors, in pixels of an input of a size that anchor_count knows.
void anchor_centres(int size, struct point out_centres[]);

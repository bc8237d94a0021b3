// SPDX-License-Identifier: Apache-2.0
// The picture of a line of text, as the networks for lines take it.
#pragma once

#include "network.h"
#include "rectangle.h"

enum
{
    kLineHeight = 48  // pixels of the input
};

// Cuts a box out of a picture, so that it is upright. Returns 0, or -1 after a message;
// picture_free is legal in both cases.
int line_cut(const struct picture* picture, const struct box* box, struct picture* out_line);

// The width of a line of kLineHeight pixels, 1 or more.
int line_width(const struct picture* line);

// Prepares the network for an input of kLineHeight x `width` pixels with the line on the left, and
// zeros on the right of it. Returns 0, or -1 after a message.
int line_feed(struct network* network, const struct picture* line, int width);

// SPDX-License-Identifier: Apache-2.0
// Finds the lines of text on a picture; recognizer.h reads them.
#pragma once

#include "network.h"
#include "rectangle.h"

struct boxes
{
    struct box* items;
    int count;
    int capacity;
};

// Runs the detection of PP-OCRv4 and adds the box of each line in the order of reading: from the
// top, and in a row from the left. Returns 0, or -1 after a message; boxes_free is legal in both
// cases, and for boxes that are all zero.
int detect_lines(struct network* network, const struct picture* picture, struct boxes* out_boxes);
void boxes_free(struct boxes* boxes);

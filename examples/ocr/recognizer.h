// SPDX-License-Identifier: Apache-2.0
// Reads the pictures of lines that detector.h has found.
#pragma once

#include "labels.h"
#include "line.h"

// Runs the classifier of directions. Returns 1 if the line is upside down, 0 if not, or -1 after a
// message.
int line_is_upside_down(struct network* network, const struct picture* line);

struct text
{
    char* string;      // UTF-8
    float confidence;  // 0 to 1: average of the probabilities of its characters
};

// Runs the recognition. `characters` are those of the classes from 1 on; class 0 is CTC's blank,
// the last one the space. Returns 0, or -1 after a message; text_free is legal in both cases.
int recognize_line(struct network* network, const struct labels* characters,
                   const struct picture* line, struct text* out_text);
void text_free(struct text* text);

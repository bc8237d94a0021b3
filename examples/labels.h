// SPDX-License-Identifier: Apache-2.0
// The class names of a network, one a line of a text file, for classify.c.
#pragma once

struct labels
{
    char* text;    // the file's bytes, with NUL at the end of each line
    char** lines;  // into text; line i names class i
    int count;
};

// Reads the file. Returns 0, or -1 if it cannot be read or when out of memory; labels_free is legal
// in both cases, and for labels that are all zero.
int labels_read(const char* path, struct labels* out_labels);
void labels_free(struct labels* labels);

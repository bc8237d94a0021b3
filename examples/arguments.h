// SPDX-License-Identifier: Apache-2.0
// The command line of classify.c.
#pragma once

struct arguments
{
    const char* model;
    const char* labels;  // NULL: classes are printed by number
    int height;          // 0: the model's own; the same applies to width
    int width;
    int has_mean;  // mean is given; has_scale likewise
    int has_scale;
    float mean[3];
    float scale[3];
    int top_k;
    int threads;    // 0: as many as there are cores
    int repeat;     // runs for each image, all timed
    char* devices;  // separated by commas, best first; NULL: the default device
    int verbose;
    char** images;
    int image_count;
};

// Fills in the defaults and the values of the command line; the result points into argv. Ends the
// program after -h, and with exit status 1 and one line on standard error when something is wrong.
void arguments_parse(int argc, char** argv, struct arguments* out_arguments);

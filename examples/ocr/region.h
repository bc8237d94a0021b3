// SPDX-License-Identifier: Apache-2.0
// The connected regions of a map of probabilities; a region is a line of text. rectangle.h makes
// boxes from them.
#pragma once

struct region
{
    float score;       // average of the probabilities
    int top;           // first row
    int row_num;       // 1 or more
    const int* left;   // of each row, the first pixel
    const int* right;  // and the one after the last
};

// The memory of a search, all of it taken by region_search_begin.
struct region_search
{
    const float* map;
    int width;
    int height;
    float threshold;
    int next;             // the pixel at which the search continues
    unsigned char* seen;  // of each pixel
    int* stack;           // pixels of the region whose neighbours are not seen yet
    int* left;            // of each row of the map
    int* right;
};

// Looks for regions of pixels (8 neighbours) whose probability is above the threshold. The map
// stays the caller's. Returns 0, or -1 after a message; region_search_end is legal in both cases.
int region_search_begin(const float* map, int width, int height, float threshold,
                        struct region_search* out_search);
void region_search_end(struct region_search* search);

// The next region, which is valid until the next call. Returns 1, or 0 when there is none left.
int region_search_next(struct region_search* search, struct region* out_region);

// SPDX-License-Identifier: Apache-2.0
// The anchors of MediaPipe's BlazeFace networks, as those of a single-shot detector (W. Liu et al.,
// "SSD: single shot multibox detector", ECCV 2016): each cell of some grids has a few.
#include "anchors.h"

struct grid
{
    int input_size;  // of the network that has this grid
    int stride;      // pixels of a cell
    int anchor_num;  // of each cell
};

static const struct grid kGrids[] = {
    {128, 8, 2},  // the network for short range
    {128, 16, 6},
    {192, 4, 1},  // the network for full range
};

enum
{
    kGridNum = sizeof kGrids / sizeof *kGrids
};

int anchor_count(int size)
{
    int count = 0;
    for (int i = 0; i < kGridNum; ++i) {
        const int cells = size / kGrids[i].stride;
        if (kGrids[i].input_size == size) count += cells * cells * kGrids[i].anchor_num;
    }
    return count > 0 ? count : -1;
}

static struct point* add_grid(const struct grid* grid, struct point* centre)
{
    const int cells = grid->input_size / grid->stride;
    for (int y = 0; y < cells; ++y)
        for (int x = 0; x < cells; ++x)
            for (int i = 0; i < grid->anchor_num; ++i, ++centre) {
                centre->x = ((float)x + 0.5f) * (float)grid->stride;
                centre->y = ((float)y + 0.5f) * (float)grid->stride;
            }
    return centre;
}

void anchor_centres(int size, struct point out_centres[])
{
    struct point* centre = out_centres;
    for (int i = 0; i < kGridNum; ++i)
        if (kGrids[i].input_size == size) centre = add_grid(&kGrids[i], centre);
}

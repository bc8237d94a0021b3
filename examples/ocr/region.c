// SPDX-License-Identifier: Apache-2.0
// The connected regions of a map of probabilities, by flood fill.
#include "region.h"

#include <stdlib.h>

#include "message.h"

int region_search_begin(const float* map, int width, int height, float threshold,
                        struct region_search* out_search)
{
    const size_t pixel_num = (size_t)width * (size_t)height;
    out_search->map = map;
    out_search->width = width;
    out_search->height = height;
    out_search->threshold = threshold;
    out_search->next = 0;
    out_search->seen = calloc(pixel_num, 1);
    out_search->stack = calloc(pixel_num, sizeof(int));
    out_search->left = calloc((size_t)height, sizeof(int));
    out_search->right = calloc((size_t)height, sizeof(int));
    if (!out_search->seen || !out_search->stack || !out_search->left || !out_search->right)
        return fail("out of memory for the regions of %dx%d pixels", width, height);
    return 0;
}

void region_search_end(struct region_search* search)
{
    free(search->seen);
    free(search->stack);
    free(search->left);
    free(search->right);
}

static int is_text(const struct region_search* search, int pixel)
{
    return !search->seen[pixel] && search->map[pixel] > search->threshold;
}

static void push(struct region_search* search, int pixel, int* depth)
{
    search->seen[pixel] = 1;
    search->stack[(*depth)++] = pixel;
}

static void push_neighbours(struct region_search* search, int x, int y, int* depth)
{
    const int left = x > 0 ? x - 1 : x;
    const int right = x + 1 < search->width ? x + 1 : x;
    const int bottom = y + 1 < search->height ? y + 1 : y;
    for (int row = y > 0 ? y - 1 : y; row <= bottom; ++row)
        for (int column = left; column <= right; ++column)
            if (is_text(search, row * search->width + column))
                push(search, row * search->width + column, depth);
}

// Widens the row's extent by a pixel. The region grows from its first pixel in the order of rows,
// so that no row is above the top.
static void include(struct region_search* search, int x, int y, struct region* region)
{
    const int end = region->top + region->row_num;
    for (int row = end; row <= y; ++row) {
        search->left[row] = search->width;
        search->right[row] = 0;
    }
    if (y >= end) region->row_num = y + 1 - region->top;
    if (x < search->left[y]) search->left[y] = x;
    if (x >= search->right[y]) search->right[y] = x + 1;
}

static void fill_region(struct region_search* search, int first, struct region* out_region)
{
    double sum = 0;
    int pixel_num = 0;
    int depth = 0;
    out_region->top = first / search->width;
    out_region->row_num = 0;
    push(search, first, &depth);
    while (depth > 0) {
        const int pixel = search->stack[--depth];
        const int x = pixel % search->width;
        const int y = pixel / search->width;
        sum += search->map[pixel];
        ++pixel_num;
        include(search, x, y, out_region);
        push_neighbours(search, x, y, &depth);
    }
    out_region->score = (float)(sum / pixel_num);
    out_region->left = search->left + out_region->top;
    out_region->right = search->right + out_region->top;
}

int region_search_next(struct region_search* search, struct region* out_region)
{
    const int pixel_num = search->width * search->height;
    while (search->next < pixel_num && !is_text(search, search->next))
        ++search->next;
    if (search->next == pixel_num) return 0;
    fill_region(search, search->next, out_region);
    return 1;
}

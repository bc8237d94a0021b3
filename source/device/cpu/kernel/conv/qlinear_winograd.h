// SPDX-License-Identifier: Apache-2.0
// The parts that qlinear_winograd.cc cuts a convolution into: blocks of tiles and panels of output
// channels.
#pragma once

#include <cstdint>

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/conv/winograd_tile.h"
#include "device/cpu/kernel/product/panel_s8.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {

// Steps and sizes are in elements unless the name says bytes.
struct Int8Winograd : ConvProblem
{
    static constexpr int64_t kTile = 4, kPatch = 6, kPositions = kPatch * kPatch;

    TileFormat format;
    Int8Pixels results;      // its range and output_step are the output's
    int zero_point;          // the input's, as uint8
    uint8_t flip;            // is xored with inputs and makes them uint8
    int64_t tiles_x, tiles;  // tiles of a line, of an image
    int64_t block, blocks;   // tiles transformed together, also of several images; blocks
    int64_t image_step;      // between pixels of the input
    int64_t panels;
    bool spreads_panels;  // whether workers share the panels of a block; else each takes blocks

    // Returns the elements between tiles of a position. Rows that are 1 KiB apart share sets of L1,
    // which costs the loop of the products 15 % on a Zen 4.
    int64_t tile_step() const { return input_channels + 8; }
    // Returns the elements between positions, which are accessed together: an odd number of cache
    // lines.
    int64_t input_step() const { return spread(block * tile_step(), 32); }
    int64_t product_step() const { return spread(block * format.columns, 16); }
    int64_t groups_of_two() const { return (input_channels + 1) / 2; }
    int64_t panel_width(int64_t panel) const
    {
        const int64_t left = output_channels - panel * format.columns;
        return left <= format.columns / 2 ? format.columns / 2 : format.columns;
    }
    int64_t panel_bytes(int64_t width) const
    {
        return Int8Panel::header_bytes(width) +
               kPositions * groups_of_two() * width * 2 * int64_t{sizeof(int16_t)};
    }
    Int8Panel panel_at(const char* packed, int64_t panel) const
    {
        return {const_cast<char*>(packed) + panel * panel_bytes(format.columns),
                panel_width(panel)};
    }
    TilePosition find_tile(int64_t index) const
    {
        return find_tile_position(index, kTile, tiles_x, tiles);
    }
    int64_t input_bytes() const { return kPositions * input_step() * int64_t{sizeof(int16_t)}; }
    int64_t product_bytes() const { return kPositions * product_step() * int64_t{sizeof(int32_t)}; }

  private:
    static int64_t spread(int64_t elements, int64_t line)
    {
        return (divide_up(elements, line) | 1) * line;
    }
};

// The tiles of a block.
struct Int8Tiles
{
    const uint8_t* images;
    uint8_t* output;
    const char* packed;
    int64_t begin, count;  // of the batch's tiles
};

}  // namespace tengine::cpu

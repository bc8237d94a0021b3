// SPDX-License-Identifier: Apache-2.0
// The parts that conv_winograd.cc cuts a convolution into, for winograd_conv_impl.cc: blocks of
// tiles, which are transformed, and panels of output channels, each of which is multiplied by a
// block.
#pragma once

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/conv/winograd_tile.h"
#include "device/cpu/kernel/product/pixels_f32.h"

namespace tengine::cpu {

// Sizes are in floats, steps between pixels in elements of the type.
struct Winograd : ConvProblem
{
    int data_type;                    // TENGINE_DT_FP32, _FP16 or _BF16
    int64_t tile;                     // results in each direction
    int64_t tiles_x, tiles;           // tiles of a line, of an image
    int64_t block;                    // tiles transformed together, also of several images
    int64_t blocks;                   // blocks of the batch
    int64_t image_step, output_step;  // between pixels of the input, of the output
    int64_t panel_lanes, panels;
    int64_t depth;        // input channels whose filters are transformed together
    bool spreads_panels;  // whether workers share the panels of a block; else each takes blocks

    int64_t patch() const { return tile + 2; }  // inputs of a tile in each direction
    int64_t positions() const { return patch() * patch(); }
    // Returns the floats between the positions of transformed tiles. Adjacent rows of all positions
    // are accessed together, so that this and output_step() are odd numbers of cache lines: even
    // ones would map to a few sets of the cache.
    int64_t input_step() const { return spread(block * input_channels); }
    int64_t product_step() const { return spread(block * panel_lanes); }
    int64_t input_floats() const { return positions() * input_step(); }
    int64_t product_floats() const { return positions() * product_step(); }
    // Returns the place of tile `index` of the batch, its first pixel.
    TilePosition find_tile(int64_t index) const
    {
        return find_tile_position(index, tile, tiles_x, tiles);
    }
    int64_t panel_width(int64_t panel) const
    {
        return find_panel_width(output_channels - panel * panel_lanes, panel_lanes);
    }
    // Returns the floats of a panel's filters for some of the input channels as they are
    // multiplied: for each position zeros, in place of biases, and a vector for each channel.
    int64_t filter_floats(int64_t channels) const
    {
        return positions() * panel_lanes * (channels + 1);
    }
    bool is_narrow() const { return data_type != TENGINE_DT_FP32; }
    int64_t element_size() const { return is_narrow() ? sizeof(uint16_t) : sizeof(float); }
    // Whether filters are packed as they are, and transformed for each block: those of 16 bits, and
    // those of images with few tiles, for which reading four times as many weights would cost more
    // than it saves. It is the same for all batches, and so are the bits of a picture.
    bool transforms_filters() const { return is_narrow() || has_few_tiles(tiles); }
    static bool has_few_tiles(int64_t tiles) { return tiles < 12; }

  private:
    static int64_t spread(int64_t floats)
    {
        return ((floats + kCacheLineFloats - 1) / kCacheLineFloats | 1) * kCacheLineFloats;
    }
};

struct WinogradOperands
{
    const void* images;
    const void* addend;  // may be null
    void* output;
    const Fusion* fusion;
};

// A panel's weights for `channels` input channels from `first` on.
struct WinogradPanel
{
    int64_t index;
    const float* bias;  // has the channels of all panels
    const float* filters;
    int64_t first, channels;
    const char* next;  // weights to prefetch meanwhile
    int64_t next_bytes;
};

// Transforms tiles first..last-1 of a block into its matrices; the block's first tile is tile
// `begin` of the batch.
void transform_tiles(const Winograd& conv, const void* images, int64_t begin, int64_t first,
                     int64_t last, float* inputs);

// Transforms filters of a panel, nine taps of `width` filters for each of the input channels, to
// the layout of filter_floats().
void transform_filters(const Winograd& conv, const void* taps, int64_t channels, int64_t width,
                       float* to);

// Multiplies `tiles` tiles by a panel, and adds the products to those of the input channels before;
// `products` has product_floats().
void multiply_tiles(const Winograd& conv, const float* inputs, const WinogradPanel& panel,
                    int64_t tiles, float* products);

// Computes the results of a panel for `tiles` tiles from tile `begin` on from their products.
void finish_panel(const Winograd& conv, const WinogradOperands& operands,
                  const WinogradPanel& panel, int64_t begin, int64_t tiles, const float* products);

}  // namespace tengine::cpu

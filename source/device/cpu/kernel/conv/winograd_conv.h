// SPDX-License-Identifier: Apache-2.0
// The parts that conv_winograd.cc cuts a convolution into, for winograd_conv_impl.cc: blocks of
// tiles, which are transformed, and panels of output channels, each of which is multiplied by a
// block.
#pragma once

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"

namespace tengine::cpu {

// Sizes are in floats, steps between pixels in elements of the type.
struct Winograd : ConvProblem
{
    int data_type;                    // TENGINE_DT_FP32, _FP16 or _BF16
    int64_t tile;                     // results in each direction
    int64_t tiles_x, tiles;           // tiles of a line, of an image
    int64_t block;                    // tiles transformed together
    int64_t blocks;                   // blocks of an image
    int64_t image_step, output_step;  // between pixels of the input, of the output
    int64_t panel_lanes, panels;
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
    int64_t panel_width(int64_t panel) const
    {
        return find_panel_width(output_channels - panel * panel_lanes, panel_lanes);
    }
    // Returns the floats of a panel's filters as they are multiplied: for each position zeros, in
    // place of biases, and a vector for each input channel.
    int64_t filter_floats() const { return positions() * panel_lanes * (input_channels + 1); }
    // Whether the filters have 16 bits: these are packed as they are, and transformed for each
    // block.
    bool is_narrow() const { return data_type != TENGINE_DT_FP32; }

  private:
    static int64_t spread(int64_t floats)
    {
        return ((floats + kCacheLineFloats - 1) / kCacheLineFloats | 1) * kCacheLineFloats;
    }
};

// The operands of an image.
struct WinogradOperands
{
    const void* image;
    const void* addend;  // may be null
    void* output;
    const Fusion* fusion;
};

// A panel's packed weights.
struct WinogradPanel
{
    int64_t index;
    const float* bias;  // has the channels of all panels
    const float* filters;
};

// Transforms tiles first..last-1 of a block into its matrices; the block's first tile is tile
// `begin` of the image.
void transform_tiles(const Winograd& conv, const void* image, int64_t begin, int64_t first,
                     int64_t last, float* inputs);

// Transforms a panel of 16-bit filters, which has nine taps of `width` filters for each input
// channel, to the layout of filter_floats().
void transform_filters(const Winograd& conv, const uint16_t* filters, int64_t width, float* to);

// Computes a panel for `tiles` tiles from tile `begin` on; `products` has product_floats().
void compute_panel(const Winograd& conv, const WinogradOperands& operands,
                   const WinogradPanel& panel, const float* inputs, int64_t begin, int64_t tiles,
                   float* products);

}  // namespace tengine::cpu

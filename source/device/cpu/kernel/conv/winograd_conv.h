// SPDX-License-Identifier: Apache-2.0
// The parts that conv_winograd.cc cuts a convolution into and hands to winograd_conv_impl.cc:
// blocks of tiles, which are transformed, and panels of output channels, each of which is
// multiplied with a block.
#pragma once

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"

namespace tengine::cpu {

// Sizes in floats, steps between pixels in elements of the type.
struct Winograd : ConvProblem
{
    int data_type;                    // TENGINE_DT_FP32, _FP16 or _BF16
    int64_t tile;                     // results of a tile, in each direction
    int64_t tiles_x, tiles;           // of a line, of an image
    int64_t block;                    // tiles transformed at once
    int64_t blocks;                   // of an image
    int64_t image_step, output_step;  // between pixels
    int64_t panel_lanes, panels;
    bool spreads_panels;  // workers share the panels of a block, not the blocks

    int64_t patch() const { return tile + 2; }  // inputs, in each direction
    int64_t positions() const { return patch() * patch(); }
    // Floats between the positions of transformed tiles, and of a panel's products. All positions
    // are accessed side by side, so these are odd numbers of cache lines: else they would fall into
    // a few sets of the cache.
    int64_t input_step() const { return spread(block * input_channels); }
    int64_t product_step() const { return spread(block * panel_lanes); }
    int64_t input_floats() const { return positions() * input_step(); }
    int64_t product_floats() const { return positions() * product_step(); }
    int64_t panel_width(int64_t panel) const
    {
        return find_panel_width(output_channels - panel * panel_lanes, panel_lanes);
    }
    // A panel's filters as they are multiplied: for each position zeros, in place of biases, and a
    // vector for each input channel.
    int64_t filter_floats() const { return positions() * panel_lanes * (input_channels + 1); }
    // Filters of 16 bits are packed as they are, and transformed for each block.
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
    const void* addend;  // or null
    void* output;
    const Fusion* fusion;
};

// A panel's packed weights.
struct WinogradPanel
{
    int64_t index;
    const float* bias;  // of all channels of all panels
    const float* filters;
};

// Tiles first..last-1 of a block that begins with tile `begin` of the image, into its matrices.
void transform_tiles(const Winograd& conv, const void* image, int64_t begin, int64_t first,
                     int64_t last, float* inputs);

// A panel of 16 bits, for each input channel the nine taps of `width` filters, as its
// filter_floats().
void transform_filters(const Winograd& conv, const uint16_t* filters, int64_t width, float* to);

// A panel of a block of `tiles` tiles from tile `begin` on; `products` has product_floats().
void compute_panel(const Winograd& conv, const WinogradOperands& operands,
                   const WinogradPanel& panel, const float* inputs, int64_t begin, int64_t tiles,
                   float* products);

}  // namespace tengine::cpu

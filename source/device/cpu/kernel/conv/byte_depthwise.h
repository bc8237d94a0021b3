// SPDX-License-Identifier: Apache-2.0
// Depthwise int8 convolutions with channels last: how they are cut into items, and how the weights
// are packed. The vectors are in byte_depthwise_impl.cc.
//
// A column of the input has a bundle for each channel: the bytes of four rows, one below the other,
// in a lane of 32 bits; or of two rows, as 16 bits each. One instruction multiplies a vector of
// bundles with weights and adds the products of each lane to its accumulator. The rows in the
// bundles of a column serve all lines of the output whose windows lie within, a band; the weights
// of a line, which are 0 outside its window, tell in which row the window begins.
//
// As in byte_pixels.h the zero point of the input costs nothing: its product with the sum of the
// weights is taken from the bias, and pads are pixels of it. The elements are uint8; int8 becomes
// so by a flipped sign bit.
#pragma once

#include <algorithm>

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// Channels of the narrowest block. The last block has fewer only where there are fewer in all.
inline constexpr int64_t kLeastBlockChannels = 16;

// Channels that are one vector of bytes; their results are four vectors of sums.
struct ChannelBlock
{
    int64_t first, width;
    int64_t before;  // the widths of all blocks before it: blocks may overlap
};

struct ByteDepthwise : ConvProblem
{
    ByteRange range;                  // of the output
    uint8_t input_zero_byte;          // as it lies in the input
    bool flips;                       // the sign bit of the input's bytes
    int64_t image_step, output_step;  // between pixels
    int64_t most_width;               // of a block of channels
    int64_t bundle_rows, bundles;     // of a column
    int64_t band_lines, bands;        // of an image
    int64_t segment_pixels;           // of a line, at once

    int64_t channels() const { return groups; }
    int64_t blocks() const
    {
        const int64_t least = kLeastBlockChannels, rest = channels() % most_width;
        int64_t count = channels() / most_width + (rest % least > 0);
        for (int64_t width = most_width / 2; width >= least; width /= 2)
            count += (rest & width) != 0;
        return count;
    }
    ChannelBlock block(int64_t index) const
    {
        const int64_t whole = channels() / most_width;
        if (index < whole) return {index * most_width, most_width, index * most_width};
        int64_t first = whole * most_width;
        index -= whole;
        for (int64_t width = most_width / 2; width >= kLeastBlockChannels; width /= 2) {
            if (channels() - first < width) continue;
            if (index-- == 0) return {first, width, first};
            first += width;
        }
        return {std::max<int64_t>(channels() - kLeastBlockChannels, 0), kLeastBlockChannels, first};
    }
    // Bundles of a window, of a channel and a line.
    int64_t window_bundles() const { return axes[2].kernel * bundles; }
    // Packed, of a channel.
    int64_t channel_bytes() const
    {
        return int64_t{sizeof(float) + sizeof(int32_t) + sizeof(ir_multiplier_t)} +
               4 * band_lines * window_bundles();
    }
    int64_t packed_bytes() const
    {
        const ChannelBlock last = block(blocks() - 1);
        return (last.before + last.width) * channel_bytes();
    }
    // From a column of a block to the next, in a copy.
    int64_t column_bytes(int64_t width) const { return 4 * bundles * width; }
    // The input's columns of `pixels` of the output, side by side.
    int64_t columns(int64_t pixels) const
    {
        const window_axis& x = axes[2];
        return (pixels - 1) * x.stride + int64_t{x.kernel - 1} * x.dilation + 1;
    }
    int64_t copy_bytes() const { return columns(segment_pixels) * column_bytes(most_width); }
};

// The packed data of a block, each part for all channels in the order of the lanes.
struct PackedBlock
{
    char* data;
    int64_t width;

    float* scales() const { return reinterpret_cast<float*>(data); }  // the multipliers
    // The initial accumulators.
    int32_t* starts() const { return reinterpret_cast<int32_t*>(scales() + width); }
    ir_multiplier_t* multipliers() const
    {
        return reinterpret_cast<ir_multiplier_t*>(starts() + width);
    }
    // For each line of a band, column of the window and bundle.
    char* weights() const { return reinterpret_cast<char*>(multipliers() + width); }

    // A vector of bytes is interleaved in parts of 16, of which each of the four vectors of
    // bundles, sums and results gets four.
    static int64_t lane_of(int64_t channel, int64_t width)
    {
        return channel / 4 % 4 * (width / 4) + channel / 16 * 4 + channel % 4;
    }
};

inline PackedBlock find_packed_block(const ByteDepthwise& conv, const char* packed,
                                     const ChannelBlock& block)
{
    return {const_cast<char*>(packed) + block.before * conv.channel_bytes(), block.width};
}

// Sets most_width, which is 0 where there are no vectors, and bundle_rows: four where bytes may be
// multiplied as they are.
void describe_byte_depthwise(bool has_narrow_weights, ByteDepthwise* conv);

// The operands of a run.
struct ByteDepthwiseRun
{
    const uint8_t* input;
    const char* packed;
    const uint8_t* table;  // of 256 bytes, whose entries are the results; null: none
    uint8_t* output;
};

// Items `first` to before `last` of batch * bands * blocks.
void convolve_byte_depthwise(const ByteDepthwise& conv, const ByteDepthwiseRun& run, int64_t first,
                             int64_t last, char* copy);

}  // namespace tengine::cpu

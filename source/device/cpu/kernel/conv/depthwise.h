// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with channels last, of floats and of bytes: the part of a problem that all
// element formats have, and the formats, by which depthwise_pixels.cc computes them.
#pragma once

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct DepthwiseRun
{
    const void* input;
    const char* packed;
    const void* addend;    // or null
    const uint8_t* table;  // of 256 bytes, whose entries are the results; null: none
    void* output;
    const Fusion* fusion;
};

// The constants that weights are packed with, and the numbers that the layout depends on.
struct DepthwisePack
{
    const tensor* others[3];
    int64_t sizes[4];
};

// Sizes are in elements unless they say bytes. An item is a block of channels of a band of lines of
// the output. Formats add members of their own, and have
//     kWeight                           the input of a node that has the weights
//     accepts(node, problem)            whether a depthwise convolution has the format
//     plan(context)                     sets the members after output_step
//     describe_pack(context), pack(context, weights, packed)
//     convolve(run, first, last, scratch)  computes items `first` to before `last`
struct DepthwiseConv : ConvProblem
{
    int data_type;                    // of the input
    int64_t image_step, output_step;  // between pixels
    int64_t band_lines, bands;        // of an image
    int64_t blocks;                   // of channels
    int64_t item_work;                // for grain_for()
    int64_t worker_bytes;             // of scratch
    int64_t packed_bytes;

    int64_t channels() const { return groups; }
};

// fp32, fp16 and bf16: depthwise_fp_impl.cc.
struct FloatDepthwise : DepthwiseConv
{
    // Pixels of a line whose windows have all columns on the input: from first_inside to before
    // last_inside.
    int64_t first_inside, last_inside;
    // The pixels of a line's copy, which has the padding; its axis then has none. 0: lines are not
    // copied.
    int64_t copy_pixels;
    int64_t padding;          // before a copied line
    int64_t most_lines;       // that are computed at once, channels after channels
    int64_t lanes, pair_num;  // of a vector; pairs of vectors

    static constexpr int kWeight = 1;
    static bool accepts(const node& node, const ConvProblem& problem);
    void plan(const KernelContext& context);
    DepthwisePack describe_pack(const KernelContext& context) const;
    void pack(const KernelContext& context, const void* weights, void* packed) const;
    void convolve(const DepthwiseRun& run, int64_t first, int64_t last, char* scratch) const;

    int64_t vectors() const { return (channels() + lanes - 1) / lanes; }
    // Channels of the pair at `channel`, or of the vector.
    int64_t width(int64_t channel) const
    {
        return channel < 2 * pair_num * lanes ? 2 * lanes : lanes;
    }
    bool is_narrow() const { return data_type != TENGINE_DT_FP32; }
    int64_t element_bytes() const { return is_narrow() ? sizeof(uint16_t) : sizeof(float); }
    // Bytes of the accumulators of a line of fp16 or bf16, before a copy of the channels of a pair.
    int64_t line_bytes() const
    {
        return is_narrow() ? axes[2].output * 2 * lanes * int64_t{sizeof(float)} : 0;
    }
};

// int8 and uint8 with constant scales and zero points: depthwise_s8_impl.cc.
struct ByteDepthwise : DepthwiseConv
{
    ByteRange range;               // of the output
    uint8_t input_zero_byte;       // as it lies in the input
    bool flips;                    // the sign bit of the input's bytes
    int64_t most_width;            // of a block of channels
    int64_t bundle_rows, bundles;  // of a column
    int64_t segment_pixels;        // of a line, at once

    static constexpr int kWeight = 3;
    static bool accepts(const node& node, const ConvProblem& problem);
    void plan(const KernelContext& context);
    DepthwisePack describe_pack(const KernelContext& context) const;
    void pack(const KernelContext& context, const void* weights, void* packed) const;
    void convolve(const DepthwiseRun& run, int64_t first, int64_t last, char* scratch) const;

    // Bundles of a window, of a channel and a line.
    int64_t window_bundles() const { return axes[2].kernel * bundles; }
    // Packed, of a channel.
    int64_t channel_bytes() const
    {
        return int64_t{sizeof(float) + sizeof(int32_t) + sizeof(ir_multiplier_t)} +
               4 * band_lines * window_bundles();
    }
    // From a column of a block to the next, in a copy.
    int64_t column_bytes(int64_t width) const { return 4 * bundles * width; }
    // The input's columns of `pixels` of the output, side by side.
    int64_t columns(int64_t pixels) const
    {
        const window_axis& x = axes[2];
        return (pixels - 1) * x.stride + int64_t{x.kernel - 1} * x.dilation + 1;
    }
};

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions in NHWC, of floats and of int8 and uint8: the part of a problem that all
// element formats have, and the formats, by which depthwise_pixels.cc computes them.
#pragma once

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {

struct DepthwiseRun
{
    const void* input;
    const char* packed;
    const void* addend;    // may be null
    const uint8_t* table;  // maps the 256 results of 8 bits to others; null: none
    void* output;
    const Fusion* fusion;
};

// The constants that weights are packed with, and the sizes that the layout depends on.
struct DepthwisePack
{
    const tensor* others[3];
    int64_t sizes[4];
};

// Sizes are in elements unless the name says bytes. An item is a block of channels of a band of
// output lines. Formats add members of their own, and have
//     kWeight                           the input of a node that has the weights
//     accepts(node, problem)            whether a depthwise convolution has the format
//     plan(context)                     sets the members after output_step
//     describe_pack(context), pack(context, weights, packed)
//     convolve(run, first, last, scratch)  computes items `first` to before `last`
struct DepthwiseConv : ConvProblem
{
    int data_type;  // of the input
    // elements between neighbouring pixels of the input, of the output
    int64_t image_step, output_step;
    int64_t band_lines, bands;  // lines of a band; bands of an image
    int64_t blocks;             // blocks of channels
    int64_t item_work;          // work of an item, for grain_for()
    int64_t worker_bytes;       // scratch of a worker
    int64_t packed_bytes;

    int64_t channels() const { return groups; }
};

// Depthwise convolutions of fp32, fp16 and bf16: depthwise_fp_impl.cc.
struct FloatDepthwise : DepthwiseConv
{
    // The pixels of a line with windows that have all columns on the input are
    // first_inside..last_inside-1.
    int64_t first_inside, last_inside;
    // The pixels of a copied line, padding included; the axis then has no padding. 0: lines are not
    // copied.
    int64_t copy_pixels;
    int64_t padding;     // pixels of padding before a copied line
    int64_t most_lines;  // lines that are computed together, one block of channels after the other
    int64_t lanes, pair_num;  // elements of a vector; pairs of vectors in a line's channels

    static constexpr int kWeight = 1;
    static bool accepts(const node& node, const ConvProblem& problem);
    void plan(const KernelContext& context);
    DepthwisePack describe_pack(const KernelContext& context) const;
    void pack(const KernelContext& context, const void* weights, void* packed) const;
    void convolve(const DepthwiseRun& run, int64_t first, int64_t last, char* scratch) const;

    int64_t vectors() const { return divide_up(channels(), lanes); }
    // Returns the number of channels of the pair at `channel`, or of the single vector there.
    int64_t width(int64_t channel) const
    {
        return channel < 2 * pair_num * lanes ? 2 * lanes : lanes;
    }
    bool is_narrow() const { return data_type != TENGINE_DT_FP32; }
    int64_t element_bytes() const { return is_narrow() ? sizeof(uint16_t) : sizeof(float); }
    // Returns the bytes of a line's accumulators in fp16 or bf16; the copy of a pair's channels
    // follows them.
    int64_t line_bytes() const
    {
        return is_narrow() ? axes[2].output * 2 * lanes * int64_t{sizeof(float)} : 0;
    }
};

// Depthwise convolutions of int8 and uint8 with constant scales and zero points:
// depthwise_s8_impl.cc.
struct Int8Depthwise : DepthwiseConv
{
    Int8Range range;          // the output's
    uint8_t input_zero_byte;  // the zero point as a byte of the input
    bool flips;               // whether the sign bit of inputs is flipped, which makes int8 uint8
    int64_t most_width;       // channels of the widest block
    int64_t bundle_rows, bundles;  // rows of a bundle; bundles of a column
    int64_t segment_pixels;        // pixels of a line that are computed from one copy

    static constexpr int kWeight = 3;
    static bool accepts(const node& node, const ConvProblem& problem);
    void plan(const KernelContext& context);
    DepthwisePack describe_pack(const KernelContext& context) const;
    void pack(const KernelContext& context, const void* weights, void* packed) const;
    void convolve(const DepthwiseRun& run, int64_t first, int64_t last, char* scratch) const;

    // Returns the number of bundles of a window, for a channel and a line.
    int64_t window_bundles() const { return axes[2].kernel * bundles; }
    // Returns the packed bytes of a channel.
    int64_t channel_bytes() const
    {
        return int64_t{sizeof(float) + sizeof(int32_t) + sizeof(ir_multiplier_t)} +
               4 * band_lines * window_bundles();
    }
    // Returns the bytes between neighbouring columns of a block in a copy.
    int64_t column_bytes(int64_t width) const { return 4 * bundles * width; }
    // Returns the number of input columns under the windows of `pixels` neighbouring output pixels.
    int64_t columns(int64_t pixels) const
    {
        const window_axis& x = axes[2];
        return (pixels - 1) * x.stride + int64_t{x.kernel - 1} * x.dilation + 1;
    }
};

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with channels last: how they are cut into lines and channels. What
// computes a few pixels is in depthwise_pixels-inl.h.
#pragma once

#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {

// Pixels side by side that are summed at once: where the padding is copied seven, which with five
// weights and an input fill the registers (networks halve 224, and so have lines of multiples of
// seven), elsewhere and of what is left four.
constexpr int kMany = 7, kFew = 4;

// The width of windows whose channels are copied with their padding.
constexpr int kCopiedKernel = 5;

struct DepthwisePixels : ConvProblem
{
    // Pixels of a line whose windows have all columns on the input: from first_inside to before
    // last_inside.
    int64_t first_inside, last_inside;
    // Of a line's copy, which has the padding; its axis then has none. 0: lines are not copied.
    int64_t copy_pixels;
    int64_t padding;          // before a copied line
    int64_t lanes, pair_num;  // of a vector; pairs of vectors

    int64_t channels() const { return groups; }
    int64_t vectors() const { return (channels() + lanes - 1) / lanes; }
    int64_t packed_floats() const { return vectors() * lanes * (taps + 1); }
    // Channels of the pair at `channel`, or of the vector.
    int64_t width(int64_t channel) const
    {
        return channel < 2 * pair_num * lanes ? 2 * lanes : lanes;
    }
    int64_t copy_floats() const { return axes[1].input * copy_pixels * 2 * lanes; }
};

// A line of the output, and the channels of it that a pair of vectors has, or one.
struct DepthwiseLine
{
    const float* image;    // of the input, at the first of the channels
    int64_t pixel_step;    // of the input
    const float* weights;  // biases, then weights tap by tap, `width` floats each
    int64_t width;
    const float* addend;  // or null; at the first channel, as the output is
    float* output;
    int64_t count;  // of channels, from the first on
    int line;
    const Fusion* fusion;
};

struct DepthwiseOperands
{
    const float* input;
    const float* weights;  // packed
    const float* addend;   // or null
    float* output;
    const Fusion* fusion;
};

}  // namespace tengine::cpu

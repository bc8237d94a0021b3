// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions with channels last: how they are cut into lines and channels. The code for
// a few pixels is in depthwise_pixels-inl.h.
#pragma once

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

// Pixels side by side that are summed at once: where the padding is copied seven, which with five
// weights and an input fill the registers (networks halve 224, and so have lines of multiples of
// seven), elsewhere and for the rest four.
constexpr int kMany = 7, kFew = 4;

// The width of windows whose channels are copied with their padding.
constexpr int kCopiedKernel = 5;

struct DepthwisePixels : ConvProblem
{
    // Pixels of a line whose windows have all columns on the input: from first_inside to before
    // last_inside.
    int64_t first_inside, last_inside;
    // The pixels of a line's copy, which has the padding; its axis then has none. 0: lines are not
    // copied.
    int64_t copy_pixels;
    int64_t padding;          // before a copied line
    int64_t lanes, pair_num;  // of a vector; pairs of vectors
    int data_type;            // TENGINE_DT_FP32, _FP16 or _BF16

    int64_t channels() const { return groups; }
    int64_t vectors() const { return (channels() + lanes - 1) / lanes; }
    int64_t packed_floats() const { return vectors() * lanes * (taps + 1); }
    // Channels of the pair at `channel`, or of the vector.
    int64_t width(int64_t channel) const
    {
        return channel < 2 * pair_num * lanes ? 2 * lanes : lanes;
    }
    bool is_narrow() const { return data_type != TENGINE_DT_FP32; }
    // A copy of the channels of a pair, and the accumulators of a line of fp16 or bf16.
    int64_t copy_elements() const { return axes[1].input * copy_pixels * 2 * lanes; }
    int64_t line_floats() const { return is_narrow() ? axes[2].output * 2 * lanes : 0; }
};

// A line of the output, and the channels of it that a pair of vectors has, or one. T is Half,
// BFloat16 or float.
template <class T>
struct DepthwiseLine
{
    const T* image;        // of the input, at the first of the channels
    int64_t pixel_step;    // of the input
    const float* weights;  // biases, then weights tap by tap, `width` floats each
    int64_t width;
    const T* addend;  // or null; at the first channel, as the output is
    T* output;
    float* sums;    // of 16 bits, instead of the output: `width` a pixel, for a pass; or null
    int64_t count;  // of channels, from the first on
    int line;
    const Fusion* fusion;
};

struct DepthwiseOperands
{
    const void* input;
    const float* weights;  // packed
    const void* addend;    // or null
    void* output;
    const Fusion* fusion;
};

// The buffers of a worker, where they are needed.
struct DepthwiseScratch
{
    float* line;  // the sums of a pair's line
    char* copy;   // the input of a pair
};

// Whether such kernels can compute a convolution that describe_conv() has described.
inline bool is_depthwise(const ConvProblem& p)
{
    return p.input_channels == 1 && p.output_channels == 1 && p.groups > 1 && p.input_plane > 0 &&
           p.output_plane > 0 && p.batch > 0;
}

// For each pair of vectors, and each other, the biases and then the weights, tap by tap: those that
// read_bias(channel) and read_weight(channel * taps + tap) give.
template <class Weight, class Bias>
void pack_depthwise(const DepthwisePixels& conv, const Weight& read_weight, const Bias& read_bias,
                    float* packed)
{
    const int64_t channels = conv.channels();
    for (int64_t channel = 0; channel < channels; channel += conv.width(channel)) {
        const int64_t width = conv.width(channel);
        for (int64_t tap = -1; tap < conv.taps; ++tap)
            for (int64_t i = channel; i < channel + width; ++i)
                *packed++ = i >= channels ? 0
                            : tap < 0     ? read_bias(i)
                                          : read_weight(i * conv.taps + tap);
    }
}

}  // namespace tengine::cpu

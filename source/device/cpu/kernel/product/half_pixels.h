// SPDX-License-Identifier: Apache-2.0
// Convolutions of fp16 or bf16 with channels last, and matrices, whose rows are pixels: how they
// are cut into blocks and how weights are packed, as byte_pixels.h does it for int8. The product
// itself is a ByteFormat's (byte_tile.h), whose sums are fp32; a result is rounded to 16 bits once,
// after the bias, the addend and the activation. Weights have 16 bits wherever they lie.
#pragma once

#include "device/cpu/kernel/conv/block_copy.h"
#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/product/tile/byte_tile.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

inline constexpr int64_t kMostHalfStretches = 128;

// Steps, counts and lengths in pixels and elements unless it says bytes. Channels are those of a
// group.
struct HalfPixels : ConvProblem
{
    ByteFormat format;
    int data_type;               // TENGINE_DT_FP16 or _BF16
    int64_t lines, line_pixels;  // of the output: a pointwise convolution has one line
    int64_t image_step;          // between pixels of the input
    int64_t pixel_step;          // between pixels of the operand: the input, or its copy
    int64_t input_step;          // of that, from an output pixel's to that of the next
    int64_t output_step;         // between pixels of the output, and of the addend
    int64_t stretch_num, stretch_length;
    int64_t panels, panel_parts;      // of a group; in how many items a block is computed
    int64_t group_bytes;              // of packed weights, of a group of channels
    int64_t block_lines, blocks;      // of an image; blocks of lines, or of pixels of one line
    int64_t block_pixels;             // of a line
    int64_t copy_lines, copy_pixels;  // of a block's copy; 0 pixels: it is read in place
    int64_t part_elements;            // of the depth that is widened at once; 0: none is
    bool is_pointwise;
    bool has_factors;  // of the channels of the input, where it is pointwise and has no strides

    int64_t items() const { return batch * groups * blocks * panel_parts; }
    int64_t whole_groups() const { return stretch_length / format.group; }
    int64_t left_elements() const { return stretch_length % format.group; }
    int64_t stretch_groups() const { return whole_groups() + (left_elements() > 0); }
    uint64_t packed_bytes() const { return static_cast<uint64_t>(groups * group_bytes); }
    int64_t depth() const { return stretch_num * stretch_length; }
    // Scratch of a worker: a block's copy (block_copy.h), a part of the weights of a panel,
    // widened, and the sums of a block where there are several parts.
    uint64_t copy_bytes() const
    {
        if (copy_pixels == 0) return 0;
        const int64_t bytes = copy_lines * copy_pixels * pixel_step * format.element_size;
        return static_cast<uint64_t>(kBlockHeaderBytes + (bytes + 63) / 64 * 64);
    }
    uint64_t part_bytes() const
    {
        return static_cast<uint64_t>(part_elements * format.columns) * sizeof(float);
    }
    uint64_t sum_bytes() const
    {
        if (part_elements == 0 || part_elements >= depth()) return 0;
        return static_cast<uint64_t>(block_lines * block_pixels * format.columns) * sizeof(float);
    }
    uint64_t worker_bytes() const { return copy_bytes() + part_bytes() + sum_bytes(); }
};

// The format with which this processor multiplies this type of 16 bits.
ByteFormat find_half_format(int data_type);

// The format of this type for processors that only convert: input and weights are widened to fp32
// in copies.
ByteFormat find_widened_format(int data_type);

// The same with fp16 or bf16 weights, which a tile widens as it loads them; where it keeps none, of
// so many rows at most.
inline constexpr int kFewHalfRows = 4;
void widen_and_multiply_halves(int data_type, const ByteTile& tile, int64_t rows);

// Cuts the work into blocks and items, for so many workers. Given are the ConvProblem, the type,
// the K segments, image_step, output_step, is_pointwise and has_factors.
void plan_half_pixels(HalfPixels& conv, int64_t workers);

// A matrix of `rows` x `depth` times one of `depth` x `columns`; to be planned.
HalfPixels describe_half_rows(int data_type, int64_t rows, int64_t depth, int64_t columns);

// Where the weights are whose elements are multiplied with those of a pixel's K segments: of an
// output channel, of all groups, and of an input channel and a tap.
struct HalfWeightSteps
{
    int64_t output_channel, input_channel, tap;
};

// All groups' weights: of each panel the biases as floats (0 where `bias` is null), then the
// weights of the panel's columns, group after group of each K segment.
void pack_half_weights(const HalfPixels& conv, const uint16_t* values, const uint16_t* bias,
                       const HalfWeightSteps& steps, char* packed);

// For prepare(): requests the scratch of multiply_half_pixels(), and keeps the problem and the
// packed weights, inputs 1 and 2 of the node.
TENGINE_MUST_USE int keep_half_pixels(KernelContext& context, const HalfPixels& conv,
                                      const HalfWeightSteps& steps);

// The operands of a run.
struct HalfRun
{
    const uint16_t* input;
    const char* packed;      // weights
    const uint16_t* addend;  // or null; it lies as the output does
    uint16_t* output;
    const Fusion* fusion;
    const uint16_t* factors = nullptr;  // of input channels, where the problem has them
};

// All of it on the calling thread; `scratch` has worker_bytes().
void multiply_halves_here(const HalfPixels& conv, const HalfRun& run, char* scratch);

// Input 0 to output 0, with what keep_half_pixels() has kept and the context's fusion.
void multiply_half_pixels(const KernelContext& context);

}  // namespace tengine::cpu

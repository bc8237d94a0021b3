// SPDX-License-Identifier: Apache-2.0
// Convolutions of fp16 or bf16 with channels last, and matrices, whose rows are pixels
// (pixel_problem.h). The product itself is a TileFormat's (group_tile.h), whose accumulators are
// fp32; a result is rounded to 16 bits once, after the bias, the addend and the activation. Weights
// always have 16 bits.
#pragma once

#include "device/cpu/kernel/product/pixel_problem.h"
#include "device/cpu/kernel_context.h"

namespace tengine::cpu {

struct Float16Pixels : PixelProblem
{
    int data_type;     // TENGINE_DT_FP16 or _BF16
    bool has_factors;  // of the channels of the input, where it is pointwise and has no strides
    int64_t part_elements;  // of the depth that is widened at once; 0: none is

    // Beside the copy: a part of the weights of a panel, widened, and the accumulators of a block
    // where there are several parts.
    int64_t part_bytes() const { return part_elements * format.columns * int64_t{sizeof(float)}; }
    int64_t sum_bytes() const
    {
        if (part_elements == 0 || part_elements >= depth()) return 0;
        return block_lines * block_pixels * format.columns * int64_t{sizeof(float)};
    }
};

// The format with which this processor multiplies this type of 16 bits.
TileFormat find_half_format(int data_type);

// The format of this type for processors that only convert: input and weights are widened to fp32
// in copies.
TileFormat find_widened_format(int data_type);

// The same with fp16 or bf16 weights, which a tile widens as it loads them; a tile that does not
// store them for other rows has at most kFewHalfRows rows.
inline constexpr int kFewHalfRows = 4;
void widen_and_multiply_halves(int data_type, const GroupTile& tile, int64_t rows);

// Cuts the work into blocks, and into items for the workers. Given are the ConvProblem, the type,
// the K segments, image_step, output_step, is_pointwise and has_factors.
void plan_half_pixels(Float16Pixels& conv, int64_t workers);

// A matrix of `rows` x `depth` times one of `depth` x `columns`; to be planned.
Float16Pixels describe_half_rows(int data_type, int64_t rows, int64_t depth, int64_t columns);

// All groups' weights: of each panel the biases as floats (0 where `bias` is null), then the
// weights of the panel's columns, group after group of each K segment.
void pack_half_weights(const Float16Pixels& conv, const uint16_t* values, const uint16_t* bias,
                       const WeightSteps& steps, char* packed);

// For prepare(): requests the scratch of multiply_half_pixels(), and keeps the problem and the
// packed weights, inputs 1 and 2 of the node.
TENGINE_MUST_USE int keep_half_pixels(KernelContext& context, const Float16Pixels& conv,
                                      const WeightSteps& steps);

// The operands of a run.
struct Float16Run : PixelRun
{
    const uint16_t* addend;  // or null; it lies as the output does
    uint16_t* output;
    const Fusion* fusion;
    const uint16_t* factors = nullptr;  // of input channels, where the problem has them
};

// All of it on the calling thread; `scratch` has worker_bytes().
void multiply_halves_here(const Float16Pixels& conv, const Float16Run& run, char* scratch);

// Input 0 to output 0, with what keep_half_pixels() has kept and the context's fusion.
void multiply_half_pixels(const KernelContext& context);

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Products of pixels with packed output channels, for convolutions with channels last and for
// matrices, whose rows are pixels: how they are cut into blocks, and how the weights are packed.
// The product itself is in float_tile-inl.h.
#pragma once

#include <algorithm>

#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel_context.h"
#include "operator/onnx/gemm_param.h"

namespace tengine::cpu {

// Sizes in floats and pixels. Channels are those of a group.
struct PixelConv : ConvProblem
{
    int64_t lines, line_pixels;  // of the output: a pointwise convolution has one line
    int64_t input_step;          // from an output pixel's input to that of the next
    int64_t image_step;          // between pixels of the input
    int64_t pixel_step;          // the same, or between those of its copy
    int64_t output_step;         // between pixels of the output, and of the addend
    int64_t tiles, tile_rows;    // of a line
    int64_t stretch_num, stretch_length;
    int64_t slice_length;  // so much of each K segment at a time; less than all where there is one
    int64_t block_lines, blocks;  // of an image; blocks of lines, or of tiles in one line
    int64_t block_tiles;
    int64_t copy_lines, copy_pixels;  // of a block's copy; 0 pixels: it is read in place
    int64_t panel_lanes;              // output channels of a whole panel
    int64_t panels, panel_parts;      // of a group; in how many items a block is computed
    int64_t weight_floats;            // packed, of a group
    bool has_far_weights;             // which are larger than half of the L2 cache
    bool is_pointwise;
    bool gathers;  // pointwise with strides: a block's copy has only the pixels that are read

    int64_t depth() const { return stretch_num * stretch_length; }
    int64_t all_inputs() const { return input_channels * groups; }
    int64_t items() const { return batch * groups * blocks * panel_parts; }
    uint64_t copy_floats() const
    {
        return static_cast<uint64_t>((copy_lines * copy_pixels * input_channels + 15) / 16 * 16);
    }
};

// A matrix of `rows` x `depth`, whose rows are pixels, times one of `depth` x `columns`; to be
// planned.
PixelConv describe_rows(int64_t rows, int64_t depth, int64_t columns);

// The part of it that pixels of every type have, int8, fp16 and bf16 too.
template <class Pixels>
Pixels describe_pointwise_rows(int64_t rows, int64_t depth, int64_t columns)
{
    Pixels conv = {};
    std::fill_n(conv.axes, kConvAxes, window_axis{1, 1, 1, 1, 1, 0, 0});
    conv.batch = conv.groups = conv.taps = 1;
    conv.input_channels = depth;
    conv.output_channels = columns;
    conv.input_plane = conv.output_plane = rows;
    conv.image_step = depth;
    conv.output_step = columns;
    conv.stretch_num = 1;
    conv.stretch_length = depth;
    conv.is_pointwise = true;
    return conv;
}

// Rows of a tile and lanes of a vector.
void describe_pixel_tile(int64_t* out_rows, int64_t* out_lanes);

// Cuts the work into tiles, blocks and items, for the vectors that kernels use and so many workers.
// The members before `tiles` are given; except for `lines` and `line_pixels` also `stretch_num` and
// `stretch_length`.
void plan_pixels(PixelConv& conv, int64_t workers);

// Whether pointwise convolutions with strides gather pixels, and kernels scale weights. Minimal
// builds do without.
#ifdef TENGINE_MINIMAL
constexpr bool kGathersPixels = false, kScalesWeights = false;
#else
constexpr bool kGathersPixels = true, kScalesWeights = true;
#endif

// Columns of a panel with `left` results or more: the last has one vector where that is
// enough. Minimal builds do without the code for that.
inline int64_t find_panel_width(int64_t left, int64_t panel_lanes)
{
#ifdef TENGINE_MINIMAL
    return left > 0 ? panel_lanes : 0;
#else
    return left <= panel_lanes / 2 ? panel_lanes / 2 : panel_lanes;
#endif
}

// The work to be cut into items for the workers: blocks of so many units, each of which all panels
// pass over, or of which the panels are dealt out, where there are not enough pixels, and where the
// weights are larger than the input.
struct PixelWork
{
    int64_t units, unit_size;  // lines, or tiles of one line; elements of the input of each
    int64_t room;              // for a block's input
    int64_t others;            // images and groups
    int64_t panels;
    bool has_large_weights;
};

struct PixelCut
{
    int64_t blocks, units;  // of each; the last may have fewer
    int64_t panel_parts;
};

PixelCut cut_pixels(const PixelWork& work, int64_t workers);

// Floats of the weights of all groups, packed.
inline uint64_t count_packed_floats(const PixelConv& conv)
{
    return static_cast<uint64_t>(conv.groups) * static_cast<uint64_t>(conv.weight_floats);
}

// Output lines 0..outputs-1 need so many lines of the input.
inline int64_t lines_for(const window_axis& axis, int64_t outputs)
{
    return (outputs - 1) * axis.stride + int64_t{axis.kernel - 1} * axis.dilation + 1;
}

// Sparse windows, and pads wider than any model's, would make the copy of a line far larger than
// the line.
inline bool is_compact(const window_axis& axis)
{
    constexpr int kMost = 1024;
    return axis.stride <= 16 && int64_t{axis.kernel - 1} * axis.dilation <= kMost &&
           axis.pad_begin <= kMost && axis.pad_end <= kMost;
}

// Packs panel after panel: the biases (0 where `bias` is null), then for each element of the K
// segments its weights, which fill(channel, present, width, panel) writes: `width` floats for each
// element, of `present` output channels from `channel` on, with zeros after them.
template <class Fill>
void pack_panels(const PixelConv& conv, const float* bias, const Fill& fill, float* packed)
{
    const int64_t depth = conv.depth();
    for (int64_t group = 0; group < conv.groups; ++group) {
        for (int64_t first = 0; first < conv.output_channels; first += conv.panel_lanes) {
            const int64_t left = conv.output_channels - first;
            const int64_t width = find_panel_width(left, conv.panel_lanes);
            const int64_t present = left < width ? left : width;
            float* panel = packed + group * conv.weight_floats + first * (depth + 1);
            for (int64_t i = 0; i < width; ++i)
                panel[i] = bias && i < present ? bias[group * conv.output_channels + first + i] : 0;
            fill(group * conv.output_channels + first, present, width, panel + width);
        }
    }
}

constexpr int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

constexpr int64_t kCacheLineFloats = 64 / sizeof(float);

// A tile of results, a few pixels by the columns of a panel. Offsets and steps are in floats.
struct PixelTile
{
    const float* input;  // of the first row
    int64_t input_step;  // from a row to the next
    // The K segments of the input that a row is the sum over, each `stretch_length` long.
    const int64_t* stretches;  // where they begin
    int64_t stretch_num, stretch_length;
    const int64_t* weight_gaps;  // floats of weights to pass over before each; null: none
    const float* bias;           // a vector; null: the output has the sum over other K segments
    const float* weights;        // a vector for each element of the K segments
    float* output;
    const float* addend;  // or null; it has the steps of the output
    int64_t output_step;
    int64_t columns;  // of the panel that are results
    const Fusion* fusion;
    const float* next;   // weights to prefetch, a few lines of the cache for each tile
    int64_t next_lines;  // of them for each; 0: none
};

// `rows` rows from the tile's first on, as many as there are, at most `most` at once; the panel has
// two vectors or one.
void multiply_pixel_rows(const PixelTile& tile, int64_t rows, int64_t most, bool is_wide);

// How many rows a tile has at most whose inputs are so many floats apart.
int64_t find_most_pixel_rows(int64_t input_step);

// The operands of a run. Input and output have the channels of all groups side by side.
struct PixelOperands
{
    const float* input;
    const float* addend;  // or null; it lies as the output does
    float* output;
    const float* weights;  // packed
    const Fusion* fusion;
};

// The whole of it. `scratch` has copy_floats() floats for each worker.
void multiply_pixels(thread_pool_t* pool, const PixelConv& conv, const PixelOperands& operands,
                     float* scratch);

// Multiplies the only block, which is read in place, with the panels from `first` to before `last`,
// on the calling thread.
void multiply_pixel_panels(const PixelConv& conv, const PixelOperands& operands, int64_t first,
                           int64_t last);

// The addend of the result, or null.
inline const tensor* find_addend(const KernelContext& context)
{
    return context.fusion.addend >= 0 ? context.input(context.fusion.addend) : nullptr;
}

// Kernel::find_in_place where the addend is read where the result is then written.
inline int take_addend(const KernelContext& context, int)
{
    return context.fusion.addend;
}

// The input in whose memory output 0 may be: the addend, which is read where the result is then
// written, unless sums over a part of the depth are written before.
inline int find_addend_in_place(const KernelContext& context, const PixelConv& conv)
{
    return conv.slice_length >= conv.stretch_length ? context.fusion.addend : -1;
}

// The same as the first on input 0 and output 0, with the context's fusion, in its scratch.
void multiply_pixels(const KernelContext& context, const PixelConv& conv, const float* weights);

// Whether a Gemm is a product of the rows as they lie, with nothing added but a constant for each
// column.
inline bool is_product_of_rows(const node& gemm)
{
    const auto& param = *static_cast<const gemm_param*>(gemm.op.param_mem);
    const tensor* bias = get_ir_node_input(&gemm, 2);
    const bool fits =
        !bias || (bias->tensor_type == TENSOR_TYPE_CONST && param.beta == 1 && bias->dim_num <= 2 &&
                  bias->elem_num == get_ir_node_output(&gemm, 0)->dims[1] &&
                  bias->dims[bias->dim_num - 1] == bias->elem_num);
    return param.transA == 0 && param.alpha == 1 && fits;
}

}  // namespace tengine::cpu

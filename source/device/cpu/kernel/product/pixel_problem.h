// SPDX-License-Identifier: Apache-2.0
// Products of pixels with packed output channels, for convolutions with channels last and for
// matrices, whose rows are pixels: the part that all element types have in common. It says how the
// work is cut into blocks and items, and how these are computed. Where the window reaches beyond
// the input, or elements are not multiplied as they are, the input of a block is copied first, and
// all panels pass over it before the next. fp32 is in pixels_f32.h, fp16 and bf16 in pixels_f16.h,
// int8 in pixels_s8.h.
#pragma once

#include <algorithm>

#include "base/alloc.h"
#include "base/minimal.h"
#include "device/cpu/kernel/conv/block_copy.h"
#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/product/tile/group_tile.h"
#include "device/cpu/kernel_context.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {

inline constexpr int64_t kMostSegments = 128;

// Whether pointwise convolutions gather the pixels between which they have strides. Minimal builds
// that have fp32 alone do without; one for compiled files has the integers of these.
#ifdef TENGINE_FP32_ONLY
constexpr bool kGathersPixels = !IS_MINIMAL || IS_RUNTIME_ONLY;
#else
constexpr bool kGathersPixels = true;
#endif

// Steps, counts and lengths are in pixels and elements unless the comment says bytes. Channels are
// those of a group.
struct PixelProblem : ConvProblem
{
    // Given, with the ConvProblem:
    TileFormat format;
    int input_size;          // bytes of an element of the input
    int64_t column_bytes;    // of a column of packed weights, and of what is packed before them
    int64_t narrow_columns;  // of a panel with at most this many results; 0: panels are wide
    int64_t image_step;      // between pixels of the input
    int64_t output_step;     // between pixels of the output, and of the addend
    int64_t segment_num, segment_length;
    bool is_pointwise;  // then all images are one line
    // Found by place_pixels():
    bool copies;                 // the input of a block is copied: padded, gathered or converted
    bool has_far_weights;        // which do not stay in the L2 cache
    int64_t lines, line_pixels;  // of the output
    int64_t pixel_step;          // between pixels of the operand: the input, or its copy
    int64_t input_step;          // of that, from an output pixel's to that of the next
    int64_t panels;              // of a group
    int64_t group_bytes;         // of packed weights, of a group
    // Rows of a tile at most, given before cut_blocks(), which finds the rest:
    int64_t tile_rows;
    int64_t panel_parts;              // in how many items a block is computed
    int64_t block_lines, blocks;      // of an image; blocks of lines, or of pixels of one line
    int64_t block_pixels;             // of a line
    int64_t copy_lines, copy_pixels;  // of a block's copy
    int64_t extra_bytes;              // of a worker's scratch that the element type needs beside it

    int64_t depth() const { return segment_num * segment_length; }
    int64_t whole_groups() const { return segment_length / format.group; }
    int64_t left_elements() const { return segment_length % format.group; }
    int64_t segment_groups() const { return whole_groups() + (left_elements() > 0); }
    int64_t items() const { return batch * groups * blocks * panel_parts; }
    int64_t panel_width(int64_t panel) const
    {
        const int64_t left = output_channels - panel * format.columns;
        return left <= narrow_columns ? narrow_columns : format.columns;
    }
    int64_t panel_at(int64_t panel) const { return panel * format.columns * column_bytes; }
    uint64_t packed_bytes() const { return static_cast<uint64_t>(groups * group_bytes); }
    // A block's copy (block_copy.h).
    int64_t copy_bytes() const
    {
        if (!copies) return 0;
        const int64_t bytes = copy_lines * copy_pixels * pixel_step * format.element_size;
        return kBlockHeaderBytes + round_up(bytes, ALLOC_ALIGNMENT);
    }
    // The scratch of a worker.
    uint64_t worker_bytes() const { return static_cast<uint64_t>(copy_bytes() + extra_bytes); }
};

// A matrix of `rows` x `depth`, whose rows are pixels, times one of `depth` x `columns`; to be
// planned.
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
    conv.segment_num = 1;
    conv.segment_length = depth;
    conv.is_pointwise = true;
    return conv;
}

// Where the pixels and the packed weights lie. `converts`: elements are not multiplied as they are
// in the input; `gap`: elements between pixels of a copy.
void place_pixels(PixelProblem& problem, bool converts, int64_t gap = 0);

// The part of the L2 cache for a block's input if panels of the weights have `panel_bytes`: one
// half, if the weights fit in the other half, where they stay from block to block. Larger weights
// are read from memory for each block, and only a panel needs room: this takes 4 % less time for
// the transformers of docs/benchmark.md.
int64_t find_block_room(const PixelProblem& problem, int64_t panel_bytes);

// Cuts the work into blocks, whose input fits in `room`, and into enough items for the workers.
// `depth`: the elements of it that a block multiplies before the others.
void cut_blocks(PixelProblem& problem, int64_t depth, int64_t room, int64_t workers);

// A panel of packed weights: `width` columns, of which the first `count` are output channels from
// `channel` on, counted over all groups. Element types begin it with a bias, or more, for each
// column.
struct PixelPanel
{
    char* data;
    int64_t width, channel, count;
};

// Calls pack(panel) for all groups' panels.
template <class Pack>
void pack_panels(const PixelProblem& problem, void* packed, const Pack& pack)
{
    for (int64_t i = 0; i < problem.groups * problem.panels; ++i) {
        const int64_t group = i / problem.panels, panel = i % problem.panels;
        const int64_t first = panel * problem.format.columns, width = problem.panel_width(panel);
        pack(PixelPanel{
            static_cast<char*>(packed) + group * problem.group_bytes + problem.panel_at(panel),
            width, group * problem.output_channels + first,
            std::min(width, problem.output_channels - first)});
    }
}

// The distances between the weights of neighbouring output channels, of all groups, input channels,
// and taps.
struct WeightSteps
{
    int64_t output_channel, input_channel, tap;
};

// Calls pack(from, to) for each element of the depth, with the weight of a panel's first column and
// the place for it in the panel's weights, which begin at `to`; that of the next column is a group
// further. `overlaps`: the last group of a K segment ends with the segment, and elements that are
// in the group before, too, have zeros there; else zeros follow.
template <class Weight, class Packed, class Pack>
void pack_elements(const PixelProblem& problem, const PixelPanel& panel, const WeightSteps& steps,
                   const Weight* weights, bool overlaps, Packed* to, const Pack& pack)
{
    const int64_t length = problem.segment_length, group = problem.format.group;
    const Weight* from = weights + panel.channel * steps.output_channel;
    if (panel.count < panel.width || problem.left_elements() > 0)
        std::fill_n(to, problem.segment_num * problem.segment_groups() * group * panel.width,
                    Packed());
    int64_t input = 0, tap = 0;
    for (int64_t segment = 0; segment < problem.segment_num; ++segment)
        for (int64_t i = 0; i < length; i += group, to += group * panel.width) {
            const int64_t left = std::min(group, length - i);
            for (int64_t j = overlaps ? group - left : 0, end = j + left; j < end; ++j) {
                pack(from + input * steps.input_channel + tap * steps.tap, to + j);
                if (++input == problem.input_channels) input = 0, ++tap;
            }
        }
}

// The operands of a run, to which element types add others.
struct PixelRun
{
    const void* input;
    const void* packed;  // weights
};

// A block of an image.
struct PixelBlock
{
    const char* input;        // of the first line and pixel
    int64_t line_step;        // bytes between the inputs of consecutive output lines
    const int64_t* segments;  // where K segments begin, in bytes
    int64_t lines, pixels;
    bool is_held;        // a copy that was made before
    const char* packed;  // weights of the group
    int64_t output;      // the element of the first line, pixel and channel
    char* scratch;       // extra_bytes
};

// The functions of an element type; problem and run are its own.
struct PixelFunctions
{
    // Copies pixels that lie `step` elements apart in the input, as they are multiplied; from null:
    // pixels of padding.
    void (*copy)(const PixelProblem& problem, const PixelRun& run, const void* from, int64_t step,
                 int64_t pixels, void* to);
    // Multiplies a block with the panels from `first` to before `last`.
    void (*multiply)(const PixelProblem& problem, const PixelRun& run, const PixelBlock& block,
                     int64_t first, int64_t last);
};

// The whole product; `scratch` has worker_bytes() for each worker.
void multiply_blocks(thread_pool_t* pool, const PixelProblem& problem,
                     const PixelFunctions& functions, const PixelRun& run, void* scratch);

// The panels from `first` to before `last` on the calling thread, whose scratch has worker_bytes().
void multiply_blocks_here(const PixelProblem& problem, const PixelFunctions& functions,
                          const PixelRun& run, int64_t first, int64_t last, void* scratch);

// The tile at the first pixel of a block, with a panel of which `start` and `weights` are left out.
inline GroupTile find_first_tile(const PixelProblem& problem, const PixelBlock& block,
                                 int64_t panel)
{
    const int64_t size = problem.format.element_size, left = problem.left_elements();
    GroupTile tile = {};
    tile.input = block.input;
    tile.input_step = problem.input_step * size;
    tile.segments = block.segments;
    tile.segment_num = problem.segment_num;
    tile.groups = problem.whole_groups();
    tile.last_shift = left > 0 ? (left - problem.format.group) * size : 0;
    tile.is_wide = problem.panel_width(panel) == problem.format.columns;
    return tile;
}

// The number of input lines that output lines 0..outputs-1 need.
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

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// See pixel_conv.h. Where the window reaches beyond the input, the lines that a block of output
// lines needs are copied with their padding first. A block fits into the L2 cache, and all
// panels pass over it before the next: each weight is used for all tiles of a block.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/parallel.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/pixel_conv_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/tile/float_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Rows of a tile, lanes of a vector.
void describe_tile(int64_t* out_rows, int64_t* out_lanes)
{
    *out_rows = kPixelRows;
    *out_lanes = static_cast<int64_t>(hn::Lanes(Floats()));
}

// Tiles of `most` rows or as many as there are code for, or fewer: as equal as may be, since low
// ones wait for their sums. Minimal builds, which do not have all heights, use lower ones for the
// rest.
void multiply_rows(const PixelTile& first, int64_t rows, int64_t most, bool is_wide)
{
    PixelTile tile = first;
    while (rows > 0) {
        int64_t height = find_tile_height(std::min(rows, most)), count = rows / height;
#ifndef TENGINE_MINIMAL
        const int64_t tiles = (rows + height - 1) / height;
        height = (rows + tiles - 1) / tiles;
        count = rows - (height - 1) * tiles;
#endif
        find_pixel_tile(height, is_wide)(tile, count);
        advance(tile, count * height);
        tile.next += count * tile.next_lines * kCacheLineFloats;
        rows -= count * height;
    }
}

// `lines` of a block from output line `first` on, with padding.
void copy_lines(const PixelConv& conv, const float* image, int64_t first, int64_t lines,
                float* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t channels = conv.input_channels, step = conv.image_step;
    const int64_t count = (lines - 1) * y.stride + int64_t{y.kernel - 1} * y.dilation + 1;
    const int64_t before = std::min<int64_t>(x.pad_begin, conv.copy_pixels);
    const int64_t present = std::min<int64_t>(x.input, conv.copy_pixels - before);
    for (int64_t i = 0; i < count; ++i, copy += conv.copy_pixels * channels) {
        const int64_t line = first * y.stride - y.pad_begin + i;
        if (line < 0 || line >= y.input) {
            std::fill_n(copy, conv.copy_pixels * channels, 0.0f);
            continue;
        }
        const float* from = image + line * x.input * step;
        float* to = copy + before * channels;
        std::fill(copy, to, 0.0f);
        if (step == channels)
            std::copy_n(from, present * channels, to);
        else
            for (int64_t pixel = 0; pixel < present; ++pixel)
                std::copy_n(from + pixel * step, channels, to + pixel * channels);
        std::fill(to + present * channels, copy + conv.copy_pixels * channels, 0.0f);
    }
}

// Output pixels first..first+count-1 of all images, as a pointwise convolution reads them.
void gather_pixels(const PixelConv& conv, const float* images, int64_t first, int64_t count,
                   float* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t channels = conv.input_channels;
    for (int64_t i = first; i < first + count; ++i, copy += channels) {
        const int64_t image = i / conv.output_plane, at = i % conv.output_plane;
        const int64_t row = at / x.output * y.stride, column = at % x.output * x.stride;
        const int64_t pixel = image * conv.input_plane + row * x.input + column;
        std::copy_n(images + pixel * conv.image_step, channels, copy);
    }
}

struct PixelBlock
{
    const float* input;  // of the first line
    int64_t line_step;   // between the inputs of consecutive output lines
    const int64_t* stretches;
    int64_t first_line, lines, first_tile, tiles;
    int64_t first_pixel;  // of the input, where that of the first tile is
    int64_t group;
    float* output;  // of the image's first pixel; the addend's step is the same
    const float* addend;
};

// A part of the depth: all K segments, or elements of the only one from `offset` on.
struct PixelSlice
{
    int64_t offset, length;
    bool is_first, is_last;
};

// Sets the part of the next panel that each tile of this panel prefetches.
void read_ahead(const PixelConv& conv, const PixelBlock& block, int64_t panel, int64_t line,
                PixelTile* tile)
{
    if (!kReadsAhead || !conv.has_far_weights || panel + 1 == conv.panels) return;
    const int64_t floats = tile->stretch_num * tile->stretch_length * conv.panel_lanes;
    tile->next_lines = floats / kCacheLineFloats / (block.lines * block.tiles) + 1;
    tile->next = tile->weights + (conv.depth() + 1) * conv.panel_lanes +
                 line * block.tiles * tile->next_lines * kCacheLineFloats;
}

// The tile at the first pixel of a block's line; its columns are those of the panel.
PixelTile find_panel_tile(const PixelConv& conv, const PixelOperands& operands,
                          const PixelBlock& block, const PixelSlice& slice, int64_t panel,
                          int64_t line)
{
    static const Fusion kNothing;
    const int64_t columns = conv.output_channels - panel * conv.panel_lanes;
    const int64_t width = find_panel_width(columns, conv.panel_lanes);
    const float* bias = operands.weights + block.group * conv.weight_floats +
                        panel * conv.panel_lanes * (conv.depth() + 1);
    const int64_t pixel = block.first_tile * conv.tile_rows;
    PixelTile tile = {};
    tile.input =
        block.input + line * block.line_step + block.first_pixel * conv.input_step + slice.offset;
    tile.input_step = conv.input_step;
    tile.stretches = block.stretches;
    tile.stretch_num = conv.stretch_num;
    tile.stretch_length = slice.length;
    tile.bias = slice.is_first ? bias : nullptr;
    tile.weights = bias + (1 + slice.offset) * width;
    tile.output_step = conv.output_step;
    tile.columns = std::min(columns, width);
    tile.fusion = slice.is_last ? operands.fusion : &kNothing;
    const int64_t at = ((block.first_line + line) * conv.line_pixels + pixel) * tile.output_step +
                       block.group * conv.output_channels + panel * conv.panel_lanes;
    tile.output = block.output + at;
    tile.addend = slice.is_last && block.addend ? block.addend + at : nullptr;
    read_ahead(conv, block, panel, line, &tile);
    return tile;
}

bool is_wide_panel(const PixelConv& conv, int64_t panel)
{
    return find_panel_width(conv.output_channels - panel * conv.panel_lanes, conv.panel_lanes) ==
           conv.panel_lanes;
}

void multiply_panel(const PixelConv& conv, const PixelOperands& operands, const PixelBlock& block,
                    const PixelSlice& slice, int64_t panel)
{
    const bool is_wide = is_wide_panel(conv, panel);
    const int64_t rows = std::min(block.tiles * conv.tile_rows,
                                  conv.line_pixels - block.first_tile * conv.tile_rows);
    const bool has_column = kCutsColumns && block.lines > 1 && rows == kCutRows;
    for (int64_t line = 0; line < block.lines; ++line)
        multiply_rows(find_panel_tile(conv, operands, block, slice, panel, line), rows - has_column,
                      has_column ? kPixelRows : conv.tile_rows, is_wide);
    if (!has_column) return;
    PixelTile column = find_panel_tile(conv, operands, block, slice, panel, 0);
    advance(column, rows - 1);
    column.input_step = block.line_step;
    column.output_step *= conv.line_pixels;
    multiply_rows(column, block.lines, kPixelRows, is_wide);
}

// The panels from `first` to before `last`.
void multiply_panels(const PixelConv& conv, const PixelOperands& operands, const PixelBlock& block,
                     const PixelSlice& slice, int64_t first, int64_t last)
{
    int64_t panel = first;
#ifndef TENGINE_MINIMAL
    for (; conv.line_pixels == 1 && panel + 1 < last && is_wide_panel(conv, panel + 1); panel += 2)
        for (int64_t line = 0; line < block.lines; ++line)
            multiply_pixel_row(find_panel_tile(conv, operands, block, slice, panel, line),
                               find_panel_tile(conv, operands, block, slice, panel + 1, line));
#endif
    for (; panel < last; ++panel)
        multiply_panel(conv, operands, block, slice, panel);
}

// The panels from `first` to before `last` on block `number` of all groups and images; `copy` has
// room for it.
void run_block(const PixelConv& conv, const PixelOperands& operands, int64_t number, int64_t first,
               int64_t last, float* copy)
{
    const int64_t index = number % conv.blocks, group = number / conv.blocks;
    const int64_t image = group / conv.groups;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];

    PixelBlock block = {};
    block.group = group % conv.groups;
    block.first_line = conv.is_pointwise ? 0 : index * conv.block_lines;
    block.lines = conv.is_pointwise ? 1 : std::min(conv.block_lines, conv.lines - block.first_line);
    block.first_tile = conv.is_pointwise ? index * conv.block_tiles : 0;
    block.tiles = std::min(conv.block_tiles, conv.tiles - block.first_tile);
    const int64_t plane = conv.is_pointwise ? 0 : conv.output_plane;
    block.output = operands.output + image * plane * conv.output_step;
    block.addend = operands.addend ? operands.addend + image * plane * conv.output_step : nullptr;

    const float* input = operands.input + image * conv.input_plane * conv.image_step +
                         block.group * conv.input_channels;
    const int64_t pixels = conv.copy_pixels > 0 ? conv.copy_pixels : x.input;
    block.line_step = int64_t{y.stride} * pixels * conv.pixel_step;
    const int64_t pixel = block.first_tile * conv.tile_rows;
    block.first_pixel = kGathersPixels && conv.gathers ? 0 : pixel;
    if (kGathersPixels && conv.gathers) {
        gather_pixels(conv, input, pixel,
                      std::min(block.tiles * conv.tile_rows, conv.line_pixels - pixel), copy);
        block.input = copy;
    } else if (conv.copy_pixels > 0) {
        copy_lines(conv, input, block.first_line, block.lines, copy);
        block.input = copy;
    } else {
        block.input = input + block.first_line * block.line_step;
    }

    // One K segment for each row of the window, or for each of its taps.
    constexpr int64_t kMost = 128;
    int64_t stretches[kMost];
    const int64_t across = conv.stretch_num / y.kernel;
    for (int64_t i = 0; i < conv.stretch_num; ++i)
        stretches[i] =
            (i / across * y.dilation * pixels + i % across * x.dilation) * conv.pixel_step;
    block.stretches = stretches;

    PixelSlice slice = {};
    do {
        slice.length = std::min(conv.slice_length, conv.stretch_length - slice.offset);
        slice.is_first = slice.offset == 0;
        slice.is_last = slice.offset + slice.length == conv.stretch_length;
        multiply_panels(conv, operands, block, slice, first, last);
        slice.offset += slice.length;
    } while (!slice.is_last);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(describe_tile);
HWY_EXPORT(run_block);
HWY_EXPORT(multiply_rows);

constexpr int64_t kItemsPerWorker = 4;

// The size of the L2 cache.
int64_t count_cached_floats()
{
    return static_cast<int64_t>(get_cpu_cache_size().l2 / sizeof(float));
}

// Rows of a tile that are a multiple of so many bytes apart fall into one set of an L1 cache, which
// has 8 lines at least.
constexpr int64_t kCollidingBytes = 4096;
constexpr int64_t kMostCollidingRows = 8;

// Tiles of equal height, as many as are needed; where not all heights are built, as high as may be.
void choose_tiles(PixelConv& conv)
{
    const int64_t rows = find_most_pixel_rows(conv.input_step);
    int64_t most, lanes;
    describe_pixel_tile(&most, &lanes);
    conv.tiles = divide_up(conv.line_pixels, rows);
#ifdef TENGINE_MINIMAL
    conv.tile_rows = std::min(rows, conv.line_pixels);
#else
    conv.tile_rows = divide_up(conv.line_pixels, std::max<int64_t>(conv.tiles, 1));
#endif
    conv.panel_lanes = 2 * lanes;
    conv.panels = divide_up(conv.output_channels, conv.panel_lanes);
    const int64_t whole = (conv.panels - 1) * conv.panel_lanes;
    const int64_t lane_num =
        whole + find_panel_width(conv.output_channels - whole, conv.panel_lanes);
    conv.weight_floats = lane_num * (conv.depth() + 1);
    conv.has_far_weights = conv.weight_floats > count_cached_floats() / 2;
}

// The part of the L2 cache for a block's input: half, where the weights stay in the other half from
// block to block. Larger weights come from beyond for each block, and only a panel of `depth` needs
// room: the transformers of docs/benchmark.md take 4 % less time so.
int64_t floats_of_a_block(const PixelConv& conv, int64_t depth)
{
    const int64_t cache = count_cached_floats();
    if (!conv.has_far_weights) return cache / 2;
    return std::max(cache / 2, cache / 8 * 7 - depth * conv.panel_lanes);
}

// Floats that go through the L2 cache when the depth of a pointwise convolution is cut into so many
// slices: its weights for each block of rows, and its results for each slice but the first.
int64_t count_traffic(const PixelConv& conv, int64_t slices)
{
    const int64_t length = divide_up(conv.stretch_length, slices), pixels = conv.line_pixels;
    const int64_t rows = std::max(floats_of_a_block(conv, length) / length, conv.tile_rows);
    return divide_up(pixels, rows) * conv.weight_floats +
           2 * (slices - 1) * pixels * conv.output_channels;
}

// Shorter slices make higher blocks.
void choose_slices(PixelConv& conv)
{
    constexpr int64_t kShortest = 128;
    int64_t slices = 1;
    if (conv.is_pointwise && conv.stretch_length > 0 && conv.line_pixels > 0) {
        int64_t least = count_traffic(conv, 1) * 3 / 4;  // a slice costs more than its traffic
        for (int64_t i = 2; i <= conv.stretch_length / kShortest; ++i) {
            const int64_t traffic = count_traffic(conv, i);
            if (traffic < least) least = traffic, slices = i;
        }
    }
    const int64_t length = std::max<int64_t>(conv.stretch_length, 1);
    conv.slice_length = (divide_up(length, slices) + 3) / 4 * 4;
}

// Blocks whose input fits into its share of the L2 cache, and enough items for all workers.
void choose_blocks(PixelConv& conv, int64_t workers)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    PixelWork work = {};
    work.units = conv.is_pointwise ? conv.tiles : conv.lines;
    work.unit_size = conv.is_pointwise
                         ? conv.tile_rows * std::min(conv.slice_length, conv.all_inputs())
                         : std::max(x.input, x.output) * conv.input_channels * y.stride;
    const int64_t halo =
        conv.is_pointwise ? 0 : (lines_for(y, 1) - y.stride) * work.unit_size / y.stride;
    work.room = floats_of_a_block(conv, conv.stretch_num * conv.slice_length) - halo;
    work.others = conv.batch * conv.groups;
    work.panels = conv.panels;
    work.has_large_weights = conv.weight_floats > conv.input_plane * conv.input_channels;
    const PixelCut cut = cut_pixels(work, workers);
    conv.panel_parts = cut.panel_parts;
    conv.blocks = cut.blocks;
    conv.block_lines = conv.is_pointwise ? 1 : cut.units;
    conv.block_tiles = conv.is_pointwise ? cut.units : conv.tiles;
}

// Units of the worker that has most of them, where blocks of so many are dealt out.
int64_t find_longest(int64_t units, int64_t size, int64_t workers)
{
    const int64_t whole = units / size, each = whole / workers * size;
    return whole % workers > 0 ? each + size : each + units % size;
}

// Blocks of up to so many units, down to half of that, which workers share most evenly.
int64_t find_even_size(int64_t units, int64_t most, int64_t workers)
{
    int64_t best = most;
    for (int64_t size = most - 1; size > most / 2; --size)
        if (find_longest(units, size, workers) < find_longest(units, best, workers)) best = size;
    return best;
}

}  // namespace

void describe_pixel_tile(int64_t* out_rows, int64_t* out_lanes)
{
    HWY_DYNAMIC_DISPATCH(describe_tile)(out_rows, out_lanes);
}

void multiply_pixel_rows(const PixelTile& tile, int64_t rows, int64_t most, bool is_wide)
{
    HWY_DYNAMIC_DISPATCH(multiply_rows)(tile, rows, most, is_wide);
}

int64_t find_most_pixel_rows(int64_t input_step)
{
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    const bool collides = input_step % (kCollidingBytes / int64_t{sizeof(float)}) == 0;
    return collides ? std::min(rows, kMostCollidingRows) : rows;
}

PixelCut cut_pixels(const PixelWork& work, int64_t workers)
{
    const int64_t most = std::max<int64_t>(work.units, 1);
    const int64_t fitting =
        std::clamp<int64_t>(work.room / std::max<int64_t>(work.unit_size, 1), 1, most);
    int64_t blocks = divide_up(work.units, fitting);
    const int64_t wanted = workers > 1 ? workers * kItemsPerWorker : 1;
    int64_t parts = 1;
    if (workers > 1 && work.panels >= wanted && work.has_large_weights)
        parts = divide_up(wanted, work.others * blocks);
    else if (work.others * blocks < wanted)
        blocks = std::clamp<int64_t>(divide_up(wanted, work.others), blocks, most);
    parts =
        std::clamp<int64_t>(std::max(parts, wanted / std::max<int64_t>(work.others * blocks, 1)), 1,
                            std::max<int64_t>(work.panels, 1));
    int64_t size = divide_up(work.units, std::max<int64_t>(blocks, 1));
    if (parts == 1 && work.others == 1) size = find_even_size(work.units, size, workers);
    return {size > 0 ? divide_up(work.units, size) : 0, size, parts};
}

PixelConv describe_rows(int64_t rows, int64_t depth, int64_t columns)
{
    auto conv = describe_pointwise_rows<PixelConv>(rows, depth, columns);
    conv.lines = 1;
    conv.line_pixels = rows;
    conv.input_step = conv.pixel_step = depth;
    return conv;
}

void plan_pixels(PixelConv& conv, int64_t workers)
{
    choose_tiles(conv);
    choose_slices(conv);
    choose_blocks(conv, workers);
    conv.copy_lines = conv.copy_pixels > 0 && conv.block_lines > 0
                          ? lines_for(conv.axes[1], conv.block_lines)
                          : 0;
    if (!conv.gathers) return;
    conv.copy_lines = 1;
    conv.copy_pixels = std::min(conv.block_tiles * conv.tile_rows, conv.line_pixels);
}

void multiply_pixels(thread_pool_t* pool, const PixelConv& conv, const PixelOperands& operands,
                     float* scratch)
{
    const auto work = HWY_DYNAMIC_DISPATCH(run_block);
    const int64_t parts = conv.panel_parts;
    parallel_for(pool, conv.items(), 1, [&](int64_t first, int64_t last, int worker) {
        float* copy = scratch + conv.copy_floats() * static_cast<uint64_t>(worker);
        for (int64_t item = first; item < last; ++item) {
            const int64_t part = item % parts;
            work(conv, operands, item / parts, conv.panels * part / parts,
                 conv.panels * (part + 1) / parts, copy);
        }
    });
}

void multiply_pixel_panels(const PixelConv& conv, const PixelOperands& operands, int64_t first,
                           int64_t last)
{
    HWY_DYNAMIC_DISPATCH(run_block)(conv, operands, 0, first, last, nullptr);
}

void multiply_pixels(const KernelContext& context, const PixelConv& conv, const float* weights)
{
    const tensor* addend = find_addend(context);
    multiply_pixels(context.pool, conv,
                    {context.input(0)->f32, addend ? addend->f32 : nullptr, context.output(0)->f32,
                     weights, &context.fusion},
                    static_cast<float*>(context.scratch));
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

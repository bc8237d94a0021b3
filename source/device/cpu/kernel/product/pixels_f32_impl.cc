// SPDX-License-Identifier: Apache-2.0
// See pixels_f32.h: tiles of pixels by panels of output channels.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/shared/rounding.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/pixels_f32_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/pixel_block-inl.h"
#include "device/cpu/kernel/product/tile/tile_f32-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Rows of a tile, lanes of a vector.
void describe_tile(int64_t* out_rows, int64_t* out_lanes)
{
    *out_rows = kPixelRows;
    *out_lanes = static_cast<int64_t>(hn::Lanes(Floats()));
}

// Tiles of `most` rows or as many as there are code for, or fewer: as equal as may be, since low
// ones wait for their accumulators. Minimal builds, which do not have all heights, use lower ones
// for the rest.
void multiply_rows(const FloatTile& first, int64_t rows, int64_t most, bool is_wide)
{
    FloatTile tile = first;
    while (rows > 0) {
        int64_t height = find_tile_height(std::min(rows, most)), count = rows / height;
        if (!IS_MINIMAL) {
            const int64_t tiles = divide_up(rows, height);
            height = divide_up(rows, tiles);
            count = rows - (height - 1) * tiles;
        }
        find_pixel_tile(height, is_wide)(tile, count);
        advance(tile, count * height);
        tile.next += count * tile.next_lines * kCacheLineFloats;
        rows -= count * height;
    }
}

void copy_floats(const PixelProblem& problem, const PixelRun&, const void* from, int64_t step,
                 int64_t pixels, void* to)
{
    const auto copy = [](const float* source, int64_t count, float* target) {
        copy_elements(source, count, target);
    };
    copy_pixels(problem, static_cast<const float*>(from), step, pixels, 0.0f,
                static_cast<float*>(to), copy);
}

// A part of the depth: all K segments, or elements of the only one from `offset` on.
struct PixelSlice
{
    int64_t offset, length;
    bool is_first, is_last;
};

// Sets the part of the next panel that each tile of this panel prefetches.
void read_ahead(const FloatPixels& conv, const PixelBlock& block, int64_t panel, int64_t line,
                FloatTile* tile)
{
    if (!kReadsAhead || !conv.has_far_weights || panel + 1 == conv.panels) return;
    const int64_t tiles = divide_up(block.pixels, conv.tile_rows);
    const int64_t floats = tile->segment_num * tile->segment_length * conv.format.columns;
    tile->next_lines = floats / kCacheLineFloats / (block.lines * tiles) + 1;
    tile->next = tile->weights + (conv.depth() + 1) * conv.format.columns +
                 line * tiles * tile->next_lines * kCacheLineFloats;
}

// The tile at the first pixel of a block's line; its columns are those of the panel.
FloatTile find_panel_tile(const FloatPixels& conv, const FloatRun& operands,
                          const PixelBlock& block, const PixelSlice& slice, int64_t panel,
                          int64_t line)
{
    static const Fusion kNothing;
    const int64_t width = conv.panel_width(panel), column = panel * conv.format.columns;
    const auto* bias = reinterpret_cast<const float*>(block.packed + conv.panel_at(panel));
    FloatTile tile = {};
    tile.input =
        reinterpret_cast<const float*>(block.input + line * block.line_step) + slice.offset;
    tile.input_step = conv.input_step;
    tile.segments = block.segments;
    tile.segment_num = conv.segment_num;
    tile.segment_length = slice.length;
    tile.bias = slice.is_first ? bias : nullptr;
    tile.weights = bias + (1 + slice.offset) * width;
    tile.output_step = conv.output_step;
    tile.columns = std::min(conv.output_channels - column, width);
    tile.fusion = slice.is_last ? operands.fusion : &kNothing;
    const int64_t at = block.output + line * conv.line_pixels * conv.output_step + column;
    tile.output = operands.output + at;
    tile.addend = slice.is_last && operands.addend ? operands.addend + at : nullptr;
    read_ahead(conv, block, panel, line, &tile);
    return tile;
}

bool is_wide_panel(const FloatPixels& conv, int64_t panel)
{
    return conv.panel_width(panel) == conv.format.columns;
}

void multiply_panel(const FloatPixels& conv, const FloatRun& operands, const PixelBlock& block,
                    const PixelSlice& slice, int64_t panel)
{
    const bool is_wide = is_wide_panel(conv, panel);
    const bool has_column = kCutsColumns && block.lines > 1 && block.pixels == kCutRows;
    for (int64_t line = 0; line < block.lines; ++line)
        multiply_rows(find_panel_tile(conv, operands, block, slice, panel, line),
                      block.pixels - has_column, has_column ? kPixelRows : conv.tile_rows, is_wide);
    if (!has_column) return;
    FloatTile column = find_panel_tile(conv, operands, block, slice, panel, 0);
    advance(column, block.pixels - 1);
    column.input_step = block.line_step / int64_t{sizeof(float)};
    column.output_step *= conv.line_pixels;
    multiply_rows(column, block.lines, kPixelRows, is_wide);
}

// The panels from `first` to before `last`.
void multiply_panels(const FloatPixels& conv, const FloatRun& operands, const PixelBlock& block,
                     const PixelSlice& slice, int64_t first, int64_t last)
{
    const bool takes_pairs = !IS_MINIMAL && conv.line_pixels == 1;
    int64_t panel = first;
    for (; takes_pairs && panel + 1 < last && is_wide_panel(conv, panel + 1); panel += 2)
        for (int64_t line = 0; line < block.lines; ++line)
            multiply_pixel_row(find_panel_tile(conv, operands, block, slice, panel, line),
                               find_panel_tile(conv, operands, block, slice, panel + 1, line));
    for (; panel < last; ++panel)
        multiply_panel(conv, operands, block, slice, panel);
}

void multiply_float_block(const PixelProblem& problem, const PixelRun& run, const PixelBlock& block,
                          int64_t first, int64_t last)
{
    const auto& conv = static_cast<const FloatPixels&>(problem);
    const auto& operands = static_cast<const FloatRun&>(run);
    PixelSlice slice = {};
    do {
        slice.length = std::min(conv.slice_length, conv.segment_length - slice.offset);
        slice.is_first = slice.offset == 0;
        slice.is_last = slice.offset + slice.length == conv.segment_length;
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
HWY_EXPORT(copy_floats);
HWY_EXPORT(multiply_float_block);
HWY_EXPORT(multiply_rows);

PixelFunctions find_float_functions()
{
    return {HWY_DYNAMIC_DISPATCH(copy_floats), HWY_DYNAMIC_DISPATCH(multiply_float_block)};
}

constexpr int64_t kMostCollidingRows = 8;  // a set of an L1 cache has 8 lines at least

// Tiles of equal height, as many as are needed; where not all heights are built, as high as may be.
int64_t choose_tile_rows(const FloatPixels& conv)
{
    const int64_t rows = find_most_pixel_rows(conv.input_step);
    const int64_t pixels = std::max<int64_t>(conv.line_pixels, 1);
    return IS_MINIMAL ? std::min(rows, pixels) : divide_up(pixels, divide_up(pixels, rows));
}

// The part of the L2 cache for a block's input beside panels of so much of the depth.
int64_t find_room(const FloatPixels& conv, int64_t depth)
{
    return find_block_room(conv, depth * conv.format.columns * int64_t{sizeof(float)});
}

// The floats that pass the L2 cache if the depth of a pointwise convolution is cut into `slices`:
// its weights for each block of rows, and its results for each slice but the first.
int64_t count_traffic(const FloatPixels& conv, int64_t slices)
{
    const int64_t length = divide_up(conv.segment_length, slices), pixels = conv.line_pixels;
    const int64_t fitting = find_room(conv, length) / (length * int64_t{sizeof(float)});
    return divide_up(pixels, std::max(fitting, conv.tile_rows)) *
               (conv.group_bytes / int64_t{sizeof(float)}) +
           2 * (slices - 1) * pixels * conv.output_channels;
}

// Shorter slices make higher blocks.
int64_t choose_slice_length(const FloatPixels& conv)
{
    constexpr int64_t kShortest = 128;
    int64_t slices = 1;
    if (conv.is_pointwise && conv.segment_length > 0 && conv.line_pixels > 0) {
        int64_t least = count_traffic(conv, 1) * 3 / 4;  // a slice costs more than its traffic
        for (int64_t i = 2; i <= conv.segment_length / kShortest; ++i) {
            const int64_t traffic = count_traffic(conv, i);
            if (traffic < least) least = traffic, slices = i;
        }
    }
    const int64_t length = std::max<int64_t>(conv.segment_length, 1);
    return round_up(divide_up(length, slices), 4);
}

}  // namespace

void describe_pixel_tile(int64_t* out_rows, int64_t* out_lanes)
{
    HWY_DYNAMIC_DISPATCH(describe_tile)(out_rows, out_lanes);
}

void multiply_pixel_rows(const FloatTile& tile, int64_t rows, int64_t most, bool is_wide)
{
    HWY_DYNAMIC_DISPATCH(multiply_rows)(tile, rows, most, is_wide);
}

bool do_rows_collide(int64_t step)
{
    constexpr int64_t kCollidingBytes = 4096;  // a multiple of these is between them
    return step % (kCollidingBytes / int64_t{sizeof(float)}) == 0;
}

int64_t find_most_pixel_rows(int64_t input_step)
{
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    return do_rows_collide(input_step) ? std::min(rows, kMostCollidingRows) : rows;
}

void describe_float_panels(FloatPixels& conv)
{
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    conv.format.element_size = sizeof(float);
    conv.format.group = 1;
    conv.format.columns = static_cast<int>(2 * lanes);
    conv.input_size = sizeof(float);
    conv.narrow_columns = find_panel_width(1, 2 * lanes) % (2 * lanes);
    conv.column_bytes = (conv.depth() + 1) * int64_t{sizeof(float)};
    conv.panels = divide_up(conv.output_channels, conv.format.columns);
}

float* pack_bias(const PixelPanel& panel, const float* bias)
{
    auto* to = reinterpret_cast<float*>(panel.data);
    for (int64_t i = 0; i < panel.width; ++i)
        to[i] = bias && i < panel.count ? bias[panel.channel + i] : 0;
    return to + panel.width;
}

void pack_float_weights(const FloatPixels& conv, const float* weights, const float* bias,
                        const WeightSteps& steps, void* packed)
{
    pack_panels(conv, packed, [&](const PixelPanel& panel) {
        pack_elements(conv, panel, steps, weights, false, pack_bias(panel, bias),
                      [&](const float* from, float* to) {
                          if (steps.output_channel == 1)
                              std::copy_n(from, panel.count, to);
                          else
                              for (int64_t i = 0; i < panel.count; ++i)
                                  to[i] = from[i * steps.output_channel];
                      });
    });
}

void plan_pixels(FloatPixels& conv, int64_t workers)
{
    describe_float_panels(conv);
    place_pixels(conv, false);
    conv.tile_rows = choose_tile_rows(conv);
    conv.slice_length = choose_slice_length(conv);
    cut_blocks(conv, std::min(conv.slice_length, conv.segment_length),
               find_room(conv, conv.segment_num * conv.slice_length), workers);
}

void multiply_pixels(thread_pool_t* pool, const FloatPixels& conv, const FloatRun& operands,
                     void* scratch)
{
    multiply_blocks(pool, conv, find_float_functions(), operands, scratch);
}

void multiply_pixel_panels(const FloatPixels& conv, const FloatRun& operands, int64_t first,
                           int64_t last)
{
    multiply_blocks_here(conv, find_float_functions(), operands, first, last, nullptr);
}

void multiply_pixels(const KernelContext& context, const FloatPixels& conv, const void* weights)
{
    const tensor* addend = find_addend(context);
    multiply_pixels(context.pool, conv,
                    {{context.input(0)->f32, weights},
                     addend ? addend->f32 : nullptr,
                     context.output(0)->f32,
                     &context.fusion},
                    context.scratch);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

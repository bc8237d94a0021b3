// SPDX-License-Identifier: Apache-2.0
// See half_pixels.h. Tiles of pixels by panels of output channels, as in byte_pixels_impl.cc: where
// the window reaches beyond the input, or elements are not multiplied as they are, the input of a
// block is copied first, and all panels pass over it before the next. The sums of a tile stay in
// the L1 cache until they have become results. Limits: the instructions of the format; with few
// input channels also reading the sums again.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/cpu.h"
#include "device/cpu/kernel/product/half_panel.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/parallel.h"

#ifndef TENGINE_CPU_HALF_PIXELS
#define TENGINE_CPU_HALF_PIXELS
namespace tengine::cpu {

// A block of an image.
struct HalfBlock
{
    const char* input;  // of the first line and pixel
    int64_t line_step;  // bytes between the inputs of consecutive output lines
    const int64_t* stretches;
    int64_t lines, pixels;
    const char* packed;  // weights of the group
    int64_t output;      // the element of the first line, pixel and channel
    char* scratch;       // for a part of the weights, and for sums
};

// The part of the depth that is widened at once and multiplied with all rows of a block: whole K
// segments, or elements of one.
struct HalfPart
{
    int64_t first, count;    // K segments
    int64_t offset, length;  // elements of each
    bool is_first, is_last;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/half_pixels_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/elements-inl.h"
#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void convert_halves(const T* from, int64_t count, T* to)
{
    std::copy_n(from, count, to);
}

template <class T>
HWY_INLINE void convert_halves(const T* from, int64_t count, float* to)
{
    load_floats(from, count, to);
}

// Times the factor of each; fp16 and bf16 are rounded again.
template <class From, class To>
HWY_INLINE void scale_halves(const From* from, const From* factors, int64_t count, To* to)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes)
        store_lanes(hn::Mul(load_lanes(from + i, count - i), load_lanes(factors + i, count - i)),
                    to + i, count - i);
}

// `count` pixels that lie `step` apart.
template <class From, class To>
HWY_INLINE void convert_half_pixels(const HalfPixels& conv, const From* from, int64_t step,
                                    int64_t count, To* to)
{
    const int64_t channels = conv.input_channels;
    if (step == channels && conv.pixel_step == channels)
        return convert_halves(from, count * channels, to);
    for (int64_t i = 0; i < count; ++i)
        convert_halves(from + i * step, channels, to + i * conv.pixel_step);
}

// `lines` of a block from output line `first` on, with padding.
template <class From, class To>
HWY_INLINE void copy_half_lines(const HalfPixels& conv, const From* image, int64_t first,
                                int64_t lines, To* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t channels = conv.input_channels;
    const int64_t before = std::min<int64_t>(x.pad_begin, conv.copy_pixels);
    const int64_t present = std::min<int64_t>(x.input, conv.copy_pixels - before);
    for (int64_t i = 0; i < lines_for(y, lines); ++i, copy += conv.copy_pixels * channels) {
        const int64_t line = first * y.stride - y.pad_begin + i;
        const bool exists = line >= 0 && line < y.input;
        To* to = copy + (exists ? before * channels : 0);
        std::fill(copy, to, To{});
        if (exists) {
            convert_half_pixels(conv, image + line * x.input * conv.image_step, conv.image_step,
                                present, to);
            to += present * channels;
        }
        std::fill(to, copy + conv.copy_pixels * channels, To{});
    }
}

// Output pixels first..first+count-1 of all images, as a pointwise convolution reads them.
template <class From, class To>
HWY_INLINE void gather_half_pixels(const HalfPixels& conv, const From* images, const From* factors,
                                   int64_t first, int64_t count, To* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    if (conv.has_factors) {
        for (int64_t i = first; i < first + count; ++i, copy += conv.pixel_step)
            scale_halves(images + i * conv.image_step, factors, conv.input_channels, copy);
        return;
    }
    if (y.stride == 1 && x.stride == 1)
        return convert_half_pixels(conv, images + first * conv.image_step, conv.image_step, count,
                                   copy);
    for (int64_t i = first; i < first + count; ++i, copy += conv.pixel_step) {
        const int64_t image = i / conv.output_plane, at = i % conv.output_plane;
        const int64_t row = at / x.output * y.stride, column = at % x.output * x.stride;
        const int64_t pixel = image * conv.input_plane + row * x.input + column;
        convert_halves(images + pixel * conv.image_step, conv.input_channels, copy);
    }
}

template <class From, class To>
HWY_INLINE void fill_half_copy(const HalfPixels& conv, const uint16_t* input,
                               const uint16_t* factors, int64_t first, int64_t count, char* copy)
{
    const auto* from = reinterpret_cast<const From*>(input);
    To* to = reinterpret_cast<To*>(copy);
    if (conv.is_pointwise)
        gather_half_pixels(conv, from, reinterpret_cast<const From*>(factors), first, count, to);
    else
        copy_half_lines(conv, from, first, count, to);
}

// Copies `count` pixels from `first` on for pointwise convolutions, lines for others.
void copy_half_block(const HalfPixels& conv, const uint16_t* input, const uint16_t* factors,
                     int64_t first, int64_t count, char* copy)
{
    const bool is_fp16 = conv.data_type == TENGINE_DT_FP16;
    if (conv.format.element_size == 2)
        (is_fp16 ? fill_half_copy<Half, Half>
                 : fill_half_copy<BFloat16, BFloat16>)(conv, input, factors, first, count, copy);
    else
        (is_fp16 ? fill_half_copy<Half, float>
                 : fill_half_copy<BFloat16, float>)(conv, input, factors, first, count, copy);
}

// The sums of a tile, `width` for each row.
struct HalfSums
{
    float* values;
    int64_t width, rows, columns;
};

// Adds the values that lie where the result will.
template <class T>
HWY_INLINE void add_halves(const HalfSums& sums, const T* addend, int64_t step)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t row = 0; row < sums.rows; ++row)
        for (int64_t i = 0; i < sums.columns; i += lanes) {
            float* sum = sums.values + row * sums.width + i;
            const Vector more = load_lanes(addend + row * step + i, sums.columns - i);
            hn::StoreU(hn::Add(hn::LoadU(d, sum), more), d, sum);
        }
}

// The results that the format's own epilogue makes of a tile's accumulators.
HWY_INLINE HalfResults describe_half_results(const HalfPixels& conv, const HalfRun& run,
                                             const HalfSums& sums, int64_t at)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const bool clips = run.fusion->activation == Activation::kClip;
    return {sums.values,
            run.addend ? run.addend + at : nullptr,
            run.output + at,
            sums.width,
            sums.rows,
            sums.columns,
            conv.output_step,
            clips ? run.fusion->parameters[0] : -kInfinity,
            clips ? run.fusion->parameters[1] : kInfinity};
}

void finish_half_sums(const HalfPixels& conv, const HalfRun& run, const HalfSums& sums, int64_t at)
{
    HalfResults results = describe_half_results(conv, run, sums, at);
    if (needs_activation_pass(*run.fusion)) {
        if (results.addend)
            add_halves(sums, reinterpret_cast<const BFloat16*>(results.addend), conv.output_step);
        results.addend = nullptr;
        activate(*run.fusion, sums.values, sums.rows, sums.width, sums.columns);
    }
    conv.format.finish(results);
}

// The results of a tile, of which the first is the element `at` of the output.
template <class T>
HWY_INLINE void store_half_sums(const HalfPixels& conv, const HalfRun& run, const HalfSums& sums,
                                int64_t at)
{
    if (conv.format.finish) return finish_half_sums(conv, run, sums, at);
    const int64_t step = conv.output_step;
    const Bounds clip(*run.fusion);
    T* output = reinterpret_cast<T*>(run.output) + at;
    if (run.addend) add_halves(sums, reinterpret_cast<const T*>(run.addend) + at, step);
    if (needs_activation_pass(*run.fusion))
        activate(*run.fusion, sums.values, sums.rows, sums.width, sums.columns);
    for (int64_t row = 0; row < sums.rows; ++row)
        store_floats(sums.values + row * sums.width, sums.columns, clip, output + row * step);
}

// A panel, or a part of its depth, on all rows of a block.
struct HalfProduct
{
    ByteTile tile;
    bool is_few;   // of the rows that multiply_few_halves() takes
    bool is_last;  // sums become results
    bool rounds;   // then they do in the tile
    float* sums;   // for the part after it, and from that before; null: there is one part
    int64_t width, columns;
    int64_t at;  // the first result, an element of the output
};

// Ends the tasks of a block's first tile: to prefetch the next weights, and to widen its own.
HWY_INLINE void forget_first_tile(ByteTile& tile)
{
    tile.ahead = nullptr;
    if (tile.kept) tile.weights = reinterpret_cast<const char*>(tile.kept);
    tile.kept = nullptr;
}

// A line of a block, its first result `at`.
template <class T>
HWY_INLINE void multiply_half_line(const HalfPixels& conv, const HalfProduct& product,
                                   const HalfRun& run, int64_t pixels, int64_t at)
{
    constexpr int64_t kMostRows = 16, kMostColumns = 64;
    HWY_ALIGN float own[kMostRows * kMostColumns];
    ByteTile tile = product.tile;
    if (!product.sums) tile.sums = reinterpret_cast<int32_t*>(own);
    while (pixels > 0) {
        // As equal as may be: low tiles wait for their sums.
        const int64_t tiles = divide_up(pixels, conv.format.most_rows);
        const int64_t rows = divide_up(pixels, tiles);
        const HalfSums sums = {reinterpret_cast<float*>(tile.sums), product.width, rows,
                               product.columns};
        HalfResults results;
        if (product.is_last && product.rounds) {
            results = describe_half_results(conv, run, sums, at);
            tile.results = &results;
        }
        if (product.is_few || tile.kept)
            widen_and_multiply_halves(conv.data_type, tile, rows);
        else
            conv.format.multiply(tile, rows);
        if (product.is_last && !product.rounds) store_half_sums<T>(conv, run, sums, at);
        tile.input += rows * tile.input_step;
        tile.start += rows * tile.start_step;
        if (product.sums) tile.sums += rows * product.width;
        forget_first_tile(tile);
        at += rows * conv.output_step;
        pixels -= rows;
    }
}

template <class T>
HWY_INLINE void multiply_half_lines(const HalfPixels& conv, HalfProduct& product,
                                    const HalfRun& run, const HalfBlock& block)
{
    const char* input = product.tile.input;
    for (int64_t line = 0; line < block.lines; ++line) {
        product.tile.input = input + line * block.line_step;
        const int64_t done = line * block.pixels * product.width;
        if (product.sums) product.tile.sums = reinterpret_cast<int32_t*>(product.sums + done);
        if (product.tile.start_step > 0) product.tile.start = product.tile.sums;
        multiply_half_line<T>(conv, product, run, block.pixels,
                              product.at + line * conv.line_pixels * conv.output_step);
        forget_first_tile(product.tile);
    }
}

HWY_INLINE bool find_next_part(const HalfPixels& conv, HalfPart* part)
{
    const int64_t length = conv.stretch_length, most = conv.part_elements;
    if (part->count > 0) {
        part->offset += part->length;
        part->is_first = false;
        if (part->offset == length) part->first += part->count, part->offset = 0;
    }
    if (part->first == conv.stretch_num) return false;
    part->count = part->offset > 0 || length > most
                      ? 1
                      : std::min(most / length, conv.stretch_num - part->first);
    part->length = std::min(length - part->offset, most);
    part->is_last =
        part->first + part->count == conv.stretch_num && part->offset + part->length == length;
    return true;
}

// The same for each part of the depth, whose weights are widened.
template <class T>
HWY_INLINE void multiply_widened_panel(const HalfPixels& conv, HalfProduct& product,
                                       const HalfRun& run, const HalfBlock& block)
{
    const char *input = product.tile.input, *weights = product.tile.weights;
    if (conv.sum_bytes() > 0)
        product.sums = reinterpret_cast<float*>(block.scratch + conv.part_bytes());
    HalfPart part = {};
    part.is_first = true;
    while (find_next_part(conv, &part)) {
        product.tile.weights = weights;
        product.tile.kept = reinterpret_cast<float*>(block.scratch);
        product.tile.ahead_step = product.width * int64_t{sizeof(T)};
        weights += part.count * part.length * product.tile.ahead_step;
        product.tile.ahead = weights;
        product.tile.input = input + part.offset * int64_t{sizeof(float)};
        product.tile.stretches = block.stretches + part.first;
        product.tile.stretch_num = part.count;
        product.tile.groups = part.length;
        product.is_last = part.is_last;
        if (!part.is_first) product.tile.start_step = product.width;
        multiply_half_lines<T>(conv, product, run, block);
    }
}

// The panels from `first` to before `last` on a block.
template <class T>
HWY_INLINE void multiply_half_panels(const HalfPixels& conv, const HalfRun& run,
                                     const HalfBlock& block, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; ++i) {
        const HalfPanel panel = find_half_panel(conv, block.packed, i);
        const int64_t column = i * conv.format.columns;
        HalfProduct product = {};
        ByteTile& tile = product.tile;
        tile.input = block.input;
        tile.input_step = conv.input_step * conv.format.element_size;
        tile.stretches = block.stretches;
        tile.stretch_num = conv.stretch_num;
        tile.groups = conv.whole_groups();
        tile.last_shift = conv.left_elements() > 0 ? (conv.left_elements() - conv.format.group) *
                                                         conv.format.element_size
                                                   : 0;
        tile.is_wide = panel.width == conv.format.columns;
        tile.start = reinterpret_cast<const int32_t*>(panel.data);
        tile.weights = panel.weights();
        product.is_last = true;
        product.width = panel.width;
        product.columns = std::min(panel.width, conv.output_channels - column);
        product.rounds = conv.format.rounds && product.columns == product.width &&
                         !needs_activation_pass(*run.fusion);
        product.at = block.output + column;
        const bool widens = conv.part_elements > 0;
        product.is_few = widens && block.lines == 1 && block.pixels <= kFewHalfRows;
        if (widens && !product.is_few)
            multiply_widened_panel<T>(conv, product, run, block);
        else
            multiply_half_lines<T>(conv, product, run, block);
    }
}

void multiply_half_block(const HalfPixels& conv, const HalfRun& run, const HalfBlock& block,
                         int64_t first, int64_t last)
{
    if (conv.data_type == TENGINE_DT_FP16)
        multiply_half_panels<Half>(conv, run, block, first, last);
    else
        multiply_half_panels<BFloat16>(conv, run, block, first, last);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(copy_half_block);
HWY_EXPORT(multiply_half_block);

// Block `number` of all groups and images, its panels from `first` to before `last`; `scratch` has
// worker_bytes().
void run_block(const HalfPixels& conv, const HalfRun& run, int64_t number, int64_t first,
               int64_t last, char* scratch)
{
    const int64_t index = number % conv.blocks, slice = number / conv.blocks;
    const int64_t image = slice / conv.groups, group = slice % conv.groups;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t size = conv.format.element_size;
    const int64_t line = conv.is_pointwise ? 0 : index * conv.block_lines;
    const int64_t pixel = conv.is_pointwise ? index * conv.block_pixels : 0;
    const uint16_t* input =
        run.input + image * conv.input_plane * conv.image_step + group * conv.input_channels;

    HalfBlock block = {};
    block.lines = std::min(conv.block_lines, conv.lines - line);
    block.pixels = std::min(conv.block_pixels, conv.line_pixels - pixel);
    block.packed = run.packed + group * conv.group_bytes;
    block.output = (image * conv.lines * conv.line_pixels + line * conv.line_pixels + pixel) *
                       conv.output_step +
                   group * conv.output_channels;
    const bool copies = conv.copy_pixels > 0;
    const int64_t pixels = copies && !conv.is_pointwise ? conv.copy_pixels : x.input;
    block.line_step = int64_t{y.stride} * pixels * conv.pixel_step * size;
    if (copies) {
        char* copy = find_block_elements(scratch);
        const auto fill = HWY_DYNAMIC_DISPATCH(copy_half_block);
        if (!holds_block(scratch, number))
            fill(conv, input, run.factors, conv.is_pointwise ? pixel : line,
                 conv.is_pointwise ? block.pixels : block.lines, copy);
        block.input = copy;
    } else {
        block.input =
            reinterpret_cast<const char*>(input + pixel * conv.input_step) + line * block.line_step;
    }

    int64_t stretches[kMostHalfStretches];
    const int64_t across = conv.stretch_num / y.kernel;
    for (int64_t i = 0; i < conv.stretch_num; ++i)
        stretches[i] =
            (i / across * y.dilation * pixels + i % across * x.dilation) * conv.pixel_step * size;
    block.stretches = stretches;
    block.scratch = scratch + conv.copy_bytes();
    HWY_DYNAMIC_DISPATCH(multiply_half_block)(conv, run, block, first, last);
}

}  // namespace

void multiply_halves_here(const HalfPixels& conv, const HalfRun& run, char* scratch)
{
    if (conv.copy_pixels > 0) forget_block(scratch);
    for (int64_t item = 0; item < conv.items(); ++item)
        run_block(conv, run, item, 0, conv.panels, scratch);
}

void multiply_half_pixels(const KernelContext& context)
{
    const auto& conv = packed_problem<HalfPixels>(context);
    const tensor* addend = find_addend(context);
    const HalfRun run = {context.input(0)->f16,
                         shared_weights<HalfPixels>(context),
                         addend ? addend->f16 : nullptr,
                         context.output(0)->f16,
                         &context.fusion,
                         conv.has_factors ? context.input(context.fusion.scale)->f16 : nullptr};
    const auto scratch_of = [&](int worker) {
        return static_cast<char*>(context.scratch) +
               conv.worker_bytes() * static_cast<uint64_t>(worker);
    };
    for (int worker = 0; conv.copy_pixels > 0 && worker < get_thread_pool_size(context.pool);
         ++worker)
        forget_block(scratch_of(worker));
    const int64_t parts = conv.panel_parts;
    parallel_for(context.pool, conv.items(), 1, [&](int64_t first, int64_t last, int worker) {
        for (int64_t item = first; item < last; ++item) {
            const int64_t part = item % parts;
            run_block(conv, run, item / parts, conv.panels * part / parts,
                      conv.panels * (part + 1) / parts, scratch_of(worker));
        }
    });
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

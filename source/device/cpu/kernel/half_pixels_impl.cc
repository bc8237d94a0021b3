// SPDX-License-Identifier: Apache-2.0
// See half_pixels.h. Tiles of pixels by panels of output channels, as in byte_pixels_impl.cc: where
// the window reaches beyond the input, or elements are not multiplied as they are, what a block
// needs is copied first, and all panels pass over it before the next. The sums of a tile stay in
// the L1 cache until they have become results. Limits: the instructions of the format; of few input
// channels also reading the sums again.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/cpu.h"
#include "device/cpu/kernel/activation.h"
#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/kernel/half_panel.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/pixel_conv.h"
#include "device/cpu/parallel.h"

#ifdef TENGINE_HAVE_HIGHWAY
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

// Of the depth, which is widened at once and multiplied with all rows of a block: whole stretches,
// or elements of one.
struct HalfPart
{
    int64_t first, count;    // stretches
    int64_t offset, length;  // elements of each
    bool is_first, is_last;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/half_pixels_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/elements-inl.h"
#include "device/cpu/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `count` numbers as floats.
template <class T>
HWY_INLINE void widen_halves(const T* from, int64_t count, float* to)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(load_elements(d, from + i), d, to + i);
    for (; i < count; ++i)
        to[i] = from[i];
}

HWY_INLINE void convert_halves(const uint16_t* from, int64_t count, uint16_t* to)
{
    std::copy_n(from, count, to);
}

template <class T>
HWY_INLINE void convert_halves(const T* from, int64_t count, float* to)
{
    widen_halves(from, count, to);
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
        std::fill(copy, to, To{0});
        if (exists) {
            convert_half_pixels(conv, image + line * x.input * conv.image_step, conv.image_step,
                                present, to);
            to += present * channels;
        }
        std::fill(to, copy + conv.copy_pixels * channels, To{0});
    }
}

// Output pixels first..first+count-1 of all images, as a pointwise convolution reads them.
template <class From, class To>
HWY_INLINE void gather_half_pixels(const HalfPixels& conv, const From* images, int64_t first,
                                   int64_t count, To* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
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
HWY_INLINE void fill_half_copy(const HalfPixels& conv, const uint16_t* input, int64_t first,
                               int64_t count, char* copy)
{
    const auto* from = reinterpret_cast<const From*>(input);
    To* to = reinterpret_cast<To*>(copy);
    if (conv.is_pointwise)
        gather_half_pixels(conv, from, first, count, to);
    else
        copy_half_lines(conv, from, first, count, to);
}

// Of pointwise convolutions `count` pixels from `first` on, of others lines.
void copy_half_block(const HalfPixels& conv, const uint16_t* input, int64_t first, int64_t count,
                     char* copy)
{
    if (conv.format.element_size == 2)
        fill_half_copy<uint16_t, uint16_t>(conv, input, first, count, copy);
    else if (conv.data_type == TENGINE_DT_FP16)
        fill_half_copy<Half, float>(conv, input, first, count, copy);
    else
        fill_half_copy<BFloat16, float>(conv, input, first, count, copy);
}

// The sums of a tile, `width` for each row.
struct HalfSums
{
    float* values;
    int64_t width, rows, columns;
};

// Adds what lies where the result will.
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

// By what the format has for it.
void finish_half_sums(const HalfPixels& conv, const HalfRun& run, const HalfSums& sums, int64_t at)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const bool clips = run.fusion->activation == Activation::kClip;
    const uint16_t* addend = run.addend ? run.addend + at : nullptr;
    if (needs_activation_pass(*run.fusion)) {
        if (addend) add_halves(sums, reinterpret_cast<const BFloat16*>(addend), conv.output_step);
        addend = nullptr;
        activate(*run.fusion, sums.values, sums.rows, sums.width, sums.columns);
    }
    conv.format.finish({sums.values, addend, run.output + at, sums.width, sums.rows, sums.columns,
                        conv.output_step, clips ? run.fusion->parameters[0] : -kInfinity,
                        clips ? run.fusion->parameters[1] : kInfinity});
}

// The results of a tile, of which the first is the element `at` of the output.
template <class T>
HWY_INLINE void store_half_sums(const HalfPixels& conv, const HalfRun& run, const HalfSums& sums,
                                int64_t at)
{
    if (conv.format.finish) return finish_half_sums(conv, run, sums, at);
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), step = conv.output_step;
    const Bounds clip(*run.fusion);
    T* output = reinterpret_cast<T*>(run.output) + at;
    if (run.addend) add_halves(sums, reinterpret_cast<const T*>(run.addend) + at, step);
    if (needs_activation_pass(*run.fusion))
        activate(*run.fusion, sums.values, sums.rows, sums.width, sums.columns);
    for (int64_t row = 0; row < sums.rows; ++row)
        for (int64_t i = 0; i < sums.columns; i += lanes)
            store_lanes(clip(hn::LoadU(d, sums.values + row * sums.width + i)),
                        output + row * step + i, sums.columns - i);
}

// A panel, or a part of its depth, on all rows of a block.
struct HalfProduct
{
    ByteTile tile;
    bool is_few;   // of the rows that multiply_few_halves() takes
    bool is_last;  // sums become results
    float* sums;   // for the part after it, and from that before; null: there is one part
    int64_t width, columns;
    int64_t at;  // the first result, an element of the output
};

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
        if (product.is_few)
            multiply_few_halves(conv.data_type, tile, rows);
        else
            conv.format.multiply(tile, rows);
        if (product.is_last)
            store_half_sums<T>(
                conv, run,
                {reinterpret_cast<float*>(tile.sums), product.width, rows, product.columns}, at);
        tile.input += rows * tile.input_step;
        tile.start += rows * tile.start_step;
        if (product.sums) tile.sums += rows * product.width;
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

// The same for each part of the depth, where weights are widened.
template <class T>
HWY_INLINE void multiply_widened_panel(const HalfPixels& conv, HalfProduct& product,
                                       const HalfRun& run, const HalfBlock& block)
{
    float* widened = reinterpret_cast<float*>(block.scratch);
    const char* input = product.tile.input;
    const T* weights = reinterpret_cast<const T*>(product.tile.weights);
    product.tile.weights = block.scratch;
    if (conv.sum_bytes() > 0)
        product.sums = reinterpret_cast<float*>(block.scratch + conv.part_bytes());
    HalfPart part = {};
    part.is_first = true;
    while (find_next_part(conv, &part)) {
        const int64_t elements = part.count * part.length;
        widen_halves(weights, elements * product.width, widened);
        weights += elements * product.width;
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
        HWY_DYNAMIC_DISPATCH(copy_half_block)
        (conv, input, conv.is_pointwise ? pixel : line,
         conv.is_pointwise ? block.pixels : block.lines, scratch);
        block.input = scratch;
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

// Rows of a tile that are a multiple of so many bytes apart fall into few sets of an L1 cache. A
// copy of pixels has a line of the cache between them.
constexpr int64_t kCollidingBytes = 2048, kCacheLineBytes = 64;

bool collides(const HalfPixels& conv)
{
    return conv.image_step * int64_t{sizeof(uint16_t)} % kCollidingBytes == 0;
}

// Of widened weights of a panel, which an L1 cache holds.
constexpr int64_t kPartBytes = 32768;

// As in pixel_conv_impl.cc: larger weights come from beyond the L2 cache for each block, and only a
// panel of them needs room.
int64_t bytes_of_a_block(const HalfPixels& conv)
{
    const auto cache = static_cast<int64_t>(get_cpu_cache_size().l2);
    if (conv.group_bytes <= cache / 2) return cache / 2;
    return std::max(cache / 2, cache / 8 * 7 - find_half_panel_bytes(conv, conv.format.columns));
}

// Blocks whose input fits into its share of the L2 cache, and enough items for all workers.
void choose_blocks(HalfPixels& conv, int64_t workers)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t most_rows = conv.format.most_rows;
    PixelWork work = {};
    work.units = conv.is_pointwise ? divide_up(conv.line_pixels, most_rows) : conv.lines;
    work.unit_size =
        (conv.is_pointwise ? most_rows * conv.stretch_length
                           : std::max(x.input, x.output) * conv.input_channels * y.stride) *
        conv.format.element_size;
    const int64_t halo =
        conv.is_pointwise ? 0 : (lines_for(y, 1) - y.stride) * work.unit_size / y.stride;
    work.room = bytes_of_a_block(conv) - halo;
    work.others = conv.batch * conv.groups;
    work.panels = conv.panels;
    work.has_large_weights =
        conv.group_bytes > conv.input_plane * conv.input_channels * int64_t{sizeof(uint16_t)};
    const PixelCut cut = cut_pixels(work, workers);
    conv.panel_parts = cut.panel_parts;
    conv.blocks = cut.blocks;
    conv.block_lines = conv.is_pointwise ? 1 : cut.units;
    conv.block_pixels = conv.is_pointwise ? cut.units * most_rows : conv.line_pixels;
}

}  // namespace

ByteFormat find_half_format(int data_type)
{
    const auto runs = [](const ByteFormat& format) {
        return format.multiply && (get_cpu_features() & format.features) == format.features;
    };
    if (data_type == TENGINE_DT_FP16 && runs(fhm_format)) return fhm_format;
    if (data_type == TENGINE_DT_BF16)
        for (const ByteFormat& format : {avx512_bf16_format, bfmmla_format})
            if (runs(format)) return format;
    return find_widened_format();
}

HalfPixels describe_half_rows(int data_type, int64_t rows, int64_t depth, int64_t columns)
{
    HalfPixels conv = {};
    std::fill_n(conv.axes, kConvAxes, window_axis{1, 1, 1, 1, 1, 0, 0});
    conv.data_type = data_type;
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

void plan_half_pixels(HalfPixels& conv, int64_t workers)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    conv.format = find_half_format(conv.data_type);
    if (conv.format.element_size > 2)
        conv.part_elements =
            std::min(kPartBytes / (conv.format.columns * int64_t{sizeof(float)}), conv.depth());
    const bool has_padding = y.pad_begin > 0 || x.pad_begin > 0 ||
                             lines_for(y, y.output) > y.input || lines_for(x, x.output) > x.input;
    const bool copies = conv.format.element_size > 2 || has_padding ||
                        (conv.is_pointwise && (x.stride > 1 || y.stride > 1 || collides(conv)));
    conv.pixel_step = copies ? conv.input_channels : conv.image_step;
    if (copies && conv.is_pointwise) conv.pixel_step += kCacheLineBytes / conv.format.element_size;
    conv.input_step = conv.pixel_step * (conv.is_pointwise ? 1 : x.stride);
    conv.lines = conv.is_pointwise ? 1 : y.output;
    conv.line_pixels = conv.is_pointwise ? conv.batch * conv.output_plane : x.output;
    if (conv.is_pointwise) conv.batch = 1;
    conv.panels = divide_up(conv.output_channels, conv.format.columns);
    conv.group_bytes = (conv.panels - 1) * find_half_panel_bytes(conv, conv.format.columns) +
                       find_half_panel_bytes(conv, find_half_panel_width(conv, conv.panels - 1));
    choose_blocks(conv, workers);
    if (!copies) return;
    conv.copy_lines =
        conv.is_pointwise || conv.block_lines == 0 ? 1 : lines_for(y, conv.block_lines);
    conv.copy_pixels =
        conv.is_pointwise ? std::min(conv.block_pixels, conv.line_pixels) : lines_for(x, x.output);
}

void multiply_halves_here(const HalfPixels& conv, const HalfRun& run, char* scratch)
{
    for (int64_t item = 0; item < conv.items(); ++item)
        run_block(conv, run, item, 0, conv.panels, scratch);
}

void multiply_half_pixels(const KernelContext& context)
{
    const auto& conv = packed_problem<HalfPixels>(context);
    const tensor* addend = find_addend(context);
    const HalfRun run = {context.input(0)->f16, shared_weights<HalfPixels>(context),
                         addend ? addend->f16 : nullptr, context.output(0)->f16, &context.fusion};
    const int64_t parts = conv.panel_parts;
    parallel_for(context.pool, conv.items(), 1, [&](int64_t first, int64_t last, int worker) {
        char* scratch = static_cast<char*>(context.scratch) +
                        conv.worker_bytes() * static_cast<uint64_t>(worker);
        for (int64_t item = first; item < last; ++item) {
            const int64_t part = item % parts;
            run_block(conv, run, item / parts, conv.panels * part / parts,
                      conv.panels * (part + 1) / parts, scratch);
        }
    });
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE
#endif  // TENGINE_HAVE_HIGHWAY

// SPDX-License-Identifier: Apache-2.0
// See byte_pixels.h. Tiles of pixels by panels of output channels, as in pixel_conv_impl.cc: where
// the window reaches beyond the input, or elements are not multiplied as they are, the input of a
// block is copied first, and all panels pass over it before the next.
//
// The format for processors without int8 instructions is also here: pairs of int16, whose products
// are summed in a lane (x86: pmaddwd).
// Limits: one multiply-add of pairs for two products a lane; the requantisation, with few input
// channels.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/product/byte_panel.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/parallel.h"

#ifndef TENGINE_CPU_BYTE_PIXELS
#define TENGINE_CPU_BYTE_PIXELS
namespace tengine::cpu {

// A block of an image.
struct ByteBlock
{
    const char* input;  // of the first line and pixel
    int64_t line_step;  // bytes between the inputs of consecutive output lines
    const int64_t* stretches;
    int64_t lines, pixels;
    uint32_t flip;
    int32_t* excess;     // compensation of each pixel, with crossed products
    bool is_held;        // a copy that has been made before, with its compensation
    const char* packed;  // weights of the group
    int64_t output;      // the element of the first line, pixel and channel
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/byte_pixels_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/byte_store-inl.h"
#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::ScalableTag<int32_t>;
using IntegerVector = hn::Vec<Integers>;
using Scales = hn::Repartition<float, Integers>;
using ScaleVector = hn::Vec<Scales>;

#if HWY_TARGET == HWY_SCALAR

// Its vectors of 16 and 32 bits have one lane each, which makes no pairs.
struct Set
{
    using Operand = int32_t;
    using Input = Operand;
    using Sum = int32_t;
    static constexpr int64_t kVectorBytes = 4;
    static constexpr bool kHasHalves = false;
    static constexpr int kRows = 4;

    static Operand load(const char* weights)
    {
        int32_t pair;
        std::memcpy(&pair, weights, sizeof pair);
        return pair;
    }
    static Operand spread(const char* group, uint32_t) { return load(group); }
    static Sum start(const int32_t* values) { return *values; }
    static void add(Operand input, Operand weights, Sum& sum)
    {
        const auto low = [](int32_t pair) { return static_cast<int16_t>(pair); };
        const int32_t products = low(input) * low(weights) + (input >> 16) * (weights >> 16);
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(products));
    }
    static void store(Sum sum, int32_t* values) { *values = sum; }
    static int64_t lanes() { return 1; }
};

#else

struct Set
{
    using Pairs = hn::Repartition<int16_t, Integers>;
    using Operand = hn::Vec<Pairs>;
    using Input = Operand;
    static constexpr int64_t kVectorBytes = HWY_MAX_BYTES;
    static constexpr bool kHasHalves = false;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    // Both products of a pair are in its lane.
    using Sum = IntegerVector;
    static constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 14 : 6;
#else
    // Which product is in which of the two depends on the instruction set, so the initial
    // accumulators join them when they are stored.
    struct Sum
    {
        IntegerVector even, odd;
        const int32_t* start;

        // One that is implied is not for the instruction set that vectors are for (gcc 12).
        HWY_INLINE Sum() {}
    };
    static constexpr int kRows = HWY_ARCH_ARM_V7 ? 3 : 6;
#endif

    static HWY_INLINE Operand load(const char* weights)
    {
        return hn::LoadU(Pairs(), reinterpret_cast<const int16_t*>(weights));
    }
    static HWY_INLINE Operand spread(const char* group, uint32_t)
    {
        int32_t pair;
        std::memcpy(&pair, group, sizeof pair);
        return hn::BitCast(Pairs(), hn::Set(Integers(), pair));
    }
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    static HWY_INLINE Sum start(const int32_t* values)
    {
        return hn::LoadU(Integers(), values);
    }
    static HWY_INLINE void add(Operand input, Operand weights, Sum& sum)
    {
        IntegerVector none = hn::Zero(Integers());
        sum = hn::ReorderWidenMulAccumulate(Integers(), input, weights, sum, none);
    }
    static HWY_INLINE void store(const Sum& sum, int32_t* values)
    {
        hn::StoreU(sum, Integers(), values);
    }
#else
    static HWY_INLINE Sum start(const int32_t* values)
    {
        Sum sum;
        sum.even = sum.odd = hn::Zero(Integers());
        sum.start = values;
        return sum;
    }
    static HWY_INLINE void add(Operand input, Operand weights, Sum& sum)
    {
        sum.even = hn::ReorderWidenMulAccumulate(Integers(), input, weights, sum.even, sum.odd);
    }
    static HWY_INLINE void store(const Sum& sum, int32_t* values)
    {
        const IntegerVector products = hn::RearrangeToOddPlusEven(sum.even, sum.odd);
        hn::StoreU(hn::Add(hn::LoadU(Integers(), sum.start), products), Integers(), values);
    }
#endif
    static HWY_INLINE int64_t lanes()
    {
        return static_cast<int64_t>(hn::Lanes(Integers()));
    }
};

#endif  // HWY_TARGET == HWY_SCALAR

#if HWY_ARCH_X86
#define TENGINE_CPU_BYTE_AHEAD
#endif
#include "device/cpu/kernel/product/tile/byte_tile-inl.h"

#if HWY_TARGET == HWY_AVX2
#include "device/cpu/kernel/product/tile/byte_tile_crossed-inl.h"
#endif

void describe_pairs(ByteFormat* out_format)
{
    *out_format = {0,     sizeof(int16_t),        2, Set::kRows, static_cast<int>(2 * Set::lanes()),
                   false, multiply_byte_tile<Set>};
#if HWY_TARGET == HWY_AVX2
    out_format->multiply_crossed = multiply_crossed_tile<Set>;
    out_format->most_crossed_rows = kMostCrossedRows;
#endif
}

// Bytes as they are multiplied.
HWY_INLINE void convert(const BytePixels& conv, const uint8_t* from, int64_t count, uint8_t* to)
{
    const uint8_t flip = conv.flips ? 0x80 : 0;
    for (int64_t i = 0; i < count; ++i)
        to[i] = from[i] ^ flip;
}

HWY_INLINE void convert(const BytePixels& conv, const uint8_t* from, int64_t count, int16_t* to)
{
    const int zero = conv.has_words ? 0 : conv.input_zero_point;
    if (conv.flips)  // signed
        for (int64_t i = 0; i < count; ++i)
            to[i] = static_cast<int16_t>(static_cast<int8_t>(from[i]) - zero);
    else
        for (int64_t i = 0; i < count; ++i)
            to[i] = static_cast<int16_t>(from[i] - zero);
}

// `count` pixels that lie `step` apart.
template <class T>
HWY_INLINE void convert_pixels(const BytePixels& conv, const uint8_t* from, int64_t step,
                               int64_t count, T* to)
{
    const int64_t channels = conv.input_channels;
    if (step == channels) return convert(conv, from, count * channels, to);
    for (int64_t i = 0; i < count; ++i)
        convert(conv, from + i * step, channels, to + i * channels);
}

// `lines` of a block from output line `first` on, with padding.
template <class T>
HWY_INLINE void copy_lines(const BytePixels& conv, const uint8_t* image, int64_t first,
                           int64_t lines, T* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t channels = conv.input_channels;
    const int64_t count = (lines - 1) * y.stride + int64_t{y.kernel - 1} * y.dilation + 1;
    const int64_t before = std::min<int64_t>(x.pad_begin, conv.copy_pixels);
    const int64_t present = std::min<int64_t>(x.input, conv.copy_pixels - before);
    const T pad = static_cast<T>(find_multiplied_zero(conv));
    for (int64_t i = 0; i < count; ++i, copy += conv.copy_pixels * channels) {
        const int64_t line = first * y.stride - y.pad_begin + i;
        const bool exists = line >= 0 && line < y.input;
        T* to = copy + (exists ? before * channels : 0);
        std::fill(copy, to, pad);
        if (exists) {
            convert_pixels(conv, image + line * x.input * conv.image_step, conv.image_step, present,
                           to);
            to += present * channels;
        }
        std::fill(to, copy + conv.copy_pixels * channels, pad);
    }
}

// Output pixels first..first+count-1 of all images, as a pointwise convolution reads them.
template <class T>
HWY_INLINE void gather_pixels(const BytePixels& conv, const uint8_t* images, int64_t first,
                              int64_t count, T* copy)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    if (y.stride == 1 && x.stride == 1)
        return convert_pixels(conv, images + first * conv.image_step, conv.image_step, count, copy);
    for (int64_t i = first; i < first + count; ++i, copy += conv.input_channels) {
        const int64_t image = i / conv.output_plane, at = i % conv.output_plane;
        const int64_t row = at / x.output * y.stride, column = at % x.output * x.stride;
        const int64_t pixel = image * conv.input_plane + row * x.input + column;
        convert(conv, images + pixel * conv.image_step, conv.input_channels, copy);
    }
}

template <class T>
HWY_INLINE void fill_copy(const BytePixels& conv, const uint8_t* input, int64_t first,
                          int64_t count, char* copy)
{
    T* to = reinterpret_cast<T*>(copy);
    if (conv.gathers)
        gather_pixels(conv, input, first, count, to);
    else
        copy_lines(conv, input, first, count, to);
}

// Copies `count` pixels from `first` on for pointwise convolutions, lines for others.
void copy_block(const BytePixels& conv, const uint8_t* input, int64_t first, int64_t count,
                char* copy)
{
    if (conv.format.element_size == 1)
        fill_copy<uint8_t>(conv, input, first, count, copy);
    else
        fill_copy<int16_t>(conv, input, first, count, copy);
}

// As ByteWords says; `column` is the first in the matrix, `place` the row's first in the output.
HWY_INLINE void store_word_columns(const BytePixels& conv, const BytePanel& panel,
                                   const ByteRun& run, int64_t first, int64_t column,
                                   const int32_t* sums, int64_t rows, int64_t columns,
                                   int64_t place)
{
    const Scales d;
    const ByteWords& words = *run.words;
    const uint32_t zero = find_multiplied_zero(conv);
    const IntegerVector units = hn::LoadU(Integers(), panel.start() + first);
    const ScaleVector own = hn::LoadU(d, panel.scales() + first);
    const ScaleVector bias = words.bias ? load_lanes(words.bias + column, columns) : hn::Zero(d);
    IntegerVector added = hn::Mul(units, hn::Set(Integers(), static_cast<int32_t>(zero)));
    ScaleVector scales = hn::Mul(own, hn::Set(d, words.scale));
    const FloatBytes* of_row = words.rows ? words.rows + place / conv.output_step : nullptr;
    for (int64_t row = 0; row < rows; ++row, place += conv.output_step) {
        if (of_row) {
            const uint32_t own_zero = zero + static_cast<uint32_t>(of_row->zero_point);
            added = hn::Mul(units, hn::Set(Integers(), static_cast<int32_t>(own_zero)));
            scales = hn::Mul(own, hn::Set(d, of_row++->scale));
        }
        const IntegerVector sum =
            hn::Add(hn::LoadU(Integers(), sums + row * panel.width + first), added);
        ScaleVector word =
            words.is_float ? hn::MulAdd(hn::ConvertTo(d, sum), scales, bias) : hn::BitCast(d, sum);
        if (words.addend) word = hn::Add(word, load_lanes(words.addend + place + column, columns));
        store_lanes(word, static_cast<float*>(run.output) + place + column, columns);
    }
}

// The first `columns` sums of each row as words, to the element `at` of the output; `column` is the
// first in the matrix.
HWY_INLINE void store_words(const BytePixels& conv, const BytePanel& panel, const ByteRun& run,
                            const int32_t* sums, int64_t rows, int64_t column, int64_t columns,
                            int64_t at)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Integers()));
    for (int64_t i = 0; i < columns; i += lanes)
        store_word_columns(conv, panel, run, i, column + i, sums, rows,
                           std::min(lanes, columns - i), at - column);
}

// One panel on a line of a block, whose first result is the element `at` of the output.
HWY_INLINE void multiply_line(const BytePixels& conv, const ByteTile& first, const BytePanel& panel,
                              const TileBytes& bytes, const ByteRun& run, int64_t pixels,
                              int64_t column, int64_t columns, int64_t at)
{
    HWY_ALIGN int32_t sums[kMostTileSums];
    ByteTile tile = first;
    tile.sums = sums;
    while (pixels > 0) {
        // As equal as may be: low tiles wait for their sums.
        const int64_t tiles = divide_up(pixels, conv.most_rows());
        const int64_t rows = divide_up(pixels, tiles);
        conv.crosses ? conv.format.multiply_crossed(tile, rows) : conv.format.multiply(tile, rows);
        if (run.words)
            store_words(conv, panel, run, sums, rows, column, columns, at);
        else
            bytes.store(sums, rows, columns, at);
        tile.input += rows * tile.input_step;
        tile.ahead += tile.ahead_step * conv.stretch_num * tile.groups;
        if (conv.crosses) tile.excess += rows;
        at += rows * conv.output_step;
        pixels -= rows;
    }
}

// Where weights do not stay in the L2 cache, the tiles of a block together prefetch the next panel.
// Returns how many groups the tiles of a line prefetch.
HWY_INLINE int64_t look_ahead(const BytePixels& conv, const ByteBlock& block,
                              const BytePanel& panel, ByteTile& tile)
{
    const int64_t asks = divide_up(block.pixels, conv.most_rows()) * conv.stretch_num * tile.groups;
    if (conv.reads_ahead && asks * block.lines > 0) {
        const int64_t bytes = find_panel_bytes(conv, panel.width);
        tile.ahead = panel.data + bytes;
        tile.ahead_step = divide_up(bytes, asks * block.lines);
    }
    return asks;
}

// The panels from `first` to before `last` on a block.
void multiply_block(const BytePixels& conv, const ByteRun& run, const ByteBlock& block,
                    int64_t first, int64_t last)
{
    static const int32_t kZeros[64] = {};
    const int64_t size = conv.format.element_size;
#if HWY_TARGET == HWY_AVX2
    if (conv.crosses && !block.is_held) find_excess(conv, block);
#endif
    for (int64_t i = first; i < last; ++i) {
        const BytePanel panel = find_byte_panel(conv, block.packed, i);
        const TileBytes bytes(conv, panel, run);
        const int64_t column = i * conv.format.columns;
        ByteTile tile = {};
        tile.input_step = conv.input_step * size;
        tile.stretches = block.stretches;
        tile.stretch_num = conv.stretch_num;
        tile.groups = conv.whole_groups();
        tile.last_shift =
            conv.left_elements() > 0 ? (conv.left_elements() - conv.format.group) * size : 0;
        tile.flip = block.flip;
        tile.is_wide = panel.width == conv.format.columns;
        tile.start = run.words ? kZeros : panel.start();
        tile.weights = panel.weights();
        const int64_t columns = std::min(panel.width, conv.output_channels - column);
        const int64_t asks = look_ahead(conv, block, panel, tile);
        for (int64_t line = 0; line < block.lines; ++line) {
            tile.input = block.input + line * block.line_step;
            if (conv.crosses) tile.excess = block.excess + line * block.pixels;
            multiply_line(conv, tile, panel, bytes, run, block.pixels, column, columns,
                          block.output + line * conv.line_pixels * conv.output_step + column);
            tile.ahead += asks * tile.ahead_step;
        }
    }
    if constexpr (kActivatesWords) {
        if (!run.words || !run.words->fusion) return;
        // Along whole rows, of which a panel has two vectors.
        const int64_t begin = first * conv.format.columns;
        activate(*run.words->fusion, static_cast<float*>(run.output) + block.output + begin,
                 block.pixels, conv.output_step,
                 std::min(last * conv.format.columns, conv.output_channels) - begin);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(describe_pairs);
HWY_EXPORT(copy_block);
HWY_EXPORT(multiply_block);

}  // namespace

ByteFormat find_pair_format()
{
    ByteFormat format;
    HWY_DYNAMIC_DISPATCH(describe_pairs)(&format);
    return format;
}

namespace {

// Block `number` of all groups and images, its panels from `first` to before `last`; `copy` has
// room for it.
void run_block(const BytePixels& conv, const ByteRun& run, int64_t number, int64_t first,
               int64_t last, char* copy)
{
    const int64_t index = number % conv.blocks, slice = number / conv.blocks;
    const int64_t image = slice / conv.groups, group = slice % conv.groups;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t size = conv.format.element_size;
    const int64_t line = conv.is_pointwise ? 0 : index * conv.block_lines;
    const int64_t pixel = conv.is_pointwise ? index * conv.block_pixels : 0;
    const uint8_t* input =
        run.input + image * conv.input_plane * conv.image_step + group * conv.input_channels;

    ByteBlock block = {};
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
        char* elements = find_block_elements(copy);
        block.is_held = holds_block(copy, number);
        const auto fill = HWY_DYNAMIC_DISPATCH(copy_block);
        if (!block.is_held)
            fill(conv, input, conv.is_pointwise ? pixel : line,
                 conv.is_pointwise ? block.pixels : block.lines, elements);
        block.input = elements;
        block.excess = reinterpret_cast<int32_t*>(elements + conv.excess_at());
    } else {
        block.input =
            reinterpret_cast<const char*>(input) + line * block.line_step + pixel * conv.input_step;
        block.flip = conv.flips ? 0x80808080u : 0;
    }

    int64_t stretches[kMostByteStretches];
    const int64_t across = conv.stretch_num / y.kernel;
    for (int64_t i = 0; i < conv.stretch_num; ++i)
        stretches[i] =
            (i / across * y.dilation * pixels + i % across * x.dilation) * conv.pixel_step * size;
    block.stretches = stretches;
    HWY_DYNAMIC_DISPATCH(multiply_block)(conv, run, block, first, last);
}

}  // namespace

BytePixels describe_byte_rows(int64_t rows, int64_t depth, int64_t columns)
{
    return describe_pointwise_rows<BytePixels>(rows, depth, columns);
}

void plan_byte_pixels(BytePixels& conv, const ByteOperands& operands, int64_t workers)
{
    constexpr int64_t kFewestPanels = 8, kFewestProducts = 32768;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const ByteFormat& format = conv.format;
    conv.range = find_byte_range(operands.output_type, operands.output_zero_point);
    conv.input_zero_point = operands.input_zero_point;
    // int16 are made of bytes with their sign.
    conv.flips =
        (operands.input_type == TENGINE_DT_INT8) == (format.element_size > 1 || format.is_unsigned);
    const bool has_padding = y.pad_begin > 0 || x.pad_begin > 0 ||
                             lines_for(y, y.output) > y.input || lines_for(x, x.output) > x.input;
    conv.gathers = conv.is_pointwise;
    const bool copies = format.element_size > 1 || has_padding ||
                        (conv.is_pointwise && (x.stride > 1 || y.stride > 1));
    conv.pixel_step = copies ? conv.input_channels : conv.image_step;
    conv.input_step = conv.pixel_step * (conv.is_pointwise ? 1 : x.stride);
    conv.lines = conv.is_pointwise ? 1 : y.output;
    conv.line_pixels = conv.is_pointwise ? conv.batch * conv.output_plane : x.output;
    if (conv.is_pointwise) conv.batch = 1;
    conv.panels = divide_up(conv.output_channels, format.columns);
    // With few columns, or few elements in a K segment, crossing saves less than the compensation
    // of the rows costs.
    conv.crosses = format.multiply_crossed && !conv.has_words && conv.panels >= kFewestPanels &&
                   conv.stretch_length * conv.output_channels >= kFewestProducts;
    conv.group_bytes = (conv.panels - 1) * find_panel_bytes(conv, format.columns) +
                       find_panel_bytes(conv, find_byte_panel_width(conv, conv.panels - 1));
    const auto room = static_cast<int64_t>(get_cpu_cache_size().l2 / 2);
    conv.reads_ahead = conv.group_bytes > room;

    PixelWork work = {};
    const int64_t most_rows = conv.most_rows();
    work.units = conv.is_pointwise ? divide_up(conv.line_pixels, most_rows) : conv.lines;
    work.unit_size =
        (conv.is_pointwise ? most_rows * conv.stretch_length
                           : std::max(x.input, x.output) * conv.input_channels * y.stride) *
        format.element_size;
    const int64_t halo =
        conv.is_pointwise ? 0 : (lines_for(y, 1) - y.stride) * work.unit_size / y.stride;
    work.room = room - halo;
    work.others = conv.batch * conv.groups;
    work.panels = conv.panels;
    work.has_large_weights = conv.group_bytes > conv.input_plane * conv.input_channels;
    const PixelCut cut = cut_pixels(work, workers);
    conv.panel_parts = cut.panel_parts;
    conv.blocks = cut.blocks;
    conv.block_lines = conv.is_pointwise ? 1 : cut.units;
    conv.block_pixels = conv.is_pointwise ? cut.units * most_rows : conv.line_pixels;
    if (!copies) return;
    conv.copy_lines =
        conv.is_pointwise || conv.block_lines == 0 ? 1 : lines_for(y, conv.block_lines);
    conv.copy_pixels =
        conv.is_pointwise ? std::min(conv.block_pixels, conv.line_pixels) : lines_for(x, x.output);
}

void multiply_bytes_here(const BytePixels& conv, const ByteRun& run, char* copy)
{
    if (conv.copy_pixels > 0) forget_block(copy);
    for (int64_t item = 0; item < conv.items(); ++item)
        run_block(conv, run, item, 0, conv.panels, copy);
}

void multiply_byte_panels(const BytePixels& conv, const ByteRun& run, int64_t first, int64_t last,
                          char* copy)
{
    if (conv.copy_pixels > 0) forget_block(copy);
    for (int64_t block = 0; block < conv.blocks; ++block)
        run_block(conv, run, block, first, last, copy);
}

void multiply_bytes(thread_pool_t* pool, const BytePixels& conv, const ByteRun& run, char* copies)
{
    const int64_t parts = conv.panel_parts;
    const auto copy_of = [&](int worker) {
        return copies + conv.copy_bytes() * static_cast<uint64_t>(worker);
    };
    for (int worker = 0; conv.copy_pixels > 0 && worker < get_thread_pool_size(pool); ++worker)
        forget_block(copy_of(worker));
    parallel_for(pool, conv.items(), 1, [&](int64_t first, int64_t last, int worker) {
        for (int64_t item = first; item < last; ++item) {
            const int64_t part = item % parts;
            run_block(conv, run, item / parts, conv.panels * part / parts,
                      conv.panels * (part + 1) / parts, copy_of(worker));
        }
    });
}

void multiply_byte_pixels(const KernelContext& context)
{
    multiply_byte_pixels(context, context.input(0)->u8, context.output(0)->u8);
}

void multiply_byte_pixels(const KernelContext& context, const uint8_t* input, uint8_t* output)
{
    const Fusion& fusion = context.fusion;
    ByteRun run = {input, shared_weights<BytePixels>(context), output, nullptr};
    if (fusion.addend >= 0) run.addend = context.input(fusion.addend)->u8;
    if (fusion.table >= 0) run.table = context.input(fusion.table)->u8;
    multiply_bytes(context.pool, packed_problem<BytePixels>(context), run,
                   static_cast<char*>(context.scratch));
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

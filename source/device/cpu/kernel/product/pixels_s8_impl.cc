// SPDX-License-Identifier: Apache-2.0
// See pixels_s8.h: tiles of pixels by panels of output channels.
//
// The format for processors without int8 instructions is also here: pairs of int16, whose products
// are summed in a lane (x86: pmaddwd).
// Limits: one multiply-add of pairs for two products a lane; the requantisation, with few input
// channels.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/alloc.h"
#include "base/cpu.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/panel_s8.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/shared/rounding.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/pixels_s8_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/pixel_block-inl.h"
#include "device/cpu/kernel/product/store_s8-inl.h"
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
        Operand vector = hn::LoadU(Pairs(), reinterpret_cast<const int16_t*>(weights));
        keep_in_register(vector);
        return vector;
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
#define TENGINE_CPU_TILE_AHEAD
#endif
#include "device/cpu/kernel/product/tile/group_tile-inl.h"

#if HWY_TARGET == HWY_AVX2
#include "device/cpu/kernel/product/tile/tile_s8_crossed-inl.h"
#endif

void describe_pairs(TileFormat* out_format)
{
    *out_format = {
        0,     sizeof(int16_t),         2, Set::kRows, static_cast<int>(2 * Set::lanes()),
        false, multiply_group_tile<Set>};
#if HWY_TARGET == HWY_AVX2
    out_format->multiply_crossed = multiply_crossed_tile<Set>;
    out_format->most_crossed_rows = kMostCrossedRows;
#endif
}

// Whole vectors of `count` bytes from i on; returns the first byte that is left.
template <class D>
HWY_INLINE int64_t flip_vectors(D d, const uint8_t* from, int64_t i, int64_t count, uint8_t flip,
                                uint8_t* to)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(hn::Xor(hn::LoadU(d, from + i), hn::Set(d, flip)), d, to + i);
    return i;
}

// Pixels of a group often have eight channels.
HWY_INLINE void flip_bytes(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to)
{
    int64_t i = flip_vectors(hn::ScalableTag<uint8_t>(), from, 0, count, flip, to);
    i = flip_vectors(hn::CappedTag<uint8_t, 8>(), from, i, count, flip, to);
    for (; i < count; ++i)
        to[i] = from[i] ^ flip;
}

// Copies int8 as they are multiplied. Flags and zero point are captured by value: for the
// compiler, the bytes that are written may be anything else.
void copy_bytes(const PixelProblem& problem, const PixelRun&, const void* from, int64_t step,
                int64_t pixels, void* to)
{
    const auto& conv = static_cast<const Int8Pixels&>(problem);
    const auto* bytes = static_cast<const uint8_t*>(from);
    const uint32_t pad = find_multiplied_zero(conv);
    const bool flips = conv.flips;
    if (conv.format.element_size == 1) {
        const uint8_t flip = flips ? 0x80 : 0;
        const auto convert = [flip](const uint8_t* source, int64_t count, uint8_t* copy) {
            flip_bytes(source, count, flip, copy);
        };
        return copy_pixels(conv, bytes, step, pixels, static_cast<uint8_t>(pad),
                           static_cast<uint8_t*>(to), convert);
    }
    const int zero = conv.has_words ? 0 : conv.input_zero_point;
    const auto convert = [flips, zero](const uint8_t* source, int64_t count, int16_t* copy) {
        if (flips)  // signed
            for (int64_t i = 0; i < count; ++i)
                copy[i] = static_cast<int16_t>(static_cast<int8_t>(source[i]) - zero);
        else
            for (int64_t i = 0; i < count; ++i)
                copy[i] = static_cast<int16_t>(source[i] - zero);
    };
    copy_pixels(conv, bytes, step, pixels, static_cast<int16_t>(pad), static_cast<int16_t*>(to),
                convert);
}

// As Int8Words says; `column` is the first in the matrix, `place` the row's first in the output.
HWY_INLINE void store_word_columns(const Int8Pixels& conv, const Int8Panel& panel,
                                   const Int8Run& run, int64_t first, int64_t column,
                                   const int32_t* sums, int64_t rows, int64_t columns,
                                   int64_t place)
{
    const Scales d;
    const Int8Words& words = *run.words;
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

// The first `columns` accumulators of each row as words, to the element `at` of the output;
// `column` is the first in the matrix.
HWY_INLINE void store_words(const Int8Pixels& conv, const Int8Panel& panel, const Int8Run& run,
                            const int32_t* sums, int64_t rows, int64_t column, int64_t columns,
                            int64_t at)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Integers()));
    for (int64_t i = 0; i < columns; i += lanes)
        store_word_columns(conv, panel, run, i, column + i, sums, rows,
                           std::min(lanes, columns - i), at - column);
}

// Where weights do not stay in the L2 cache, the tiles of a block together prefetch the next panel.
HWY_INLINE void look_ahead(const Int8Pixels& conv, const PixelBlock& block, const Int8Panel& panel,
                           GroupTile& tile)
{
    const int64_t asks = divide_up(block.pixels, conv.tile_rows) * conv.segment_num * tile.groups;
    if (conv.has_far_weights && asks * block.lines > 0) {
        const int64_t bytes = panel.width * conv.column_bytes;
        tile.ahead = panel.data + bytes;
        tile.ahead_step = divide_up(bytes, asks * block.lines);
    }
}

// A panel on a block.
struct Int8Product
{
    HWY_INLINE Int8Product(const Int8Pixels& pixels, const Int8Run& operands,
                           const PixelBlock& block, int64_t number, int32_t* sums)
        : conv(pixels),
          run(operands),
          panel(find_byte_panel(conv, block.packed, number)),
          bytes(conv, panel, run),
          column(number * conv.format.columns),
          columns(std::min(panel.width, conv.output_channels - column)),
          compensation(reinterpret_cast<const int32_t*>(block.scratch))
    {
        static const int32_t kZeros[64] = {};
        tile = find_first_tile(conv, block, number);
        tile.sums = sums;
        tile.flip = conv.flips && !conv.copies ? 0x80808080u : 0;
        tile.start = run.words ? kZeros : panel.start();
        tile.weights = panel.weights();
        look_ahead(conv, block, panel, tile);
    }

    HWY_INLINE void begin_line(int64_t row)
    {
        if (conv.crosses) tile.compensation = compensation + row;
    }

    HWY_INLINE void multiply(int64_t rows, int64_t at)
    {
        if (conv.crosses)
            conv.format.multiply_crossed(tile, rows);
        else
            conv.format.multiply(tile, rows);
        if (run.words)
            store_words(conv, panel, run, tile.sums, rows, column, columns, at);
        else
            bytes.store(tile.sums, rows, columns, at);
        tile.ahead += tile.ahead_step * conv.segment_num * tile.groups;
        if (conv.crosses) tile.compensation += rows;
    }

    const Int8Pixels& conv;
    const Int8Run& run;
    const Int8Panel panel;
    const TileBytes bytes;
    const int64_t column, columns;
    const int32_t* compensation;  // of the block's rows
    GroupTile tile;
};

void multiply_byte_block(const PixelProblem& problem, const PixelRun& operands,
                         const PixelBlock& block, int64_t first, int64_t last)
{
    HWY_ALIGN int32_t sums[kMostTileSums];
    const auto& conv = static_cast<const Int8Pixels&>(problem);
    const auto& run = static_cast<const Int8Run&>(operands);
#if HWY_TARGET == HWY_AVX2
    if (conv.crosses && !block.is_held) compute_compensation(conv, block);
#endif
    for (int64_t i = first; i < last; ++i) {
        Int8Product product(conv, run, block, i, sums);
        multiply_lines(conv, block, block.output + i * conv.format.columns, product);
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
HWY_EXPORT(copy_bytes);
HWY_EXPORT(multiply_byte_block);

PixelFunctions find_byte_functions()
{
    return {HWY_DYNAMIC_DISPATCH(copy_bytes), HWY_DYNAMIC_DISPATCH(multiply_byte_block)};
}

}  // namespace

TileFormat find_pair_format()
{
    TileFormat format;
    HWY_DYNAMIC_DISPATCH(describe_pairs)(&format);
    return format;
}

Int8Pixels describe_byte_rows(int64_t rows, int64_t depth, int64_t columns)
{
    return describe_pointwise_rows<Int8Pixels>(rows, depth, columns);
}

void plan_byte_pixels(Int8Pixels& conv, const Int8Operands& operands, int64_t workers)
{
    constexpr int64_t kFewestPanels = 8, kFewestProducts = 32768;
    const TileFormat& format = conv.format;
    conv.range =
        find_byte_range(operands.output_type, operands.output_zero_point, operands.rounding);
    conv.input_zero_point = operands.input_zero_point;
    // int16 are made of int8 with their sign.
    conv.flips =
        (operands.input_type == TENGINE_DT_INT8) == (format.element_size > 1 || format.is_unsigned);
    conv.input_size = 1;
    conv.narrow_columns = format.columns / 2;
    conv.column_bytes = Int8Panel::header_bytes(1) + conv.segment_num * conv.segment_groups() *
                                                         format.group * format.element_size;
    place_pixels(conv, format.element_size > 1);
    // With few columns, or few elements in a K segment, crossing saves less than the compensation
    // of the rows costs.
    conv.crosses = format.multiply_crossed && !conv.has_words && conv.panels >= kFewestPanels &&
                   conv.segment_length * conv.output_channels >= kFewestProducts;
    conv.tile_rows = conv.crosses ? format.most_crossed_rows : format.most_rows;
    cut_blocks(conv, conv.segment_length, static_cast<int64_t>(get_cpu_cache_size().l2 / 2),
               workers);
    const int64_t rows = conv.crosses ? conv.block_lines * conv.block_pixels : 0;
    conv.extra_bytes = round_up(rows * int64_t{sizeof(int32_t)}, ALLOC_ALIGNMENT);
}

void multiply_bytes_here(const Int8Pixels& conv, const Int8Run& run, char* scratch)
{
    multiply_blocks_here(conv, find_byte_functions(), run, 0, conv.panels, scratch);
}

void multiply_byte_panels(const Int8Pixels& conv, const Int8Run& run, int64_t first, int64_t last,
                          char* scratch)
{
    multiply_blocks_here(conv, find_byte_functions(), run, first, last, scratch);
}

void multiply_bytes(thread_pool_t* pool, const Int8Pixels& conv, const Int8Run& run, char* scratch)
{
    multiply_blocks(pool, conv, find_byte_functions(), run, scratch);
}

void multiply_byte_pixels(const KernelContext& context)
{
    multiply_byte_pixels(context, context.input(0)->u8, context.output(0)->u8);
}

void multiply_byte_pixels(const KernelContext& context, const uint8_t* input, uint8_t* output)
{
    const Fusion& fusion = context.fusion;
    Int8Run run = {{input, shared_weights<Int8Pixels>(context)}, output, nullptr};
    if (fusion.addend >= 0) run.addend = context.input(fusion.addend)->u8;
    if (fusion.table >= 0) run.table = context.input(fusion.table)->u8;
    multiply_bytes(context.pool, packed_problem<Int8Pixels>(context), run,
                   static_cast<char*>(context.scratch));
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// QLinearConv of 3x3, stride 1, in NHWC: Winograd's minimal filtering F(4x4, 3x3) in integers; int8
// elements become pairs of int16 for the products (pixels_s8.h). The results are bit-identical to
// the reference.
//
// As in conv_winograd.cc, four by four results are computed from six by six inputs with 36 products
// for each pair of channels in place of 144, Y = A' [(G g G') * (B' d B)] A, for the points 0, +-1,
// +-2 and infinity (A. Lavin, S. Gray, 2015). B' has integers, and so have the rows of G when they
// are multiplied by 4, 6, 6, 24, 24 and 1; A' divides these factors out again:
//     24 Y0 = 6 m0 - 4 (m1 + m2) +   (m3 + m4)
//     24 Y1 =      - 4 (m1 - m2) + 2 (m3 - m4)
//     24 Y2 =      - 4 (m1 + m2) + 4 (m3 + m4)
//     24 Y3 =      - 4 (m1 - m2) + 8 (m3 - m4) + 24 m5
// Inputs less their zero point span at most 255 and include 0, so that B' d B lies within +-17340,
// and G g G' of weights within +-255 within +-49 * 255: both fit an int16. The rest is computed
// modulo 2^32, where sums may wrap: the division by 3 is a product with the inverse of 3, and after
// it a shift divides by 8 or less, for which the number has to fit an int32. In one direction the
// 24 Y above, of the sums over the other, are at most 3060 times the sum of an output channel's
// absolute weights (B' contributes 765 at the points +-2, whose filters have factors up to 4), in
// both directions 255 times. So the kernel accepts weights whose absolute sums are at most 2^28 /
// 3060. Limits: products of pairs; with few channels the transforms.
#include "device/cpu/kernel/conv/qlinear_winograd.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/qlinear_winograd.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/store_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

using Words = hn::ScalableTag<int16_t>;
using WordVector = hn::Vec<Words>;
using Integers = hn::ScalableTag<int32_t>;
using IntegerVector = hn::Vec<Integers>;

constexpr int kTile = Int8Winograd::kTile, kPatch = Int8Winograd::kPatch;

// Computes B' d of load(0), ..., load(5), and calls store(0, value), ..., store(5, value).
template <class Load, class Store>
HWY_INLINE void transform_words(const Load& load, const Store& store)
{
    const WordVector v1 = load(1), v2 = load(2), v3 = load(3), v4 = load(4);
    store(0, hn::Add(hn::ShiftLeft<2>(hn::Sub(load(0), v2)), hn::Sub(v4, v2)));
    const WordVector even_a = hn::Sub(v4, hn::ShiftLeft<2>(v2));
    const WordVector odd_a = hn::Sub(v3, hn::ShiftLeft<2>(v1));
    store(1, hn::Add(even_a, odd_a));
    store(2, hn::Sub(even_a, odd_a));
    const WordVector even_b = hn::Sub(v4, v2);
    const WordVector odd_b = hn::ShiftLeft<1>(hn::Sub(v3, v1));
    store(3, hn::Add(even_b, odd_b));
    store(4, hn::Sub(even_b, odd_b));
    store(5, hn::Add(hn::ShiftLeft<2>(hn::Sub(v1, v3)), hn::Sub(load(5), v3)));
}

// Divides by 3 * 2^kShift; the quotient is exact.
template <int kShift>
HWY_INLINE IntegerVector divide(IntegerVector value)
{
    constexpr uint32_t kThird = 0xaaaaaaabu;  // the inverse of 3 modulo 2^32
    const IntegerVector third = hn::Set(Integers(), static_cast<int32_t>(kThird));
    return hn::ShiftRight<kShift>(hn::Mul(value, third));
}

// Computes A' m of load(0), ..., load(5), and calls store(0, value), ..., store(3, value).
template <class Load, class Store>
HWY_INLINE void transform_sums(const Load& load, const Store& store)
{
    const IntegerVector m0 = load(0), m1 = load(1), m2 = load(2), m3 = load(3), m4 = load(4);
    const IntegerVector m5 = load(5);
    const IntegerVector sum_a = hn::Add(m1, m2), difference_a = hn::Sub(m1, m2);
    const IntegerVector sum_b = hn::Add(m3, m4), difference_b = hn::Sub(m3, m4);
    store(0, divide<3>(hn::Add(hn::ShiftLeft<2>(hn::Sub(m0, sum_a)),
                               hn::Add(hn::ShiftLeft<1>(m0), sum_b))));
    store(1, divide<2>(hn::Sub(difference_b, hn::ShiftLeft<1>(difference_a))));
    store(2, divide<1>(hn::Sub(sum_b, sum_a)));
    const IntegerVector last = hn::Add(hn::ShiftLeft<2>(m5), hn::ShiftLeft<1>(m5));
    store(3, divide<1>(hn::Add(hn::Sub(hn::ShiftLeft<1>(difference_b), difference_a), last)));
}

// Transforms a vector of channels of a tile to its positions; the patch begins at line `top` and
// column `left`. kIsWhole: it lies within the image.
template <bool kIsWhole>
HWY_INLINE void transform_patch(const Int8Winograd& conv, const uint8_t* image, int64_t top,
                                int64_t left, int64_t channel, int16_t* to)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const Words d;
    const hn::Rebind<uint8_t, Words> d8;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto flip = hn::Set(d8, conv.flip);
    const WordVector zero = hn::Set(d, static_cast<int16_t>(conv.zero_point));
    HWY_ALIGN int16_t columns[kPatch * kPatch * HWY_MAX_BYTES / sizeof(int16_t)];
    for (int64_t j = 0; j < kPatch; ++j) {
        const auto load = [&](int64_t i) {
            const int64_t row = top + i, column = left + j;
            if (!kIsWhole && (row < 0 || row >= y.input || column < 0 || column >= x.input))
                return hn::Zero(d);
            const uint8_t* from = image + (row * x.input + column) * conv.image_step + channel;
            return hn::Sub(hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, from), flip)), zero);
        };
        transform_words(load, [&](int64_t i, WordVector value) {
            hn::Store(value, d, columns + (i * kPatch + j) * lanes);
        });
    }
    for (int64_t i = 0; i < kPatch; ++i) {
        const int16_t* row = columns + i * kPatch * lanes;
        transform_words([&](int64_t j) { return hn::Load(d, row + j * lanes); },
                        [&](int64_t j, WordVector value) {
                            hn::StoreU(value, d, to + (i * kPatch + j) * conv.input_step());
                        });
    }
}

// Transforms tiles first..last-1 of a block into its matrices.
void transform_tiles(const Int8Winograd& conv, const Int8Tiles& block, int64_t first, int64_t last,
                     int16_t* inputs)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const auto lanes = static_cast<int64_t>(hn::Lanes(Words()));
    for (int64_t tile = first; tile < last; ++tile) {
        const TilePosition at = conv.find_tile(block.begin + tile);
        const uint8_t* image = block.images + at.image * conv.input_plane * conv.image_step;
        const int64_t top = at.row - y.pad_begin, left = at.column - x.pad_begin;
        const bool is_whole =
            top >= 0 && left >= 0 && top + kPatch <= y.input && left + kPatch <= x.input;
        for (int64_t i = 0; i < conv.input_channels; i += lanes) {
            // The last vector overlaps the one before it if there are fewer channels.
            const int64_t channel = std::min(i, conv.input_channels - lanes);
            int16_t* to = inputs + tile * conv.tile_step() + channel;
            if (is_whole)
                transform_patch<true>(conv, image, top, left, channel, to);
            else
                transform_patch<false>(conv, image, top, left, channel, to);
        }
    }
}

// Computes a panel's products, position after position.
HWY_INLINE void multiply_positions(const Int8Winograd& conv, const Int8Panel& panel,
                                   const int16_t* inputs, int64_t tiles, int32_t* products)
{
    static const int32_t kZeros[64] = {};
    static const int64_t kBegin = 0;
    constexpr int64_t kSize = sizeof(int16_t);
    GroupTile tile = {};
    tile.input_step = conv.tile_step() * kSize;
    tile.segments = &kBegin;
    tile.segment_num = 1;
    tile.groups = conv.input_channels / 2;
    tile.last_shift = conv.input_channels % 2 > 0 ? -kSize : 0;
    tile.is_wide = panel.width == conv.format.columns;
    tile.start = kZeros;
    for (int64_t position = 0; position < Int8Winograd::kPositions; ++position) {
        const int64_t bytes = conv.groups_of_two() * panel.width * 2 * kSize;
        tile.weights = panel.weights() + position * bytes;
        for (int64_t done = 0; done < tiles;) {
            // Tiles are as equal as possible: low ones wait for their accumulators.
            const int64_t left = tiles - done;
            const int64_t rows = divide_up(left, divide_up(left, conv.format.most_rows));
            const int16_t* from = inputs + position * conv.input_step() + done * conv.tile_step();
            tile.input = reinterpret_cast<const char*>(from);
            tile.ahead = tile.weights + bytes + bytes * done / tiles;
            tile.ahead_step = divide_up(bytes * rows / tiles, std::max<int64_t>(tile.groups, 1));
            tile.sums = products + position * conv.product_step() + done * panel.width;
            conv.format.multiply(tile, rows);
            done += rows;
        }
    }
}

// The sums of a tile: for each line one pixel after the other, each with the columns of a panel.
struct TileSums
{
    HWY_ALIGN int32_t lines[kTile][kTile * kMostTileColumns];
};

// Finishes a vector of a panel's columns, from `first` on.
HWY_INLINE void finish_vector(const Int8Winograd& conv, const Int8Panel& panel, int64_t first,
                              const int32_t* products, TileSums* sums)
{
    const Integers d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    HWY_ALIGN int32_t columns[kTile * kPatch * HWY_MAX_BYTES / sizeof(int32_t)];
    for (int64_t j = 0; j < kPatch; ++j)
        transform_sums(
            [&](int64_t i) {
                return hn::LoadU(d, products + (i * kPatch + j) * conv.product_step());
            },
            [&](int64_t i, IntegerVector value) {
                hn::Store(value, d, columns + (i * kPatch + j) * lanes);
            });
    const IntegerVector start = hn::LoadU(d, panel.start() + first);
    for (int64_t i = 0; i < kTile; ++i)
        transform_sums([&](int64_t j) { return hn::Load(d, columns + (i * kPatch + j) * lanes); },
                       [&](int64_t j, IntegerVector value) {
                           hn::StoreU(hn::Add(value, start), d,
                                      sums->lines[i] + j * panel.width + first);
                       });
}

// Computes a panel of a block.
void compute_panel(const Int8Winograd& conv, const Int8Tiles& block, const int16_t* inputs,
                   int64_t index, int32_t* products)
{
    const Int8Panel panel = conv.panel_at(block.packed, index);
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const auto lanes = static_cast<int64_t>(hn::Lanes(Integers()));
    multiply_positions(conv, panel, inputs, block.count, products);
    const int64_t column = index * conv.format.columns;
    const int64_t columns = std::min(panel.width, conv.output_channels - column);
    const Int8Run run = {{block.images, block.packed}, block.output, nullptr};
    const TileBytes bytes(conv.results, panel, run);
    TileSums sums;
    for (int64_t tile = 0; tile < block.count; ++tile) {
        const TilePosition at = conv.find_tile(block.begin + tile);
        const int64_t first = at.image * conv.output_plane + at.row * x.output + at.column;
        for (int64_t i = 0; i < panel.width; i += lanes)
            finish_vector(conv, panel, i, products + tile * panel.width + i, &sums);
        for (int64_t i = 0; i < std::min<int64_t>(kTile, y.output - at.row); ++i)
            bytes.store(sums.lines[i], std::min<int64_t>(kTile, x.output - at.column), columns,
                        (first + i * x.output) * conv.results.output_step + column);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(transform_tiles);
HWY_EXPORT(compute_panel);

// The weights less their zero points.
struct CentredWeights
{
    const tensor* values;
    const tensor* zero_points;

    int zero_of(int64_t channel) const
    {
        const bool has_many = zero_points && zero_points->elem_num > 1;
        return read_zero_point(zero_points, has_many ? channel : 0);
    }
    int operator()(const uint8_t* value, int zero) const
    {
        return (values->data_type == TENGINE_DT_INT8 ? static_cast<int8_t>(*value) : *value) - zero;
    }
};

// Writes G g G' times the factors of its rows and columns.
void transform_filter(const int32_t* filter, int16_t* to)
{
    static const int kRows[][3] = {{1, 0, 0}, {1, 1, 1},  {1, -1, 1},
                                   {1, 2, 4}, {1, -2, 4}, {0, 0, 1}};
    for (const auto& row : kRows) {
        int32_t half[3];
        for (int j = 0; j < 3; ++j)
            half[j] = row[0] * filter[j] + row[1] * filter[3 + j] + row[2] * filter[6 + j];
        for (const auto& column : kRows)
            *to++ = static_cast<int16_t>(column[0] * half[0] + column[1] * half[1] +
                                         column[2] * half[2]);
    }
}

// Packs the weights of an input channel for column `i` of a panel.
void pack_filter(const Int8Winograd& conv, const Int8Panel& panel, int64_t i, int64_t input,
                 const int32_t* filter)
{
    int16_t transformed[Int8Winograd::kPositions];
    transform_filter(filter, transformed);
    // If the number of channels is odd, the last group begins one channel earlier.
    const bool is_left = input % 2 == 0 && input + 1 == conv.input_channels;
    auto* to = reinterpret_cast<int16_t*>(panel.weights()) + (input / 2 * panel.width + i) * 2 +
               (is_left ? 1 : input % 2);
    for (int64_t position = 0; position < Int8Winograd::kPositions; ++position)
        to[position * conv.groups_of_two() * panel.width * 2] = transformed[position];
}

// Packs a panel; its first `present` columns are output channels from `first` on.
void pack_panel(const Int8Winograd& conv, const Int8Operands& operands, const uint8_t* values,
                const Int8Panel& panel, int64_t first, int64_t present)
{
    constexpr int64_t kTaps = 9;
    const tensor* bias = operands.bias;
    const CentredWeights centre = {operands.weights, operands.weight_zero_points};
    for (int64_t i = 0; i < present; ++i) {
        const ir_multiplier_t multiplier = find_byte_multiplier(operands, first + i);
        panel.start()[i] = bias ? bias->i32[slice_index(bias, first + i)] : 0;
        panel.multipliers()[i] = multiplier;
        panel.scales()[i] = round_multiplier(multiplier);
    }
    for (int64_t input = 0; input < conv.input_channels; ++input) {
        for (int64_t i = 0; i < present; ++i) {
            const int zero = centre.zero_of(first + i);
            const uint8_t* from = values + ((first + i) * conv.input_channels + input) * kTaps;
            int32_t filter[kTaps];
            for (int64_t tap = 0; tap < kTaps; ++tap)
                filter[tap] = centre(from + tap, zero);
            pack_filter(conv, panel, i, input, filter);
        }
    }
}

void pack(const Int8Winograd& conv, const Int8Operands& operands, const uint8_t* values,
          char* packed)
{
    for (int64_t panel = 0; panel < conv.panels; ++panel) {
        const Int8Panel to = conv.panel_at(packed, panel);
        std::memset(to.data, 0, static_cast<size_t>(conv.panel_bytes(to.width)));
        const int64_t first = panel * conv.format.columns;
        pack_panel(conv, operands, values, to, first,
                   std::min(to.width, conv.output_channels - first));
    }
}

// Chooses blocks whose transformed inputs and products fit into half of the L2 cache. If blocks are
// few, each worker takes as many as the others, provided that each has enough tiles for the
// weights, which all workers then read; else they share the panels of a block, whose inputs they
// transform together.
void choose_block(Int8Winograd& conv, int64_t workers)
{
    constexpr int64_t kFewestTiles = 24;
    const auto room = static_cast<int64_t>(get_cpu_cache_size().l2 / 2);
    const int64_t rows = conv.format.most_rows, tiles = conv.batch * conv.tiles;
    const int64_t tile_bytes =
        Int8Winograd::kPositions * (conv.tile_step() * int64_t{sizeof(int16_t)} +
                                    conv.format.columns * int64_t{sizeof(int32_t)});
    const int64_t most =
        std::clamp<int64_t>(room / tile_bytes / rows * rows, rows, round_up(tiles, rows));
    conv.blocks = divide_up(tiles, most);
    const bool has_few = workers > 1 && conv.blocks < 2 * workers;
    const int64_t even = round_up(conv.blocks, workers);
    conv.spreads_panels = has_few && tiles < even * kFewestTiles;
    if (has_few && !conv.spreads_panels) conv.blocks = even;
    conv.block = round_up(divide_up(tiles, conv.blocks), rows);
    conv.blocks = divide_up(tiles, conv.block);
}

int64_t count_tiles(const ConvProblem& problem)
{
    return divide_up(problem.axes[1].output, Int8Winograd::kTile) *
           divide_up(problem.axes[2].output, Int8Winograd::kTile);
}

int prepare(KernelContext& context)
{
    Int8Winograd conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv, 3));
    const Int8Operands operands = find_byte_operands(*context.node, 6, 8);
    const int64_t workers = get_thread_pool_size(context.pool);
    conv.format = find_pair_format();
    conv.results.range =
        find_byte_range(operands.output_type, operands.output_zero_point, operands.rounding);
    const bool is_signed = operands.input_type == TENGINE_DT_INT8;
    conv.flip = is_signed ? 0x80 : 0;
    conv.zero_point = operands.input_zero_point + (is_signed ? 128 : 0);
    conv.image_step = context.input_step(0);
    conv.results.output_step = context.output_step();
    conv.tiles_x = divide_up(conv.axes[2].output, Int8Winograd::kTile);
    conv.tiles = count_tiles(conv);
    conv.panels = divide_up(conv.output_channels, conv.format.columns);
    choose_block(conv, workers);
    context.scratch_size = static_cast<uint64_t>(
        (conv.spreads_panels ? 1 : workers) * conv.input_bytes() + workers * conv.product_bytes());
    static const char kind = 0;
    int64_t scales;
    const float both[] = {operands.input_scale, operands.output_scale};
    std::memcpy(&scales, both, sizeof scales);
    const int64_t last_width = conv.panel_width(conv.panels - 1);
    const auto bytes = static_cast<uint64_t>(
        (conv.panels - 1) * conv.panel_bytes(conv.format.columns) + conv.panel_bytes(last_width));
    return keep_packed_problem(context, conv, &kind, operands.weights,
                               {operands.weight_zero_points, operands.weight_scales, operands.bias},
                               {conv.format.columns, scales, operands.rounding}, bytes,
                               [&](void* memory, const void* values) {
                                   pack(conv, operands, static_cast<const uint8_t*>(values),
                                        static_cast<char*>(memory));
                               });
}

Int8Tiles find_block(const KernelContext& context, const Int8Winograd& conv, int64_t index)
{
    const int64_t begin = index * conv.block;
    return {context.input(0)->u8, context.output(0)->u8, shared_weights<Int8Winograd>(context),
            begin, std::min(conv.block, conv.batch * conv.tiles - begin)};
}

// Gives each worker blocks.
void spread_blocks(const KernelContext& context, const Int8Winograd& conv)
{
    const auto work = [&](int64_t first, int64_t last, int worker) {
        char* scratch = static_cast<char*>(context.scratch) +
                        worker * (conv.input_bytes() + conv.product_bytes());
        auto* inputs = reinterpret_cast<int16_t*>(scratch);
        auto* products = reinterpret_cast<int32_t*>(scratch + conv.input_bytes());
        for (int64_t index = first; index < last; ++index) {
            const Int8Tiles block = find_block(context, conv, index);
            HWY_DYNAMIC_DISPATCH(transform_tiles)(conv, block, 0, block.count, inputs);
            for (int64_t panel = 0; panel < conv.panels; ++panel)
                HWY_DYNAMIC_DISPATCH(compute_panel)(conv, block, inputs, panel, products);
        }
    };
    parallel_for(context.pool, conv.blocks, 1, work);
}

// Shares the tiles of a block among the workers, then its panels.
void spread_panels(const KernelContext& context, const Int8Winograd& conv)
{
    char* scratch = static_cast<char*>(context.scratch);
    auto* inputs = reinterpret_cast<int16_t*>(scratch);
    for (int64_t index = 0; index < conv.blocks; ++index) {
        const Int8Tiles block = find_block(context, conv, index);
        parallel_for(context.pool, block.count, 2, [&](int64_t first, int64_t last, int) {
            HWY_DYNAMIC_DISPATCH(transform_tiles)(conv, block, first, last, inputs);
        });
        parallel_for(context.pool, conv.panels, 1, [&](int64_t first, int64_t last, int worker) {
            char* to = scratch + conv.input_bytes() + worker * conv.product_bytes();
            for (int64_t panel = first; panel < last; ++panel)
                HWY_DYNAMIC_DISPATCH(compute_panel)
            (conv, block, inputs, panel, reinterpret_cast<int32_t*>(to));
        });
    }
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<Int8Winograd>(context);
    if (conv.spreads_panels)
        spread_panels(context, conv);
    else
        spread_blocks(context, conv);
    return TENGINE_OK;
}

// Whether the sum of the absolute weights of each output channel is within the limit of the
// transforms.
bool has_small_sums(const ConvProblem& problem, const Int8Operands& operands)
{
    constexpr int64_t kMost = (int64_t{1} << 28) / 3060;
    const CentredWeights centre = {operands.weights, operands.weight_zero_points};
    const int64_t length = problem.input_channels * problem.taps;
    for (int64_t channel = 0; channel < problem.output_channels; ++channel) {
        const int zero = centre.zero_of(channel);
        const uint8_t* from = operands.weights->u8 + channel * length;
        int64_t sum = 0;
        for (int64_t i = 0; i < length; ++i)
            sum += std::abs(centre(from + i, zero));
        if (sum > kMost) return false;
    }
    return true;
}

// The transforms take full vectors of channels.
bool accepts(const node& node)
{
    constexpr int64_t kMostLanes = 32;
    ConvProblem p;
    if (get_ir_node_input(&node, 0)->dim_num != 4 || !has_byte_constants(node, 6) ||
        get_ir_node_input(&node, 3)->tensor_type != TENSOR_TYPE_CONST ||
        describe_conv(node, false, &p, 3) != TENGINE_OK || p.groups != 1 ||
        p.input_channels < kMostLanes || p.output_plane == 0 || p.output_channels == 0 ||
        p.batch == 0)
        return false;
    for (const window_axis* axis = p.axes + 1; axis < p.axes + kConvAxes; ++axis)
        if (axis->kernel != 3 || axis->stride != 1 || axis->dilation != 1) return false;
    const Int8Operands operands = find_byte_operands(node, 6, 8);
    TileFormat format;
    return find_byte_format(operands, p.input_channels * p.taps, p.input_channels, &format) &&
           format.element_size == sizeof(int16_t) && has_small_sums(p, operands);
}

// With few tiles, reading the weights, which are four times as large, costs more than the products
// save; with few channels, the transforms do.
bool pays(const node& node)
{
    constexpr int64_t kFewestChannels = 16, kFewestTiles = 12;
    ConvProblem p;
    return describe_conv(node, false, &p, 3) == TENGINE_OK &&
           p.output_channels >= kFewestChannels && count_tiles(p) >= kFewestTiles;
}

int64_t count_weights(const node& node)
{
    constexpr int64_t kTaps = 9;
    const auto taps = static_cast<int64_t>(get_ir_tensor_bytes(get_ir_node_input(&node, 3)));
    return taps / kTaps * Int8Winograd::kPositions * int64_t{sizeof(int16_t)};
}

constexpr Kernel qlinear_winograd_rows[] = {
    {.op = "QLinearConv",
     .name = "conv.s8.winograd4x4",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .leads = true,
     .unaligned_input = 3,
     .takes_steps = kTakesSteps,
     .pays = pays,
     .count_weights = count_weights},
};

}  // namespace

extern const KernelTable qlinear_winograd_kernels;
const KernelTable qlinear_winograd_kernels = make_table<qlinear_winograd_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

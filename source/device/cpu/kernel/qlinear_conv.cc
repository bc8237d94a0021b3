// SPDX-License-Identifier: Apache-2.0
// QLinearConv with constant weights as a matrix product of 16-bit integers, written once for all
// instruction sets with Highway. The sums are exact, so the bits are those of the reference.
//
// Weights and input are taken less their zero points, as int16, and two rows of the matrix of
// conv_gemm.cc at a time make a pair, so that one multiply-add of pairs (x86: pmaddwd) does two
// products a lane. Weights are packed once, eight output channels side by side; of the input, a
// block of positions is packed for each tile, a vector of positions side by side. Eight channels by
// one vector are summed in registers. Blocks are cut so that the packed input stays in half of the
// L2 cache; the weights stream past it.
// Limits: nine loads for eight multiply-adds; groups of few output channels leave rows idle, so
// depthwise convolutions are left to the reference.
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/alloc.h"
#include "base/cpu.h"
#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel/im2col.h"
#include "device/cpu/kernel/tile.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/qlinear.h"

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/qlinear_conv.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Its vectors of 16 and 32 bits have one lane each, which makes no pairs.
int64_t count_pair_lanes()
{
    return 1;
}

void multiply_eight(const int32_t* weights, const int16_t* input, int64_t pairs, int64_t vectors,
                    int64_t stride, int32_t* sums)
{
    for (int64_t v = 0; v < vectors; ++v, input += 2 * pairs)
        for (int64_t row = 0; row < 8; ++row) {
            int32_t sum = 0;
            for (int64_t k = 0; k < pairs; ++k) {
                const int32_t pair = weights[8 * k + row];
                sum += static_cast<int16_t>(pair) * input[2 * k] + (pair >> 16) * input[2 * k + 1];
            }
            sums[row * stride + v] = sum;
        }
}

#else

using Sums = hn::ScalableTag<int32_t>;
using Pairs = hn::Repartition<int16_t, Sums>;

int64_t count_pair_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Sums()));
}

using Vector = hn::Vec<Sums>;

// Adds a pair of inputs at every position times a pair of weights to the sums of one channel. Which
// of the two sums gets which product depends on the instruction set.
HWY_INLINE void add_pair(hn::Vec<Pairs> x, int32_t weights, Vector& even, Vector& odd)
{
    const auto w = hn::BitCast(Pairs(), hn::Set(Sums(), weights));
    even = hn::ReorderWidenMulAccumulate(Sums(), x, w, even, odd);
}

HWY_INLINE void store_sums(Vector even, Vector odd, int32_t* sums)
{
    hn::StoreU(hn::RearrangeToOddPlusEven(even, odd), Sums(), sums);
}

// Eight channels at `vectors` vectors of positions; sums of a channel are `stride` apart.
void multiply_eight(const int32_t* weights, const int16_t* input, int64_t pairs, int64_t vectors,
                    int64_t stride, int32_t* sums)
{
    const int64_t lanes = count_pair_lanes();
    for (int64_t v = 0; v < vectors; ++v, sums += lanes) {
        Vector e0 = hn::Zero(Sums()), e1 = e0, e2 = e0, e3 = e0, e4 = e0, e5 = e0, e6 = e0, e7 = e0;
        Vector o0 = e0, o1 = e0, o2 = e0, o3 = e0, o4 = e0, o5 = e0, o6 = e0, o7 = e0;
        const int32_t* w = weights;
        for (int64_t k = 0; k < pairs; ++k, w += 8, input += 2 * lanes) {
            const auto x = hn::LoadU(Pairs(), input);
            add_pair(x, w[0], e0, o0);
            add_pair(x, w[1], e1, o1);
            add_pair(x, w[2], e2, o2);
            add_pair(x, w[3], e3, o3);
            add_pair(x, w[4], e4, o4);
            add_pair(x, w[5], e5, o5);
            add_pair(x, w[6], e6, o6);
            add_pair(x, w[7], e7, o7);
        }
        store_sums(e0, o0, sums);
        store_sums(e1, o1, sums + stride);
        store_sums(e2, o2, sums + 2 * stride);
        store_sums(e3, o3, sums + 3 * stride);
        store_sums(e4, o4, sums + 4 * stride);
        store_sums(e5, o5, sums + 5 * stride);
        store_sums(e6, o6, sums + 6 * stride);
        store_sums(e7, o7, sums + 7 * stride);
    }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable qlinear_conv_kernels;
const KernelTable qlinear_conv_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(count_pair_lanes);
HWY_EXPORT(multiply_eight);

constexpr int kRows = 8;         // channels of a panel of weights
constexpr int64_t kBlock = 256;  // most positions of a tile, a multiple of any vector's lanes
constexpr int64_t kUnit = 64;
constexpr int64_t kFewestChannels = 4;  // of a group

struct QuantizedConv : ConvProblem
{
    int64_t depth, pairs;  // rows of the matrix, and half of them rounded up
    int64_t panels;        // of weights in a group
    int64_t block, block_num;
    bool reads_in_place;

    int64_t tile_num() const { return batch * groups * block_num; }
    int64_t panel_size() const { return pairs * kRows; }
    // Packed input, then the matrix in bytes, in floats.
    size_t matrix_size() const
    {
        const int64_t rows = reads_in_place ? 0 : depth * block;
        return static_cast<size_t>(pairs * block + (rows + 3) / 4);
    }
};

int describe(const KernelContext& context, QuantizedConv* out_conv)
{
    QuantizedConv& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv, 3));
    conv.depth = conv.input_channels * conv.taps;
    conv.pairs = (conv.depth + 1) / 2;
    conv.panels = (conv.output_channels + kRows - 1) / kRows;
    conv.reads_in_place = is_pointwise(conv);
    const int64_t bytes = std::max<int64_t>(conv.pairs, 1) * int64_t{2 * sizeof(int16_t)};
    const int64_t fitting = static_cast<int64_t>(get_cpu_cache_size().l2 / 2) / bytes;
    const int64_t largest = std::clamp(fitting / kUnit * kUnit, kUnit, kBlock);
    const int64_t fewest = std::max<int64_t>((conv.output_plane + largest - 1) / largest, 1);
    const int64_t even = (conv.output_plane + fewest - 1) / fewest;
    conv.block = std::max<int64_t>((even + kUnit - 1) / kUnit, 1) * kUnit;
    conv.block_num = (conv.output_plane + conv.block - 1) / conv.block;
    return TENGINE_OK;
}

int32_t make_pair(int first, int second)
{
    const uint32_t low = static_cast<uint16_t>(first);
    return static_cast<int32_t>(low | static_cast<uint32_t>(second) << 16);
}

template <class W>
void pack_weights(const QuantizedConv& conv, const W* weights, const tensor* zero_points,
                  int32_t* packed)
{
    for (int64_t panel = 0; panel < conv.groups * conv.panels; ++panel) {
        for (int64_t i = 0; i < conv.panel_size(); ++i, ++packed) {
            const int64_t row = panel % conv.panels * kRows + i % kRows;
            const int64_t k = i / kRows * 2;
            if (row >= conv.output_channels) {
                *packed = 0;
                continue;
            }
            const int64_t channel = panel / conv.panels * conv.output_channels + row;
            const int zero = read_zero_point(zero_points, slice_index(zero_points, channel));
            const W* w = weights + channel * conv.depth + k;
            *packed = make_pair(w[0] - zero, k + 1 < conv.depth ? w[1] - zero : 0);
        }
    }
}

// Scratch has the multipliers, then the matrices of the tiles.
size_t find_multiplier_bytes(const KernelContext& context)
{
    const size_t bytes = sizeof(ir_multiplier_t) * static_cast<size_t>(context.input(4)->elem_num);
    return (bytes + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
}

int prepare(KernelContext& context)
{
    QuantizedConv conv;
    TENGINE_RETURN_IF_ERROR(describe(context, &conv));
    context.scratch_size = find_multiplier_bytes(context) +
                           find_tile_scratch(context, conv.tile_num(), conv.matrix_size());
    const int64_t size = conv.groups * conv.panels * conv.panel_size();
    auto* packed = static_cast<int32_t*>(alloc_memory(sizeof(int32_t) * static_cast<size_t>(size)));
    if (!packed) return fail_node(context.node, TENGINE_ENOMEM, "no memory for its packed weights");
    context.state = packed;
    context.free_state = free_memory;
    const tensor* weight = context.input(3);
    return dispatch_type(ByteTypes{}, weight->data_type, [&](auto type) {
        using W = typename decltype(type)::type;
        pack_weights(conv, static_cast<const W*>(weight->data), context.input(5), packed);
        return TENGINE_OK;
    });
}

// One pair of matrix rows at `columns` positions; `step` elements between vectors of positions.
template <class X>
void pack_pair(const X* first, const X* second, int zero, int64_t columns, int64_t lanes,
               int64_t step, int16_t* packed)
{
    for (int64_t begin = 0; begin < columns; begin += lanes, packed += step) {
        const int64_t count = std::min(lanes, columns - begin);
        for (int64_t i = 0; i < count; ++i) {
            packed[2 * i] = static_cast<int16_t>(first[begin + i] - zero);
            packed[2 * i + 1] = static_cast<int16_t>(second ? second[begin + i] - zero : 0);
        }
        std::fill(packed + 2 * count, packed + 2 * lanes, int16_t{0});
    }
}

template <class X>
struct Run
{
    const KernelContext& context;
    const QuantizedConv& conv;
    const ir_multiplier_t* multipliers;
    Requantizer requantize;
    int zero_point;  // of x
    int64_t lanes;

    // Positions begin..begin+columns-1 of the group's matrix, packed.
    void pack(thread_pool_t* pool, const X* input, int64_t begin, int64_t columns, int16_t* packed,
              X* rows) const
    {
        const auto row = [&](int64_t k) -> const X* {
            if (k >= conv.depth) return nullptr;
            if (conv.reads_in_place) return input + k * conv.input_plane + begin;
            X* gathered = rows + k * conv.block;
            gather_row(conv, input, k, begin, begin + columns, static_cast<X>(zero_point),
                       gathered);
            return gathered;
        };
        parallel_for(pool, conv.pairs, grain_for(2 * columns), [&](int64_t k, int64_t last, int) {
            for (; k < last; ++k)
                pack_pair(row(2 * k), row(2 * k + 1), zero_point, columns, lanes,
                          2 * lanes * conv.pairs, packed + 2 * lanes * k);
        });
    }

    // The channels of panel `panel` of a group at the packed positions.
    void finish_panel(const int16_t* packed, int64_t group, int64_t panel, int64_t columns,
                      uint8_t* output) const
    {
        const auto* weights = static_cast<const int32_t*>(context.state) +
                              (group * conv.panels + panel) * conv.panel_size();
        const int32_t* bias = context.input(8) ? context.input(8)->i32 : nullptr;
        int32_t sums[kRows * kBlock];
        HWY_DYNAMIC_DISPATCH(multiply_eight)
        (weights, packed, conv.pairs, (columns + lanes - 1) / lanes, kBlock, sums);
        const int64_t rows = std::min<int64_t>(kRows, conv.output_channels - panel * kRows);
        for (int64_t r = 0; r < rows; ++r) {
            const int64_t row = panel * kRows + r;
            const int64_t channel = group * conv.output_channels + row;
            const ir_multiplier_t multiplier = multipliers[slice_index(context.input(4), channel)];
            const int64_t added = bias ? bias[channel] : 0;
            uint8_t* out = output + row * conv.output_plane;
            for (int64_t i = 0; i < columns; ++i)
                out[i] = requantize(sums[r * kBlock + i] + added, multiplier);
        }
    }

    void tile(thread_pool_t* pool, int64_t index, float* matrix) const
    {
        const int64_t begin = index % conv.block_num * conv.block;
        const int64_t columns = std::min(conv.block, conv.output_plane - begin);
        const int64_t slice = index / conv.block_num;  // of batch x groups
        const X* input = static_cast<const X*>(context.input(0)->data) +
                         slice * conv.input_channels * conv.input_plane;
        uint8_t* output =
            context.output(0)->u8 + slice * conv.output_channels * conv.output_plane + begin;
        auto* packed = reinterpret_cast<int16_t*>(matrix);
        pack(pool, input, begin, columns, packed,
             reinterpret_cast<X*>(packed + 2 * conv.pairs * conv.block));
        parallel_for(pool, conv.panels, grain_for(conv.panel_size() * columns),
                     [&](int64_t panel, int64_t last, int) {
                         for (; panel < last; ++panel)
                             finish_panel(packed, slice % conv.groups, panel, columns, output);
                     });
    }
};

int run(KernelContext& context)
{
    QuantizedConv conv;
    TENGINE_RETURN_IF_ERROR(describe(context, &conv));
    auto* multipliers = static_cast<ir_multiplier_t*>(context.scratch);
    TENGINE_RETURN_IF_ERROR(make_weight_multipliers(context, 1, 6, multipliers));
    const Quantization x(context, 1), y(context, 6);
    const Requantizer requantize(context.output(0)->data_type, y.zero_point);
    KernelContext tiles = context;
    tiles.scratch = static_cast<char*>(context.scratch) + find_multiplier_bytes(context);
    return dispatch_type(ByteTypes{}, context.input(0)->data_type, [&](auto type) {
        using X = typename decltype(type)::type;
        const Run<X> work = {context,    conv,         multipliers,
                             requantize, x.zero_point, HWY_DYNAMIC_DISPATCH(count_pair_lanes)()};
        run_tiles(tiles, conv.tile_num(), conv.matrix_size(),
                  [&](thread_pool_t* pool, int64_t tile, float* matrix) {
                      work.tile(pool, tile, matrix);
                  });
        return TENGINE_OK;
    });
}

bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

bool accepts(const node& node)
{
    ConvProblem conv;
    const int rank = get_ir_node_input(&node, 0)->dim_num;
    return rank <= 2 + kConvAxes && is_constant(get_ir_node_input(&node, 3)) &&
           is_constant(get_ir_node_input(&node, 5)) &&
           describe_conv(node, false, &conv, 3) == TENGINE_OK &&
           conv.output_channels >= kFewestChannels &&
           conv.input_channels * conv.taps <= kMostNarrowProducts;
}

const Kernel rows[] = {{"QLinearConv", "conv.im2col_pairs", accepts, run, prepare}};

}  // namespace

extern const KernelTable qlinear_conv_kernels;
const KernelTable qlinear_conv_kernels = {rows, std::size(rows)};

}  // namespace tengine::cpu
#endif  // HWY_ONCE

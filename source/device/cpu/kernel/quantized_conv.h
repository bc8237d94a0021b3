// SPDX-License-Identifier: Apache-2.0
// QLinearConv with constant weights as a matrix product of packed integers: all but the packing and
// the product itself, which are a Format's (qlinear_conv.cc, conv_bytes.cc). The sums are exact, so
// the bits are those of the reference.
//
// The matrix is that of conv_gemm.cc. Its rows are packed in groups of Format::kGroup. Weights are
// packed once, in panels of eight output channels; of the input, a block of positions is packed for
// each tile. Blocks are cut so that the packed input stays in half of the L2 cache; the weights
// stream past it.
// Limits: groups of few output channels leave rows idle, so depthwise convolutions are left to the
// reference.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel/im2col.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/tile.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/grain.h"
#include "device/cpu/reference/qlinear.h"

namespace tengine::cpu {

struct QuantizedConv : ConvProblem
{
    static constexpr int kRows = 8;                // channels of a panel of weights
    static constexpr int64_t kFewestChannels = 4;  // of a group

    int64_t depth, steps;  // rows of the matrix, and groups of them
    int64_t panels;        // of weights in a group of channels
    int64_t block, block_num;
    int64_t column_bytes;  // of a packed position
    bool reads_in_place;

    int64_t tile_num() const { return batch * groups * block_num; }
    int64_t panel_num() const { return groups * panels; }
    // Packed input, the sum of each position, then the matrix in bytes.
    int64_t packed_bytes() const { return column_bytes * block; }
    int64_t sum_bytes() const { return block * int64_t{sizeof(int32_t)}; }
    int64_t gathered_bytes() const { return reads_in_place ? 0 : depth * block; }
    // All three, in floats.
    uint64_t matrix_size() const
    {
        const int64_t bytes = packed_bytes() + sum_bytes() + gathered_bytes();
        return static_cast<uint64_t>(bytes + 3) / sizeof(float);
    }
};

inline bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

// How a Format packs and multiplies:
//     kGroup, kGroupBytes        rows of the matrix in a group, bytes of one group
//     kHeaderBytes               of a packed panel, before the weights
//     count_lanes()              positions of a vector, a divisor of kPositionUnit
//     pack_channel(w, depth, steps, zero, row, panel)
//                                the weights of a panel's channel; w null: there is none
//     pack_group(rows, zero, columns, step, packed)
//                                one group of rows, null ones beyond the last, at these positions;
//                                `step` bytes from one vector of positions to the next
//     multiply(panel, packed, steps, vectors, stride, sums)
// and, where the header is there because zero points are subtracted after the product:
//     needs_column_sums(panel)   whether centre() reads the sums of the packed positions
//     sum_columns(packed, steps, columns, sums)
//     centre<X>(panel, row, depth, zero, column_sums, columns, sums)
//                                makes sums of what was packed those of the centred integers
template <class Format>
class QuantizedConvKernel
{
  public:
    static bool accepts(const node& node)
    {
        ConvProblem conv;
        const int rank = get_ir_node_input(&node, 0)->dim_num;
        return rank <= 2 + kConvAxes && is_constant(get_ir_node_input(&node, 3)) &&
               is_constant(get_ir_node_input(&node, 5)) &&
               describe_conv(node, false, &conv, 3) == TENGINE_OK &&
               conv.output_channels >= QuantizedConv::kFewestChannels &&
               conv.input_channels * conv.taps <= kMostNarrowProducts;
    }

    static int prepare(KernelContext& context)
    {
        QuantizedConv conv = {};
        TENGINE_RETURN_IF_ERROR(describe(*context.node, &conv));
        context.scratch_size = find_multiplier_bytes(context) +
                               find_tile_scratch(context, conv.tile_num(), conv.matrix_size());
        const auto packed_bytes = static_cast<uint64_t>(conv.panel_num() * panel_bytes(conv));
        const tensor* weight = context.input(3);
        const tensor* zero_points = context.input(5);
        static const char kind = 0;  // one for each Format
        const int64_t sizes[] = {conv.groups, conv.output_channels, conv.depth, weight->data_type};
        const auto pack = [&](void* packed, const void* values) {
            dispatch_type(ByteTypes{}, weight->data_type, [&](auto type) {
                using W = typename decltype(type)::type;
                pack_weights(conv, static_cast<const W*>(values), zero_points,
                             static_cast<char*>(packed));
                return TENGINE_OK;
            });
        };
        return keep_packed_problem(context, conv, &kind, weight, {zero_points}, sizes, packed_bytes,
                                   pack);
    }

    static int run(KernelContext& context)
    {
        const auto& conv = packed_problem<QuantizedConv>(context);
        auto* multipliers = static_cast<ir_multiplier_t*>(context.scratch);
        TENGINE_RETURN_IF_ERROR(make_weight_multipliers(context, 1, 6, multipliers));
        const Quantization x(context, 1), y(context, 6);
        const Requantizer requantize(context.output(0)->data_type, y.zero_point);
        KernelContext tiles = context;
        tiles.scratch = static_cast<char*>(context.scratch) + find_multiplier_bytes(context);
        return dispatch_type(ByteTypes{}, context.input(0)->data_type, [&](auto type) {
            using X = typename decltype(type)::type;
            const Run<X> work = {context,
                                 conv,
                                 multipliers,
                                 requantize,
                                 x.zero_point,
                                 Format::count_lanes(),
                                 needs_column_sums(context, conv)};
            run_tiles(tiles, conv.tile_num(), conv.matrix_size(),
                      [&](thread_pool_t* pool, int64_t tile, float* matrix) {
                          work.tile(pool, tile, matrix);
                      });
            return TENGINE_OK;
        });
    }

  private:
    static constexpr int kRows = QuantizedConv::kRows;

    static int describe(const node& node, QuantizedConv* out_conv)
    {
        QuantizedConv& conv = *out_conv;
        TENGINE_RETURN_IF_ERROR(describe_conv(node, false, &conv, 3));
        conv.depth = conv.input_channels * conv.taps;
        conv.steps = (conv.depth + Format::kGroup - 1) / Format::kGroup;
        conv.panels = (conv.output_channels + kRows - 1) / kRows;
        conv.reads_in_place = is_pointwise(conv);
        conv.column_bytes = conv.steps * Format::kGroupBytes;
        conv.block = find_position_block(conv.output_plane, conv.column_bytes);
        conv.block_num = (conv.output_plane + conv.block - 1) / conv.block;
        return TENGINE_OK;
    }

    static int64_t panel_bytes(const QuantizedConv& conv)
    {
        return Format::kHeaderBytes + conv.steps * kRows * Format::kGroupBytes;
    }

    template <class W>
    static void pack_weights(const QuantizedConv& conv, const W* weights, const tensor* zero_points,
                             char* packed)
    {
        for (int64_t i = 0; i < conv.panel_num() * kRows; ++i) {
            const int64_t panel = i / kRows;
            const int64_t row = panel % conv.panels * kRows + i % kRows;
            const int64_t channel = panel / conv.panels * conv.output_channels + row;
            const bool exists = row < conv.output_channels;
            const int zero =
                exists ? read_zero_point(zero_points, slice_index(zero_points, channel)) : 0;
            Format::pack_channel(exists ? weights + channel * conv.depth : nullptr, conv.depth,
                                 conv.steps, zero, static_cast<int>(i % kRows),
                                 packed + panel * panel_bytes(conv));
        }
    }

    static bool needs_column_sums(const KernelContext& context, const QuantizedConv& conv)
    {
        bool needed = false;
        if constexpr (Format::kHeaderBytes > 0)
            for (int64_t i = 0; i < conv.panel_num(); ++i)
                needed |= Format::needs_column_sums(shared_weights<QuantizedConv>(context) +
                                                    i * panel_bytes(conv));
        return needed;
    }

    // Scratch has the multipliers, then the matrices of the tiles.
    static uint64_t find_multiplier_bytes(const KernelContext& context)
    {
        const uint64_t bytes =
            sizeof(ir_multiplier_t) * static_cast<uint64_t>(context.input(4)->elem_num);
        return (bytes + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
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
        bool sums_columns;

        // Positions begin..begin+columns-1 of the group's matrix, packed.
        void pack(thread_pool_t* pool, const X* input, int64_t begin, int64_t columns, char* packed,
                  X* gathered) const
        {
            const auto find_row = [&](int64_t k) -> const X* {
                if (k >= conv.depth) return nullptr;
                if (conv.reads_in_place) return input + k * conv.input_plane + begin;
                X* row = gathered + k * conv.block;
                gather_row(conv, input, k, begin, begin + columns, static_cast<X>(zero_point), row);
                return row;
            };
            parallel_for(pool, conv.steps, grain_for(Format::kGroup * columns),
                         [&](int64_t k, int64_t last, int) {
                             for (; k < last; ++k) {
                                 const X* rows[Format::kGroup];
                                 for (int64_t i = 0; i < Format::kGroup; ++i)
                                     rows[i] = find_row(Format::kGroup * k + i);
                                 Format::pack_group(rows, zero_point, columns,
                                                    lanes * conv.column_bytes,
                                                    packed + lanes * Format::kGroupBytes * k);
                             }
                         });
        }

        // The channels of panel `panel` of a group at the packed positions.
        void finish_panel(const char* packed, const int32_t* column_sums, int64_t group,
                          int64_t panel, int64_t columns, uint8_t* output) const
        {
            const char* weights = shared_weights<QuantizedConv>(context) +
                                  (group * conv.panels + panel) * panel_bytes(conv);
            const int32_t* bias = context.input(8) ? context.input(8)->i32 : nullptr;
            int32_t sums[kRows * kMostPositions];
            Format::multiply(weights, packed, conv.steps, (columns + lanes - 1) / lanes,
                             kMostPositions, sums);
            const int64_t rows = std::min<int64_t>(kRows, conv.output_channels - panel * kRows);
            for (int64_t r = 0; r < rows; ++r) {
                const int64_t row = panel * kRows + r;
                const int64_t channel = group * conv.output_channels + row;
                if constexpr (Format::kHeaderBytes > 0)
                    Format::template centre<X>(weights, static_cast<int>(r), conv.depth, zero_point,
                                               column_sums, columns, sums + r * kMostPositions);
                const ir_multiplier_t multiplier =
                    multipliers[slice_index(context.input(4), channel)];
                const int64_t added = bias ? bias[channel] : 0;
                uint8_t* out = output + row * conv.output_plane;
                for (int64_t i = 0; i < columns; ++i)
                    out[i] = requantize(sums[r * kMostPositions + i] + added, multiplier);
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
            char* packed = reinterpret_cast<char*>(matrix);
            auto* column_sums = reinterpret_cast<int32_t*>(packed + conv.packed_bytes());
            auto* gathered = reinterpret_cast<X*>(packed + conv.packed_bytes() + conv.sum_bytes());
            pack(pool, input, begin, columns, packed, gathered);
            if constexpr (Format::kHeaderBytes > 0)
                if (sums_columns) Format::sum_columns(packed, conv.steps, columns, column_sums);
            parallel_for(pool, conv.panels,
                         grain_for(conv.steps * Format::kGroup * kRows * columns),
                         [&](int64_t panel, int64_t last, int) {
                             for (; panel < last; ++panel)
                                 finish_panel(packed, column_sums, slice % conv.groups, panel,
                                              columns, output);
                         });
        }
    };
};

}  // namespace tengine::cpu

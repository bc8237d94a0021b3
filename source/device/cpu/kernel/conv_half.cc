// SPDX-License-Identifier: Apache-2.0
// Conv in fp16 with constant weights as a matrix product (half_product.h). Sums are fp32, so that
// nothing but the result is rounded to fp16 and no partial sum overflows, as with the reference.
//
// The matrix is that of conv_gemm.cc, in fp16. Weights are packed once, in panels of eight output
// channels; of the input, a block of positions is packed for each tile. Blocks are cut so that the
// packed input stays in half of the L2 cache; the weights stream past it.
// Limits: groups of few output channels leave rows idle, so depthwise convolutions are left to the
// reference.
// Accuracy: |error| <= (n + 2) * eps32 * (sum |weight| |input| + |bias|) + eps16 / 2 * |result|
// with n input channels * taps.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "base/half.h"
#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel/half_product.h"
#include "device/cpu/kernel/im2col.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel/tile.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/reference/grain.h"

#ifdef __ARM_NEON
namespace tengine::cpu {
namespace {

static_assert(kPositionUnit % kHalfColumns == 0);
constexpr int64_t kFewestChannels = 4;  // of a group

struct HalfConv : ConvProblem
{
    int64_t depth, panels;  // rows of the matrix, panels of weights in a group
    int64_t block, block_num;
    const uint16_t *input, *packed, *bias;
    uint16_t* output;

    int64_t tile_num() const { return batch * groups * block_num; }
    int64_t panel_size() const { return depth * kHalfRows; }
    // Packed input, then one row of the matrix, in floats.
    uint64_t matrix_size() const { return static_cast<uint64_t>((depth + 1) * block) / 2; }
    uint64_t packed_bytes() const
    {
        return sizeof(uint16_t) * static_cast<uint64_t>(groups * panels * panel_size());
    }

    void bind(const KernelContext& context)
    {
        input = context.input(0)->f16;
        packed = reinterpret_cast<const uint16_t*>(shared_weights<HalfConv>(context));
        bias = context.input(2) ? context.input(2)->f16 : nullptr;
        output = context.output(0)->f16;
    }
};

int describe(const node& node, HalfConv* out_conv)
{
    HalfConv& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(node, false, &conv));
    conv.depth = conv.input_channels * conv.taps;
    conv.panels = (conv.output_channels + kHalfRows - 1) / kHalfRows;
    conv.block = find_position_block(conv.output_plane, conv.depth * int64_t{sizeof(uint16_t)});
    conv.block_num = (conv.output_plane + conv.block - 1) / conv.block;
    return TENGINE_OK;
}

void pack_weights(const HalfConv& conv, const uint16_t* weights, uint16_t* packed)
{
    for (int64_t panel = 0; panel < conv.groups * conv.panels; ++panel)
        for (int64_t i = 0; i < conv.panel_size(); ++i) {
            const int64_t row = panel % conv.panels * kHalfRows + i % kHalfRows;
            const int64_t channel = panel / conv.panels * conv.output_channels + row;
            *packed++ = row < conv.output_channels ? weights[channel * conv.depth + i / kHalfRows]
                                                   : uint16_t{0};
        }
}

int prepare(KernelContext& context)
{
    HalfConv conv = {};
    TENGINE_RETURN_IF_ERROR(describe(*context.node, &conv));
    context.scratch_size = find_tile_scratch(context, conv.tile_num(), conv.matrix_size());
    static const char kind = 0;
    const int64_t sizes[] = {conv.groups, conv.output_channels, conv.depth, 0};
    const auto pack = [&](void* packed, const void* weights) {
        pack_weights(conv, static_cast<const uint16_t*>(weights), static_cast<uint16_t*>(packed));
    };
    return keep_packed_problem(context, conv, &kind, context.input(1), {}, sizes,
                               conv.packed_bytes(), pack);
}

// Positions begin..begin+columns-1 of the group's matrix, packed; `row` holds one row of it.
void pack(const HalfConv& conv, const uint16_t* input, int64_t begin, int64_t columns,
          uint16_t* packed, uint16_t* row)
{
    for (int64_t k = 0; k < conv.depth; ++k) {
        gather_row(conv, input, k, begin, begin + columns, uint16_t{0}, row);
        std::fill(row + columns, row + (columns + kHalfColumns - 1) / kHalfColumns * kHalfColumns,
                  uint16_t{0});
        for (int64_t i = 0; i < columns; i += kHalfColumns)
            std::copy_n(row + i, kHalfColumns, packed + i * conv.depth + k * kHalfColumns);
    }
}

template <const HalfProduct& kProduct>
void finish_panel(const HalfConv& conv, const uint16_t* packed, int64_t group, int64_t panel,
                  int64_t columns, uint16_t* output)
{
    const int64_t first = panel * kHalfRows;
    const int64_t rows = std::min<int64_t>(kHalfRows, conv.output_channels - first);
    float starts[kHalfRows] = {};
    for (int64_t r = 0; r < rows && conv.bias; ++r)
        starts[r] = fp16_to_fp32(conv.bias[group * conv.output_channels + first + r]);
    float sums[kHalfRows * kMostPositions];
    kProduct.multiply(conv.packed + (group * conv.panels + panel) * conv.panel_size(), packed,
                      conv.depth, (columns + kHalfColumns - 1) / kHalfColumns, starts,
                      kMostPositions, sums);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < columns; ++i)
            output[(first + r) * conv.output_plane + i] =
                fp32_to_fp16(sums[r * kMostPositions + i]);
}

template <const HalfProduct& kProduct>
void run_tile(const HalfConv& conv, thread_pool_t* pool, int64_t tile, float* matrix)
{
    const int64_t begin = tile % conv.block_num * conv.block;
    const int64_t columns = std::min(conv.block, conv.output_plane - begin);
    const int64_t slice = tile / conv.block_num;  // of batch x groups
    uint16_t* output = conv.output + slice * conv.output_channels * conv.output_plane + begin;
    auto* packed = reinterpret_cast<uint16_t*>(matrix);
    pack(conv, conv.input + slice * conv.input_channels * conv.input_plane, begin, columns, packed,
         packed + conv.depth * conv.block);
    parallel_for(pool, conv.panels, grain_for(conv.panel_size() * columns),
                 [&](int64_t panel, int64_t last, int) {
                     for (; panel < last; ++panel)
                         finish_panel<kProduct>(conv, packed, slice % conv.groups, panel, columns,
                                                output);
                 });
}

bool is_constant_half(const tensor* tensor)
{
    return tensor->data_type == TENGINE_DT_FP16 && tensor->tensor_type == TENSOR_TYPE_CONST;
}

template <const HalfProduct& kProduct>
bool accepts(const node& node)
{
    ConvProblem conv;
    const tensor& input = *get_ir_node_input(&node, 0);
    return kProduct.multiply && (get_cpu_features() & kProduct.features) == kProduct.features &&
           input.data_type == TENGINE_DT_FP16 && is_constant_half(get_ir_node_input(&node, 1)) &&
           input.dim_num >= 3 && input.dim_num <= 2 + kConvAxes &&
           describe_conv(node, false, &conv) == TENGINE_OK &&
           conv.output_channels >= kFewestChannels;
}

constexpr Kernel rows[] = {
    {"Conv", "conv.im2col_fp16_fhm", accepts<fhm_product>,
     run_tiled<HalfConv, run_tile<fhm_product>>, prepare},
    {"Conv", "conv.im2col_fp16_neon", accepts<neon_product>,
     run_tiled<HalfConv, run_tile<neon_product>>, prepare},
};

}  // namespace

extern const KernelTable conv_half_kernels;
const KernelTable conv_half_kernels = make_table<rows>();

}  // namespace tengine::cpu
#else
namespace tengine::cpu {

extern const KernelTable conv_half_kernels;
const KernelTable conv_half_kernels = {nullptr, 0};

}  // namespace tengine::cpu
#endif  // __ARM_NEON

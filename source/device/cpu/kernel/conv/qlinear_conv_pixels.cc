// SPDX-License-Identifier: Apache-2.0
// QLinearConv in NHWC with constant weights, scales and zero points (pixels_s8.h). As in
// conv_pixels.cc, the inputs under a row of the window are one K segment of kernel width * channels
// elements. Rows (N, C, L), which the plan keeps as they are, are transposed before and after. The
// reference computes convolutions with three spatial axes or with computed operands. The sums are
// exact, so the results are bit-identical to the reference. Limits: groups of few output channels
// leave lanes idle; the requantisation, with few input channels; the transpositions of rows.
#include <algorithm>
#include <cstdint>

#include "base/alloc.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/product/pixels_s8.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

// Describes everything except the format and the plan.
int describe(const node& node, Int8Pixels* out_conv)
{
    Int8Pixels& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(node, false, &conv, 3));
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    conv.is_pointwise = conv.taps == 1 && conv.groups == 1 &&
                        y.pad_begin + y.pad_end + x.pad_begin + x.pad_end == 0;
    const bool is_row = conv.groups == 1 && x.dilation == 1;
    conv.segment_num = is_row ? y.kernel : int64_t{y.kernel} * x.kernel;
    conv.segment_length = conv.input_channels * (is_row ? x.kernel : 1);
    return TENGINE_OK;
}

bool find_format(const Int8Operands& operands, Int8Pixels& conv)
{
    return find_byte_format(operands, conv.input_channels * conv.taps, conv.segment_length,
                            &conv.format);
}

int keep(KernelContext& context, Int8Pixels& conv)
{
    TENGINE_RETURN_IF_ERROR(describe(*context.node, &conv));
    const Int8Operands operands = find_byte_operands(*context.node, 6, 8);
    find_format(operands, conv);  // a format exists, as accepts() has checked
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    if (context.fusion.addend >= 0) {
        const int first = context.fusion.addend + 1;
        const tensor* const scales[] = {context.input(first),     context.input(first + 1),
                                        context.input(first + 2), context.input(first + 3),
                                        context.input(first + 4), context.input(first + 5)};
        // The plan has checked the addition.
        describe_int8_addition(scales, context.output(0)->data_type, &conv.addition);
    }
    plan_byte_pixels(conv, operands, get_thread_pool_size(context.pool));
    const int64_t taps = conv.taps;
    return keep_byte_pixels(context, conv, operands, {conv.input_channels * taps, taps, 1});
}

int prepare(KernelContext& context)
{
    Int8Pixels conv = {};
    return keep(context, conv);
}

int run(KernelContext& context)
{
    multiply_byte_pixels(context);
    return TENGINE_OK;
}

uint64_t aligned_bytes(const tensor& bytes)
{
    return round_up(static_cast<uint64_t>(bytes.elem_num), ALLOC_ALIGNMENT);
}

// The scratch has the copies, then the input and the output in NHWC.
int prepare_rows(KernelContext& context)
{
    Int8Pixels conv = {};
    TENGINE_RETURN_IF_ERROR(keep(context, conv));
    context.scratch_size += aligned_bytes(*context.input(0)) + aligned_bytes(*context.output(0));
    return TENGINE_OK;
}

// Transposes each of the matrices.
void transpose(thread_pool_t* pool, const uint8_t* from, int64_t matrices, int64_t rows,
               int64_t columns, uint8_t* to)
{
    parallel_for(pool, matrices * columns, grain_for(rows), [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t matrix = i / columns, column = i % columns;
            const uint8_t* at = from + matrix * rows * columns + column;
            for (int64_t row = 0; row < rows; ++row)
                to[i * rows + row] = at[row * columns];
        }
    });
}

int run_rows(KernelContext& context)
{
    const auto& conv = packed_problem<Int8Pixels>(context);
    const tensor &x = *context.input(0), &y = *context.output(0);
    auto* input = static_cast<uint8_t*>(context.scratch) +
                  conv.worker_bytes() * static_cast<uint64_t>(get_thread_pool_size(context.pool));
    uint8_t* output = input + aligned_bytes(x);
    transpose(context.pool, x.u8, x.dims[0], x.dims[1], x.dims[2], input);
    multiply_byte_pixels(context, input, output);
    transpose(context.pool, output, y.dims[0], y.dims[2], y.dims[1], y.u8);
    return TENGINE_OK;
}

template <int kRank>
bool accepts(const node& node)
{
    Int8Pixels conv = {};
    if (get_ir_node_input(&node, 0)->dim_num != kRank || !has_byte_constants(node, 6) ||
        get_ir_node_input(&node, 3)->tensor_type != TENSOR_TYPE_CONST ||
        describe(node, &conv) != TENGINE_OK || !is_compact(conv.axes[1]) ||
        !is_compact(conv.axes[2]) || conv.segment_num > kMostSegments)
        return false;
    return (conv.groups == 1 || conv.output_channels >= 4) && conv.input_plane > 0 &&
           conv.output_plane > 0 && conv.batch > 0 && conv.input_channels > 0 &&
           conv.output_channels > 0 && find_format(find_byte_operands(node, 6, 8), conv);
}

constexpr Kernel qlinear_conv_pixels_rows[] = {
    {.op = "QLinearConv",
     .name = "conv.s8.nhwc",
     .accepts = accepts<4>,
     .run = run,
     .prepare = prepare,
     .layout = Layout::kChannelsLast,
     .fuses = true,
     .leads = true,
     .unaligned_input = 3,
     .takes_steps = kTakesSteps,
     .looks_up = true},
    {.op = "QLinearConv",
     .name = "conv.s8.ncw",
     .accepts = accepts<3>,
     .run = run_rows,
     .prepare = prepare_rows,
     .unaligned_input = 3},
};

}  // namespace

extern const KernelTable qlinear_conv_pixels_kernels;
const KernelTable qlinear_conv_pixels_kernels = make_table<qlinear_conv_pixels_rows>();

}  // namespace tengine::cpu

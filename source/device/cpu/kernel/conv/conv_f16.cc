// SPDX-License-Identifier: Apache-2.0
// Conv in fp16 and bf16 in NHWC, with constant weights and bias, as conv_pixels.cc has it in fp32
// (pixels_f16.h). conv.fp.depthwise_nhwc is asked first.
// Limits: the products of the format; groups of few output channels leave lanes idle.
// Accuracy: |error| <= 2 (n + 2) * eps32 * (sum |weight| |input| + |bias|), with n input channels *
// taps, before the activation, and half a unit of the type of the result. The order of summation
// depends on nothing but the weight.
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f16.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

// Taps of a line are adjacent unless other groups' channels or gaps of the dilation lie between
// them.
int64_t count_segments(const ConvProblem& conv)
{
    return conv.groups == 1 && conv.axes[2].dilation == 1 ? conv.axes[1].kernel : conv.taps;
}

int prepare(KernelContext& context)
{
    Float16Pixels conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    conv.data_type = context.input(0)->data_type;
    conv.is_pointwise = conv.taps == 1 && conv.groups == 1 &&
                        y.pad_begin + y.pad_end + x.pad_begin + x.pad_end == 0;
    conv.has_factors = context.fusion.scale >= 0;
    if (conv.has_factors) conv.batch = 1;  // see multiply_half_pixels()
    conv.segment_num = count_segments(conv);
    conv.segment_length = conv.input_channels * conv.taps / conv.segment_num;
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    plan_half_pixels(conv, get_thread_pool_size(context.pool));
    return keep_half_pixels(context, conv, {conv.input_channels * conv.taps, conv.taps, 1});
}

int run(KernelContext& context)
{
    multiply_half_pixels(context);
    return TENGINE_OK;
}

// One output channel, or one input channel in each of many groups, leaves no lanes to fill.
bool accepts(const node& node)
{
    ConvProblem p;
    return is_float16_conv(node) && describe_conv(node, false, &p) == TENGINE_OK &&
           (p.groups == 1 || (p.input_channels > 1 && p.output_channels >= 4)) &&
           is_compact(p.axes[1]) && is_compact(p.axes[2]) && count_segments(p) <= kMostSegments &&
           p.input_plane > 0 && p.output_plane > 0 && p.batch > 0 && p.input_channels > 0 &&
           p.output_channels > 1;
}

constexpr Kernel conv_f16_rows[] = {
    {.op = "Conv",
     .name = "conv.f16.nhwc",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .find_in_place = take_addend,
     .layout = Layout::kChannelsLast,
     .fuses = true,
     .scales = true,
     .leads = true,
     .unaligned_input = 1,
     .takes_steps = kTakesSteps},
};

}  // namespace

extern const KernelTable conv_f16_kernels;
const KernelTable conv_f16_kernels = make_table<conv_f16_rows>();

}  // namespace tengine::cpu

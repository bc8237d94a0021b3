// SPDX-License-Identifier: Apache-2.0
// Conv in fp32 with channels last and constant weights: every result is the product of the inputs
// under the window, read where they lie, and a panel of output channels (float_tile-inl.h).
// conv.fp.depthwise_nhwc is asked first.
//
// In NHWC the inputs under a row of the window are one K segment of kernel width * channels floats,
// the same for all output pixels of a line up to a constant step. So a tile is a few pixels of one
// line - of all pixels where the window is one pixel -, and its sum goes over as many K segments as
// the window has rows. Where the window reaches beyond the input, the lines that a block of output
// lines needs are copied with their padding first, and for a window of one pixel with strides the
// pixels that are read; a block fits into the L2 cache, and all panels pass over it before the
// next. Each weight of a panel is used for all tiles of a block. The epilogue is applied to the
// accumulators before they are stored; factors of input channels before it are worked into a copy
// of the weights in each run.
// Limits: multiply-adds (91-94 % of the peak on AVX-512 and 88-93 % on AVX2, with 64 or more
// channels); panels of few channels leave lanes idle.
// Accuracy: |error| <= (input channels * taps + 2) * eps * (sum |weight| |input| + |bias|), before
// the activation. The order of summation depends on nothing but the weight.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/conv/conv_pack.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

constexpr int64_t kMostStretches = 128;

int describe(const KernelContext& context, int64_t workers, PixelConv* out_conv)
{
    PixelConv& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    conv.gathers = kGathersPixels && conv.taps == 1 && conv.groups == 1 &&
                   (y.stride > 1 || x.stride > 1) &&
                   y.pad_begin + y.pad_end + x.pad_begin + x.pad_end == 0;
    conv.is_pointwise = conv.gathers || is_pointwise(conv);
    const bool is_row = conv.groups == 1 && x.dilation == 1;
    conv.stretch_num = is_row ? y.kernel : int64_t{y.kernel} * x.kernel;
    conv.stretch_length = conv.input_channels * (is_row ? x.kernel : 1);
    const bool has_padding = y.pad_begin > 0 || x.pad_begin > 0 ||
                             lines_for(y, y.output) > y.input || lines_for(x, x.output) > x.input;
    conv.copy_pixels = has_padding ? lines_for(x, x.output) : 0;
    conv.image_step = context.input_step(0);
    conv.pixel_step = has_padding || conv.gathers ? conv.input_channels : conv.image_step;
    conv.output_step = context.output_step();
    conv.input_step = conv.pixel_step * (conv.gathers ? 1 : x.stride);
    if (conv.is_pointwise) {  // all images are one line
        conv.lines = 1;
        conv.line_pixels = conv.batch * conv.output_plane;
        conv.batch = 1;
    } else {
        conv.lines = y.output;
        conv.line_pixels = x.output;
    }
    plan_pixels(conv, workers);
    return TENGINE_OK;
}

int prepare(KernelContext& context)
{
    const int64_t workers = get_thread_pool_size(context.pool);
    PixelConv conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, workers, &conv));
    context.scratch_size = conv.copy_floats() * sizeof(float) * static_cast<uint64_t>(workers);
    if (kScalesWeights && context.fusion.scale >= 0)
        context.scratch_size += count_packed_floats(conv) * sizeof(float);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, conv, &kind, weight, {bias},
        {conv.panel_lanes, conv.stretch_num, conv.stretch_length, conv.groups},
        count_packed_floats(conv) * sizeof(float), [&](void* memory, const void* values) {
            pack_conv(conv, static_cast<const float*>(values), bias ? bias->f32 : nullptr,
                      static_cast<float*>(memory));
        });
}

// The packed weights of a pointwise convolution times the factor of their input channel.
void scale_weights(const PixelConv& conv, const float* packed, const float* factors, float* scaled)
{
    for (int64_t first = 0; first < conv.output_channels; first += conv.panel_lanes) {
        const int64_t width = find_panel_width(conv.output_channels - first, conv.panel_lanes);
        std::copy_n(packed, width, scaled);
        for (int64_t k = 0; k < conv.input_channels; ++k)
            for (int64_t i = 0; i < width; ++i)
                scaled[(k + 1) * width + i] = packed[(k + 1) * width + i] * factors[k];
        packed += (conv.input_channels + 1) * width;
        scaled += (conv.input_channels + 1) * width;
    }
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<PixelConv>(context);
    const auto* weights = reinterpret_cast<const float*>(shared_weights<PixelConv>(context));
    if (kScalesWeights && context.fusion.scale >= 0) {
        auto* scaled = static_cast<float*>(context.scratch);
        scale_weights(conv, weights, context.input(context.fusion.scale)->f32, scaled);
        weights = scaled;
    }
    multiply_pixels(context, conv, weights);
    return TENGINE_OK;
}

int find_in_place(const KernelContext& context, int)
{
    return find_addend_in_place(context, packed_problem<PixelConv>(context));
}

// With one output channel, or one input channel in each of many groups, there is nothing to
// broadcast to.
bool accepts(const node& node)
{
    ConvProblem p;
    return is_pixel_conv(node) && describe_conv(node, false, &p) == TENGINE_OK &&
           (p.groups == 1 || (p.input_channels > 1 && p.output_channels >= 4)) &&
           is_compact(p.axes[1]) && is_compact(p.axes[2]) && p.taps <= kMostStretches &&
           p.input_plane > 0 && p.output_plane > 0 && p.batch > 0 && p.input_channels > 0 &&
           p.output_channels > 1;
}

constexpr Kernel conv_pixels_rows[] = {
    {.op = "Conv",
     .name = "conv.f32.nhwc",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .find_in_place = find_in_place,
     .layout = Layout::kChannelsLast,
     .fuses = true,
     .scales = kScalesWeights,
     .leads = true,
     .unaligned_input = 1,
     .takes_steps = kTakesSteps},
};

}  // namespace

extern const KernelTable conv_pixels_kernels;
const KernelTable conv_pixels_kernels = make_table<conv_pixels_rows>();

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// Conv in fp32 in NHWC with constant weights: each result is the product of the inputs under the
// window, read in place, and a panel of output channels (tile_f32-inl.h). conv.fp.depthwise_nhwc is
// asked first.
//
// In NHWC the inputs under a row of the window are one K segment of kernel width * channels floats;
// its address advances by a constant step along the output pixels of a line. So a tile is a few
// pixels of one line, or of the whole image if the window is one pixel, and its accumulators go
// over as many K segments as the window has rows. If the window reaches beyond the input, the lines
// that a block of output lines needs are copied with their padding first; for a window of one pixel
// with strides, the pixels that are read. A block fits into the L2 cache, and all panels pass over
// it before the next. Each weight of a panel is used for all tiles of a block. The epilogue is
// applied to the accumulators before they are stored. Factors of input channels before the
// convolution are multiplied into a copy of the weights in each run. Limits: multiply-adds (91-94 %
// of the peak on AVX-512 and 88-93 % on AVX2, with 64 or more channels); panels of few channels
// leave lanes idle. Accuracy: |error| <= (input channels * taps + 2) * eps * (sum |weight| |input|
// + |bias|), before the activation. The order of summation depends on nothing but the weight.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

bool has_factors(const KernelContext& context)
{
    return kScalesWeights && context.fusion.scale >= 0;
}

int describe(const KernelContext& context, int64_t workers, FloatPixels* out_conv)
{
    FloatPixels& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    if (has_factors(context)) conv.batch = 1;  // see run_images()
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const bool gathers = kGathersPixels && conv.taps == 1 && conv.groups == 1 &&
                         (y.stride > 1 || x.stride > 1) &&
                         y.pad_begin + y.pad_end + x.pad_begin + x.pad_end == 0;
    conv.is_pointwise = gathers || is_pointwise(conv);
    const bool is_row = conv.groups == 1 && x.dilation == 1;
    conv.segment_num = is_row ? y.kernel : int64_t{y.kernel} * x.kernel;
    conv.segment_length = conv.input_channels * (is_row ? x.kernel : 1);
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    plan_pixels(conv, workers);
    return TENGINE_OK;
}

int prepare(KernelContext& context)
{
    const int64_t workers = get_thread_pool_size(context.pool);
    FloatPixels conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, workers, &conv));
    context.scratch_size = conv.worker_bytes() * static_cast<uint64_t>(workers);
    if (has_factors(context)) context.scratch_size += conv.packed_bytes();
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, conv, &kind, weight, {bias},
        {conv.format.columns, conv.segment_num, conv.segment_length, conv.groups},
        conv.packed_bytes(), [&](void* memory, const void* values) {
            pack_float_weights(conv, static_cast<const float*>(values), bias ? bias->f32 : nullptr,
                               {conv.depth(), conv.taps, 1}, memory);
        });
}

// Multiplies the packed weights of a pointwise convolution by the factors of their input channels.
void scale_weights(const FloatPixels& conv, const float* packed, const float* factors,
                   float* scaled)
{
    for (int64_t panel = 0; panel < conv.panels; ++panel) {
        const int64_t width = conv.panel_width(panel);
        std::copy_n(packed, width, scaled);
        for (int64_t k = 0; k < conv.input_channels; ++k)
            for (int64_t i = 0; i < width; ++i)
                scaled[(k + 1) * width + i] = packed[(k + 1) * width + i] * factors[k];
        packed += (conv.input_channels + 1) * width;
        scaled += (conv.input_channels + 1) * width;
    }
}

// One image after the other, since each has factors of its own.
void run_images(const KernelContext& context, const FloatPixels& conv, const float* packed)
{
    const tensor& all_factors = *context.input(context.fusion.scale);
    const tensor* addend = find_addend(context);
    const int64_t input_floats = conv.input_plane * conv.image_step;
    const int64_t output_floats = conv.output_plane * conv.output_step;
    const int64_t factor_num = all_factors.dims[0] > 1 ? conv.input_channels : 0;
    auto* scaled = static_cast<float*>(context.scratch);
    for (int64_t i = 0; i < context.output(0)->dims[0]; ++i) {
        scale_weights(conv, packed, all_factors.f32 + i * factor_num, scaled);
        multiply_pixels(context.pool, conv,
                        {{context.input(0)->f32 + i * input_floats, scaled},
                         addend ? addend->f32 + i * output_floats : nullptr,
                         context.output(0)->f32 + i * output_floats,
                         &context.fusion},
                        scaled + conv.packed_floats());
    }
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<FloatPixels>(context);
    const void* weights = shared_weights<FloatPixels>(context);
    if (has_factors(context))
        run_images(context, conv, static_cast<const float*>(weights));
    else
        multiply_pixels(context, conv, weights);
    return TENGINE_OK;
}

int find_in_place(const KernelContext& context, int)
{
    return find_addend_in_place(context, packed_problem<FloatPixels>(context));
}

// One output channel, or one input channel in each of many groups, leaves no lanes to broadcast to.
bool accepts(const node& node)
{
    ConvProblem p;
    return is_pixel_conv(node) && describe_conv(node, false, &p) == TENGINE_OK &&
           (p.groups == 1 || (p.input_channels > 1 && p.output_channels >= 4)) &&
           is_compact(p.axes[1]) && is_compact(p.axes[2]) && p.taps <= kMostSegments &&
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

// SPDX-License-Identifier: Apache-2.0
// ConvTranspose in fp32 in NHWC with constant weights, as phases: output positions that are a
// stride apart use the same taps, so that each of stride height * stride width phases is a
// convolution with stride 1 and its own part of the weights, whose results are stored a stride
// apart (W. Shi et al., Is the deconvolution layer the same as a convolutional layer?, 2016). A
// window of 2 x 2 with strides of 2 gives four products of pixels.
//
// A phase is computed by phased_conv.h. A block of lines fits into half of the L2 cache, and all
// phases and panels of output channels pass over it before the next. Limits: multiply-adds (91-96 %
// of the peak on AVX-512 and 80-94 % on AVX2 with 32 or more output channels, 1.3 to 1.9 times as
// fast as conv_transpose.f32.col2im), memory bandwidth for results beyond the caches; panels of few
// channels leave lanes idle. Accuracy: |error| <= (input channels * taps of the phase + 2) * eps *
// (sum |weight| |input| + |bias|), before the activation. The order of summation depends on nothing
// but the position.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/conv/phased_conv.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel_table.h"

namespace tengine::cpu {
namespace {

int describe(const KernelContext& context, int64_t workers, PhasedConv* out_conv)
{
    PhasedConv& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, true, &conv));
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    describe_phases(conv.axes[1], &conv.y);
    describe_phases(conv.axes[2], &conv.x);
    plan_phases(conv, workers);
    return TENGINE_OK;
}

// Packs a phase's taps in the order of the inputs that they multiply.
void pack_phase(const PhasedConv& conv, const Phase& y, const Phase& x, const float* weight,
                const float* bias, float* packed)
{
    const FloatPixels panels = describe_panels(conv, y.taps * x.taps);
    pack_panels(panels, packed, [&](const PixelPanel& panel) {
        const int64_t group = panel.channel / conv.output_channels;
        float* to = pack_bias(panel, bias);
        for (int64_t i = 0; i < panels.segment_num; ++i) {
            const int64_t row = y.last_tap - i / x.taps * conv.y.tap_step;
            const int64_t column = x.last_tap - i % x.taps * conv.x.tap_step;
            const float* from = weight + panel.channel % conv.output_channels * conv.taps +
                                row * conv.axes[2].kernel + column;
            for (int64_t input = 0; input < conv.input_channels; ++input, to += panel.width) {
                const int64_t line = group * conv.input_channels + input;
                const float* source = from + line * conv.output_channels * conv.taps;
                for (int64_t k = 0; k < panel.count; ++k)
                    to[k] = source[k * conv.taps];
                std::fill(to + panel.count, to + panel.width, 0.0f);
            }
        }
    });
}

void pack(const PhasedConv& conv, const float* weight, const float* bias, float* packed)
{
    for (int64_t y = 0; y < conv.y.stride; ++y)
        for (int64_t x = 0; x < conv.x.stride; ++x)
            pack_phase(conv, conv.y.phases[y], conv.x.phases[x], weight, bias,
                       packed + conv.weights_at(y, x));
}

int prepare(KernelContext& context)
{
    PhasedConv conv = {};
    TENGINE_RETURN_IF_ERROR(describe(context, get_thread_pool_size(context.pool), &conv));
    static const char kind = 0;
    const tensor* bias = context.input(2);
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    return keep_packed_problem(context, conv, &kind, context.input(1), {bias},
                               {conv.panel_lanes << 32 | conv.groups, conv.input_channels,
                                find_phase_code(y), find_phase_code(x)},
                               conv.packed_floats() * sizeof(float),
                               [&](void* memory, const void* values) {
                                   pack(conv, static_cast<const float*>(values),
                                        bias ? bias->f32 : nullptr, static_cast<float*>(memory));
                               });
}

bool accepts(const node& node)
{
    ConvProblem p;
    return is_pixel_conv(node) && describe_conv(node, true, &p) == TENGINE_OK &&
           (p.groups == 1 || p.input_channels > 1) && has_few_phases(p.axes[1]) &&
           has_few_phases(p.axes[2]) &&
           count_most_taps(p.axes[1]) * count_most_taps(p.axes[2]) <= kMostPhaseSegments &&
           p.input_plane > 0 && p.output_plane > 0 && p.batch > 0 && p.input_channels > 0;
}

// If results fill less than three quarters of a vector, the product of all taps together takes less
// time (conv_transpose.f32.col2im).
bool pays(const node& node)
{
    ConvProblem p;
    int64_t rows, lanes;
    describe_pixel_tile(&rows, &lanes);
    return describe_conv(node, true, &p) == TENGINE_OK && p.output_channels * 4 >= lanes * 3;
}

constexpr Kernel conv_transpose_pixels_rows[] = {
    {.op = "ConvTranspose",
     .name = "conv_transpose.f32.nhwc",
     .accepts = accepts,
     .run = run_phases,
     .prepare = prepare,
     .find_in_place = take_addend,
     .layout = Layout::kChannelsLast,
     .fuses = true,
     .leads = true,
     .unaligned_input = 1,
     .takes_steps = kTakesSteps,
     .pays = pays},
};

}  // namespace

extern const KernelTable conv_transpose_pixels_kernels;
const KernelTable conv_transpose_pixels_kernels = make_table<conv_transpose_pixels_rows>();

}  // namespace tengine::cpu

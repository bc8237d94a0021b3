// SPDX-License-Identifier: Apache-2.0
// Conv in fp32 in NHWC with constant weights and no strides, if most of the window lies in the
// padding: dilated windows on small inputs, as in DeepLab (L.-C. Chen et al., Rethinking Atrous
// Convolution for Semantic Image Segmentation, 2017). If the dilation is as large as the input,
// only the window's centre tap meets it. Taps in the padding are skipped, for one rectangle of
// output pixels with the same taps after the other (phased_conv.h). Limits: multiply-adds, in tiles
// as low as rectangles are narrow. Accuracy: |error| <= (input channels * taps + 2) * eps * (sum
// |weight| |input| + |bias|), before the activation. The order of summation depends on nothing but
// the weight.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/conv/phased_conv.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/shared/rounding.h"

namespace tengine::cpu {
namespace {

int prepare(KernelContext& context)
{
    PhasedConv conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    conv.image_step = context.input_step(0);
    conv.output_step = context.output_step();
    describe_single_phase(conv.axes[1], &conv.y);
    describe_single_phase(conv.axes[2], &conv.x);
    plan_phases(conv, get_thread_pool_size(context.pool));
    static const char kind = 0;
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, conv, &kind, context.input(1), {bias},
        {conv.panel_lanes, conv.taps, conv.input_channels, conv.groups},
        conv.packed_floats() * sizeof(float), [&](void* memory, const void* values) {
            pack_float_weights(describe_panels(conv, conv.taps), static_cast<const float*>(values),
                               bias ? bias->f32 : nullptr,
                               {conv.input_channels * conv.taps, conv.taps, 1}, memory);
        });
}

// Calls visit(range) for each range of an axis's positions that have the same taps.
template <class Visit>
void for_each_range(const window_axis& axis, const Visit& visit)
{
    PhasedAxis phased;
    describe_single_phase(axis, &phased);
    PhaseRange range = {};
    for (; range.end < axis.output; visit(range))
        range =
            find_phase_range(phased.phases[0], axis.dilation, axis.input, range.end, axis.output);
}

// Returns the number of taps that meet the input, summed over all positions.
int64_t count_inner_taps(const window_axis& axis)
{
    int64_t number = 0;
    for_each_range(axis, [&](const PhaseRange& range) { number += range.size() * range.taps(); });
    return number;
}

// The padding accounts for a quarter of the products or more.
bool accepts(const node& node)
{
    ConvProblem p;
    if (!is_pixel_conv(node) || describe_conv(node, false, &p) != TENGINE_OK) return false;
    const window_axis &y = p.axes[1], &x = p.axes[2];
    return y.stride == 1 && x.stride == 1 && p.taps <= kMostPhaseSegments &&
           (p.groups == 1 || (p.input_channels > 1 && p.output_channels >= 4)) && p.batch > 0 &&
           p.input_channels > 0 && p.output_channels > 1 && p.input_plane > 0 &&
           p.output_plane > 0 &&
           4 * count_inner_taps(y) * count_inner_taps(x) <= 3 * p.taps * p.output_plane;
}

// Returns the time of a tile of `pixels` neighbouring pixels, in rows: fewer than four rows do not
// hide the latency of a multiply-add.
int64_t count_tile_rows(int64_t pixels, int64_t most_rows)
{
    constexpr int64_t kFewest = 4;
    const int64_t tiles = divide_up(pixels, most_rows);
    return std::max(pixels, tiles * kFewest);
}

// The tiles of all rectangles take less time than tiles of whole lines with all taps.
bool pays(const node& node)
{
    ConvProblem p;
    if (describe_conv(node, false, &p) != TENGINE_OK) return false;
    int64_t most, lanes, time = 0;
    describe_pixel_tile(&most, &lanes);
    for_each_range(p.axes[1], [&](const PhaseRange& y) {
        for_each_range(p.axes[2], [&](const PhaseRange& x) {
            time += y.taps() * x.taps() *
                    std::min(y.size() * count_tile_rows(x.size(), most),
                             x.size() * count_tile_rows(y.size(), most));
        });
    });
    return time < p.taps * p.axes[1].output * count_tile_rows(p.axes[2].output, most);
}

constexpr Kernel conv_border_pixels_rows[] = {
    {.op = "Conv",
     .name = "conv.f32.nhwc_clipped",
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

extern const KernelTable conv_border_pixels_kernels;
const KernelTable conv_border_pixels_kernels = make_table<conv_border_pixels_rows>();

}  // namespace tengine::cpu

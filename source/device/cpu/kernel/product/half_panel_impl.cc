// SPDX-License-Identifier: Apache-2.0
// The packing of half_pixels.h.
#include <algorithm>
#include <cstdint>

#include "base/half.h"
#include "device/cpu/kernel/product/half_panel.h"
#include "device/cpu/kernel/product/packed_problem.h"

namespace tengine::cpu {
namespace {

// Weights of the elements of a group from `element` of all K segments on, `present` of them, of
// `count` output channels from `channel` on.
struct HalfGroup
{
    int64_t element, present, channel, count;
};

void pack_half_group(const HalfPixels& conv, const uint16_t* values, const HalfWeightSteps& steps,
                     const HalfGroup& group, uint16_t* to)
{
    for (int64_t j = 0; j < group.present; ++j) {
        const int64_t element = group.element + j;
        const uint16_t* from = values + group.channel * steps.output_channel +
                               element % conv.input_channels * steps.input_channel +
                               element / conv.input_channels * steps.tap;
        for (int64_t i = 0; i < group.count; ++i)
            to[i * conv.format.group + j] = from[i * steps.output_channel];
    }
}

}  // namespace

void pack_half_weights(const HalfPixels& conv, const uint16_t* values, const uint16_t* bias,
                       const HalfWeightSteps& steps, char* packed)
{
    const int64_t size = conv.format.group, length = conv.stretch_length;
    for (int64_t panel = 0; panel < conv.groups * conv.panels; ++panel) {
        const int64_t column = panel % conv.panels * conv.format.columns;
        const int64_t width = find_half_panel_width(conv, panel % conv.panels);
        const int64_t channel = panel / conv.panels * conv.output_channels + column;
        const int64_t count = std::min(width, conv.output_channels - column);
        auto* start = reinterpret_cast<float*>(packed);
        for (int64_t i = 0; i < width; ++i)
            start[i] = !bias || i >= count                 ? 0.0f
                       : conv.data_type == TENGINE_DT_FP16 ? fp16_to_fp32(bias[channel + i])
                                                           : bf16_to_fp32(bias[channel + i]);
        auto* to = reinterpret_cast<uint16_t*>(packed + HalfPanel::header_bytes(width));
        packed += find_half_panel_bytes(conv, width);
        std::fill(to, reinterpret_cast<uint16_t*>(packed), uint16_t{0});
        for (int64_t stretch = 0; stretch < conv.stretch_num; ++stretch)
            for (int64_t i = 0; i < length; i += size, to += width * size)
                pack_half_group(conv, values, steps,
                                {stretch * length + i, std::min(size, length - i), channel, count},
                                to);
    }
}

int keep_half_pixels(KernelContext& context, const HalfPixels& conv, const HalfWeightSteps& steps)
{
    const auto workers = static_cast<uint64_t>(get_thread_pool_size(context.pool));
    context.scratch_size = conv.worker_bytes() * workers;
    const tensor* bias = context.input(2);
    static const char kind = 0;
    return keep_packed_problem(
        context, conv, &kind, context.input(1), {bias},
        {conv.groups << 8 | conv.format.group, conv.stretch_num << 32 | conv.stretch_length,
         steps.output_channel, conv.data_type},
        conv.packed_bytes(), [&](void* memory, const void* values) {
            pack_half_weights(conv, static_cast<const uint16_t*>(values),
                              bias ? bias->f16 : nullptr, steps, static_cast<char*>(memory));
        });
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
// How convolutions and matrices of fp16 and bf16 are planned and packed; see pixels_f16.h.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "base/half.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f16.h"

namespace tengine::cpu {
namespace {

// Rows of a tile whose distance is a multiple of this number of bytes map to few sets of an L1
// cache. Then pixels are copied, or their copy has a line of the cache between them.
constexpr int64_t kCollidingBytes = 2048, kCacheLineBytes = 64;

bool collides(int64_t bytes)
{
    return bytes % kCollidingBytes == 0;
}

// The part of a panel's widened weights that an L1 cache holds.
constexpr int64_t kPartBytes = 32768;

}  // namespace

TileFormat find_half_format(int data_type)
{
    const auto runs = [](const TileFormat& format) {
        return format.multiply && (get_cpu_features() & format.features) == format.features;
    };
    if (data_type == TENGINE_DT_FP16 && runs(fhm_format)) return fhm_format;
    if (data_type == TENGINE_DT_BF16)
        for (const TileFormat& format : {avx512_bf16_format, bfmmla_format})
            if (runs(format)) return format;
    return find_widened_format(data_type);
}

Float16Pixels describe_half_rows(int data_type, int64_t rows, int64_t depth, int64_t columns)
{
    auto conv = describe_pointwise_rows<Float16Pixels>(rows, depth, columns);
    conv.data_type = data_type;
    return conv;
}

void plan_half_pixels(Float16Pixels& conv, int64_t workers)
{
    conv.format = find_half_format(conv.data_type);
    const TileFormat& format = conv.format;
    const bool widens = format.element_size > 2;
    if (widens)
        conv.part_elements =
            std::min(kPartBytes / (format.columns * int64_t{sizeof(float)}), conv.depth());
    conv.input_size = sizeof(uint16_t);
    conv.narrow_columns = format.columns / 2;
    conv.column_bytes = int64_t{sizeof(float)} + conv.segment_num * conv.segment_groups() *
                                                     format.group * int64_t{sizeof(uint16_t)};
    const bool moves = conv.is_pointwise && collides(conv.image_step * conv.input_size);
    const bool gaps = conv.is_pointwise && collides(conv.input_channels * format.element_size);
    place_pixels(conv, widens || conv.has_factors || moves,
                 gaps ? kCacheLineBytes / format.element_size : 0);
    conv.tile_rows = format.most_rows;
    const int64_t panel_bytes = widens ? conv.part_bytes() : format.columns * conv.column_bytes;
    cut_blocks(conv, conv.segment_length, find_block_room(conv, panel_bytes), workers);
    conv.extra_bytes = conv.part_bytes() + conv.sum_bytes();
}

void pack_half_weights(const Float16Pixels& conv, const uint16_t* values, const uint16_t* bias,
                       const WeightSteps& steps, char* packed)
{
    const auto widen = conv.data_type == TENGINE_DT_FP16 ? fp16_to_fp32 : bf16_to_fp32;
    pack_panels(conv, packed, [&](const PixelPanel& panel) {
        auto* start = reinterpret_cast<float*>(panel.data);
        for (int64_t i = 0; i < panel.width; ++i)
            start[i] = bias && i < panel.count ? widen(bias[panel.channel + i]) : 0.0f;
        pack_elements(conv, panel, steps, values, false,
                      reinterpret_cast<uint16_t*>(start + panel.width),
                      [&](const uint16_t* from, uint16_t* to) {
                          for (int64_t i = 0; i < panel.count; ++i)
                              to[i * conv.format.group] = from[i * steps.output_channel];
                      });
    });
}

int keep_half_pixels(KernelContext& context, const Float16Pixels& conv, const WeightSteps& steps)
{
    const auto workers = static_cast<uint64_t>(get_thread_pool_size(context.pool));
    context.scratch_size = conv.worker_bytes() * workers;
    const tensor* bias = context.input(2);
    static const char kind = 0;
    return keep_packed_problem(
        context, conv, &kind, context.input(1), {bias},
        {conv.groups << 8 | conv.format.group, conv.segment_num << 32 | conv.segment_length,
         steps.output_channel, conv.data_type},
        conv.packed_bytes(), [&](void* memory, const void* values) {
            pack_half_weights(conv, static_cast<const uint16_t*>(values),
                              bias ? bias->f16 : nullptr, steps, static_cast<char*>(memory));
        });
}

}  // namespace tengine::cpu

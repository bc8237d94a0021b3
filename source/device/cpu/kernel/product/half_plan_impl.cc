// SPDX-License-Identifier: Apache-2.0
// How convolutions and matrices of fp16 and bf16 are cut into blocks; see half_pixels.h.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/product/half_panel.h"
#include "device/cpu/kernel/product/pixel_conv.h"

namespace tengine::cpu {
namespace {

// Rows of a tile that are a multiple of so many bytes apart fall into few sets of an L1 cache. Then
// pixels are copied, or their copy has a line of the cache between them.
constexpr int64_t kCollidingBytes = 2048, kCacheLineBytes = 64;

bool collides(int64_t bytes)
{
    return bytes % kCollidingBytes == 0;
}

// The part of a panel's widened weights that an L1 cache holds.
constexpr int64_t kPartBytes = 32768;

// As in pixel_conv_impl.cc: larger weights come from beyond the L2 cache for each block, and only a
// panel of them, or its widened part, needs room.
int64_t bytes_of_a_block(const HalfPixels& conv)
{
    const auto cache = static_cast<int64_t>(get_cpu_cache_size().l2);
    if (conv.group_bytes <= cache / 2) return cache / 2;
    const int64_t weights = conv.part_elements > 0
                                ? static_cast<int64_t>(conv.part_bytes())
                                : find_half_panel_bytes(conv, conv.format.columns);
    return std::max(cache / 2, cache / 8 * 7 - weights);
}

// Blocks whose input fits into its share of the L2 cache, and enough items for all workers.
void choose_blocks(HalfPixels& conv, int64_t workers)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t most_rows = conv.format.most_rows;
    PixelWork work = {};
    work.units = conv.is_pointwise ? divide_up(conv.line_pixels, most_rows) : conv.lines;
    work.unit_size =
        (conv.is_pointwise ? most_rows * conv.stretch_length
                           : std::max(x.input, x.output) * conv.input_channels * y.stride) *
        conv.format.element_size;
    const int64_t halo =
        conv.is_pointwise ? 0 : (lines_for(y, 1) - y.stride) * work.unit_size / y.stride;
    work.room = bytes_of_a_block(conv) - halo;
    work.others = conv.batch * conv.groups;
    work.panels = conv.panels;
    work.has_large_weights =
        conv.group_bytes > conv.input_plane * conv.input_channels * int64_t{sizeof(uint16_t)};
    const PixelCut cut = cut_pixels(work, workers);
    conv.panel_parts = cut.panel_parts;
    conv.blocks = cut.blocks;
    conv.block_lines = conv.is_pointwise ? 1 : cut.units;
    conv.block_pixels = conv.is_pointwise ? cut.units * most_rows : conv.line_pixels;
}

}  // namespace

ByteFormat find_half_format(int data_type)
{
    const auto runs = [](const ByteFormat& format) {
        return format.multiply && (get_cpu_features() & format.features) == format.features;
    };
    if (data_type == TENGINE_DT_FP16 && runs(fhm_format)) return fhm_format;
    if (data_type == TENGINE_DT_BF16)
        for (const ByteFormat& format : {avx512_bf16_format, bfmmla_format})
            if (runs(format)) return format;
    return find_widened_format(data_type);
}

HalfPixels describe_half_rows(int data_type, int64_t rows, int64_t depth, int64_t columns)
{
    auto conv = describe_pointwise_rows<HalfPixels>(rows, depth, columns);
    conv.data_type = data_type;
    return conv;
}

void plan_half_pixels(HalfPixels& conv, int64_t workers)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    conv.format = find_half_format(conv.data_type);
    if (conv.format.element_size > 2)
        conv.part_elements =
            std::min(kPartBytes / (conv.format.columns * int64_t{sizeof(float)}), conv.depth());
    const bool has_padding = y.pad_begin > 0 || x.pad_begin > 0 ||
                             lines_for(y, y.output) > y.input || lines_for(x, x.output) > x.input;
    const bool copies =
        conv.format.element_size > 2 || has_padding || conv.has_factors ||
        (conv.is_pointwise &&
         (x.stride > 1 || y.stride > 1 || collides(conv.image_step * int64_t{sizeof(uint16_t)})));
    conv.pixel_step = copies ? conv.input_channels : conv.image_step;
    if (copies && conv.is_pointwise && collides(conv.pixel_step * conv.format.element_size))
        conv.pixel_step += kCacheLineBytes / conv.format.element_size;
    conv.input_step = conv.pixel_step * (conv.is_pointwise ? 1 : x.stride);
    conv.lines = conv.is_pointwise ? 1 : y.output;
    conv.line_pixels = conv.is_pointwise ? conv.batch * conv.output_plane : x.output;
    if (conv.is_pointwise) conv.batch = 1;
    conv.panels = divide_up(conv.output_channels, conv.format.columns);
    conv.group_bytes = (conv.panels - 1) * find_half_panel_bytes(conv, conv.format.columns) +
                       find_half_panel_bytes(conv, find_half_panel_width(conv, conv.panels - 1));
    choose_blocks(conv, workers);
    if (!copies) return;
    conv.copy_lines =
        conv.is_pointwise || conv.block_lines == 0 ? 1 : lines_for(y, conv.block_lines);
    conv.copy_pixels =
        conv.is_pointwise ? std::min(conv.block_pixels, conv.line_pixels) : lines_for(x, x.output);
}

}  // namespace tengine::cpu

// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/compiler/pool_layer.h"

#include <algorithm>

#include "device/tpu/compiler/emitter.h"
#include "tengine/fixed_point.h"

namespace tengine::tpu {
namespace {

// The number of taps on the input or its padding: the divisor of a mean that counts padding.
int taps_with_padding(const window_axis& axis, int position)
{
    const int64_t room =
        int64_t{axis.pad_begin} + axis.input + axis.pad_end - int64_t{position} * axis.stride;
    return static_cast<int>(
        std::min<int64_t>(axis.kernel, (room + axis.dilation - 1) / axis.dilation));
}

}  // namespace

std::vector<PoolLayer::Region> PoolLayer::split(const window_axis& axis, int begin, int end) const
{
    std::vector<Region> regions;
    for (int position = begin; position < end; ++position) {
        int first, last;
        clip_window_taps(&axis, position, &first, &last);
        const int taps = last - first;
        const int divisor = counts_padding ? taps_with_padding(axis, position) : taps;
        if (!regions.empty() && regions.back().first == first && regions.back().taps == taps &&
            regions.back().divisor == divisor)
            regions.back().end = position + 1;
        else
            regions.push_back({position, position + 1, first, taps, divisor});
    }
    return regions;
}

Box PoolLayer::needs(int, const Box& box) const
{
    Box needed = box;
    needed.y0 = std::max(0, box.y0 * y.stride - y.pad_begin);
    needed.y1 =
        std::min(y.input, (box.y1 - 1) * y.stride - y.pad_begin + (y.kernel - 1) * y.dilation + 1);
    return needed;
}

void PoolLayer::emit_region(Emitter& emitter, const Work& work, const Region& rows,
                            const Region& columns) const
{
    const Place& input = work.inputs[0];
    const Place& result = work.output;
    const std::vector<Loop> loops = {
        {work.box.images(), {input.image, 0, result.image}},
        {rows.end - rows.begin, {input.row * y.stride, 0, result.row}},
        {columns.end - columns.begin, {input.pixel * x.stride, 0, result.pixel}},
    };
    Instruction pool;
    pool.opcode = is_mean ? Opcode::kAveragePool : Opcode::kMaxPool;
    pool.flags = static_cast<uint16_t>((is_float ? kFloat : 0) | (signed_input ? kSignedA : 0) |
                                       (is_mean && signed_output ? kSignedD : 0));
    pool.length = static_cast<uint32_t>(output.shape.c);
    pool.a.address = static_cast<uint32_t>(
        input.at(work.box.n0, rows.begin * y.stride - y.pad_begin + rows.first * y.dilation,
                 columns.begin * x.stride - x.pad_begin + columns.first * x.dilation));
    pool.d.address = static_cast<uint32_t>(result.at(work.box.n0, rows.begin, columns.begin));
    pool.window_outer = static_cast<uint16_t>(rows.taps);
    pool.window_inner = static_cast<uint16_t>(columns.taps);
    pool.window_pitch_outer = static_cast<uint32_t>(input.row * y.dilation);
    pool.window_pitch_inner = static_cast<uint32_t>(input.pixel * x.dilation);
    if (is_mean) {
        const double divisor = static_cast<double>(rows.divisor) * columns.divisor;
        const double real = scale / (result_scale * divisor);
        if (is_float) {
            pool.low_real = static_cast<float>(real);
        } else {
            ir_multiplier_t multiplier = {};
            // Cannot fail: the multiplier for one element, which is the largest, was made before.
            if (make_ir_multipliers(&real, 1, &multiplier) != TENGINE_OK) return;
            pool.factor_a = multiplier.factor;
            pool.shift = static_cast<uint8_t>(multiplier.shift);
            pool.zero_a = input_zero;
            pool.zero_d = output_zero;
            pool.lowest = signed_output ? 0x80 : 0;
            pool.highest = signed_output ? 0x7f : 0xff;
        }
    }
    emitter.add_grids(pool, loops);
}

void PoolLayer::emit(Emitter& emitter, const Work& work)
{
    const std::vector<Region> columns = split(x, 0, output.shape.w);
    for (const Region& rows : split(y, work.box.y0, work.box.y1))
        for (const Region& part : columns)
            emit_region(emitter, work, rows, part);
}

}  // namespace tengine::tpu

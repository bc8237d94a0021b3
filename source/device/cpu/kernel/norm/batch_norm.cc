// SPDX-License-Identifier: Apache-2.0
// BatchNormalization of floats with constant statistics, in either layout: y = (x - mean) * slope +
// bias, where slope = scale / sqrt(variance + epsilon), through the activation that follows. fp16
// and bf16 are computed in fp32, in blocks that stay in L1, and rounded once.
// Limits: memory bandwidth.
// Accuracy: |error| <= 3 eps * (|x - mean| |slope| + |bias|), before the activation.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"
#include "operator/onnx/norm_param.h"

#ifndef TENGINE_CPU_BATCH_NORM
#define TENGINE_CPU_BATCH_NORM
namespace tengine::cpu {

// The parameters of `count` channels, followed by vectors of zeros.
struct ChannelLines
{
    const float *mean, *slope, *bias;
    int64_t count;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/norm/batch_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

void finish_line(const Fusion& fusion, float* data, int64_t count)
{
    if (needs_activation_pass(fusion)) activate(fusion, data, 1, 0, count);
}

// NHWC: positions with adjacent channels, `x_step` and `y_step` floats apart.
void normalize_pixels(const ChannelLines& lines, const Fusion& fusion, const float* x,
                      int64_t x_step, int64_t pixels, float* y, int64_t y_step)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Bounds clip(fusion);
    const auto line = [&](Vector value, int64_t channel) {
        const Vector distance = hn::Sub(value, hn::LoadU(d, lines.mean + channel));
        return clip(hn::MulAdd(distance, hn::LoadU(d, lines.slope + channel),
                               hn::LoadU(d, lines.bias + channel)));
    };
    for (int64_t i = 0; i < pixels; ++i, x += x_step, y += y_step) {
        int64_t channel = 0;
        for (; channel + lanes <= lines.count; channel += lanes)
            hn::StoreU(line(hn::LoadU(d, x + channel), channel), d, y + channel);
        const int64_t left = lines.count - channel;
        if (left > 0) store_lanes(line(load_lanes(x + channel, left), channel), y + channel, left);
        finish_line(fusion, y, lines.count);
    }
}

// NCHW: the plane of one channel.
void normalize_plane(const ChannelLines& lines, int64_t channel, const Fusion& fusion,
                     const float* x, int64_t count, float* y)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Bounds clip(fusion);
    const Vector mean = hn::Set(d, lines.mean[channel]), slope = hn::Set(d, lines.slope[channel]);
    const Vector bias = hn::Set(d, lines.bias[channel]);
    const auto line = [&](Vector value) {
        return clip(hn::MulAdd(hn::Sub(value, mean), slope, bias));
    };
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(line(hn::LoadU(d, x + i)), d, y + i);
    if (i < count) store_lanes(line(load_lanes(x + i, count - i)), y + i, count - i);
    finish_line(fusion, y, count);
}

// Floats that vectors may read beyond the last channel.
int64_t count_line_overrun()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(normalize_pixels);
HWY_EXPORT(normalize_plane);
HWY_EXPORT(count_line_overrun);

struct BatchNorm
{
    int64_t channels, stride;  // of each list of numbers, which follow each other
    int64_t planes, extent;    // of all images; elements of a plane
};

ChannelLines lines_of(const KernelContext& context)
{
    const auto& norm = kept_problem<BatchNorm>(context);
    const float* lists = reinterpret_cast<const float*>(packed_weights<BatchNorm>(context));
    return {lists, lists + norm.stride, lists + 2 * norm.stride, norm.channels};
}

// The bias includes the rounding error of the mean.
void write_line(double mean, double slope, double bias, int64_t stride, float* out)
{
    out[0] = static_cast<float>(mean);
    out[stride] = static_cast<float>(slope);
    const double lost = std::isfinite(mean) ? mean - double{out[0]} : 0;
    out[2 * stride] = static_cast<float>(bias - lost * slope);
}

int prepare(KernelContext& context)
{
    const tensor& x = *get_ir_node_input(context.node, 0);
    const tensor* list[5];
    for (int i = 1; i < 5; ++i)
        list[i] = get_ir_node_input(context.node, i);
    BatchNorm norm = {};
    norm.channels = x.dims[1];
    norm.stride = norm.channels + HWY_DYNAMIC_DISPATCH(count_line_overrun)();
    norm.planes = x.dims[0] * norm.channels;
    norm.extent = x.elem_num / norm.planes;
    TENGINE_RETURN_IF_ERROR(
        keep_problem(context, norm, static_cast<uint64_t>(3 * norm.stride) * sizeof(float)));
    auto* lines = reinterpret_cast<float*>(packed_weights<BatchNorm>(context));
    const double epsilon = context.param<batch_norm_param>().epsilon;
    for (int64_t c = 0; c < norm.channels; ++c)
        write_line(read_float(*list[3], c),
                   read_float(*list[1], c) / std::sqrt(read_float(*list[4], c) + epsilon),
                   read_float(*list[2], c), norm.stride, lines + c);
    return TENGINE_OK;
}

// Elements of one line, or of positions in NHWC with these lines.
struct Float16Block
{
    const uint16_t* x;
    int64_t x_step;
    uint16_t* y;
    int64_t y_step;
    int64_t rows, count;
};

template <class Compute>
void compute_block(const FloatRows& rows, const Float16Block& block, const Compute& compute)
{
    alignas(64) float floats[kFloatBlock];
    for (int64_t i = 0; i < block.rows; ++i)
        rows.widen(block.x + i * block.x_step, block.count, floats + i * block.count);
    compute(floats);
    for (int64_t i = 0; i < block.rows; ++i)
        rows.narrow(floats + i * block.count, block.count, block.y + i * block.y_step);
}

// Positions [begin, end) in NHWC.
void run_float16_pixels(const KernelContext& context, int64_t begin, int64_t end)
{
    const ChannelLines lines = lines_of(context);
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    const auto pixels = HWY_DYNAMIC_DISPATCH(normalize_pixels);
    Float16Block block = {};
    block.x_step = context.input_step(0);
    block.y_step = context.output_step();
    const int64_t most = std::max<int64_t>(kFloatBlock / lines.count, 1);
    for (int64_t pixel = begin; pixel < end; pixel += block.rows) {
        block.rows = std::min(most, end - pixel);
        for (int64_t first = 0; first < lines.count; first += block.count) {
            block.count = std::min(kFloatBlock, lines.count - first);
            block.x = context.input(0)->f16 + pixel * block.x_step + first;
            block.y = context.output(0)->f16 + pixel * block.y_step + first;
            const ChannelLines some = {lines.mean + first, lines.slope + first, lines.bias + first,
                                       block.count};
            compute_block(rows, block, [&](float* floats) {
                pixels(some, context.fusion, floats, block.count, block.rows, floats, block.count);
            });
        }
    }
}

// Planes [begin, end) in NCHW.
void run_float16_planes(const KernelContext& context, int64_t begin, int64_t end)
{
    const auto& norm = kept_problem<BatchNorm>(context);
    const ChannelLines lines = lines_of(context);
    const FloatRows rows = find_float_rows(context.input(0)->data_type);
    const auto plane = HWY_DYNAMIC_DISPATCH(normalize_plane);
    Float16Block block = {};
    block.rows = 1;
    for (int64_t i = begin; i < end; ++i)
        for (int64_t first = 0; first < norm.extent; first += block.count) {
            block.count = std::min(kFloatBlock, norm.extent - first);
            block.x = context.input(0)->f16 + i * norm.extent + first;
            block.y = context.output(0)->f16 + i * norm.extent + first;
            compute_block(rows, block, [&](float* floats) {
                plane(lines, i % norm.channels, context.fusion, floats, block.count, floats);
            });
        }
}

int run_float16(KernelContext& context)
{
    const auto& norm = kept_problem<BatchNorm>(context);
    if (context.has_channels_last)
        parallel_for(
            context.pool, norm.planes / norm.channels * norm.extent, grain_for(norm.channels),
            [&](int64_t begin, int64_t end, int) { run_float16_pixels(context, begin, end); });
    else
        parallel_for(
            context.pool, norm.planes, grain_for(norm.extent),
            [&](int64_t begin, int64_t end, int) { run_float16_planes(context, begin, end); });
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    if (has_float16(*context.input(0))) return run_float16(context);
    const auto& norm = kept_problem<BatchNorm>(context);
    const ChannelLines lines = lines_of(context);
    const float* x = context.input(0)->f32;
    float* y = context.output(0)->f32;
    const auto pixels = HWY_DYNAMIC_DISPATCH(normalize_pixels);
    const auto plane = HWY_DYNAMIC_DISPATCH(normalize_plane);
    if (context.has_channels_last) {
        const int64_t count = norm.planes / norm.channels * norm.extent;
        const int64_t x_step = context.input_step(0), y_step = context.output_step();
        parallel_for(context.pool, count, grain_for(norm.channels),
                     [&](int64_t begin, int64_t end, int) {
                         pixels(lines, context.fusion, x + begin * x_step, x_step, end - begin,
                                y + begin * y_step, y_step);
                     });
        return TENGINE_OK;
    }
    parallel_for(context.pool, norm.planes, grain_for(norm.extent),
                 [&](int64_t begin, int64_t end, int) {
                     for (int64_t i = begin; i < end; ++i)
                         plane(lines, i % norm.channels, context.fusion, x + i * norm.extent,
                               norm.extent, y + i * norm.extent);
                 });
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    const tensor& x = *get_ir_node_input(&node, 0);
    if (!is_fast_float(x.data_type) || x.dim_num < 2 || x.elem_num == 0) return false;
    if (static_cast<const batch_norm_param*>(node.op.param_mem)->training_mode) return false;
    for (int i = 1; i < 5; ++i) {
        const tensor& list = *get_ir_node_input(&node, i);
        if (list.tensor_type != TENSOR_TYPE_CONST || !is_fast_float(list.data_type)) return false;
    }
    return true;
}

constexpr Kernel batch_norm_rows[] = {
    {.op = "BatchNormalization",
     .name = "batch_norm.fp.vector",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .in_place_input = 0,
     .layout = Layout::kAny,
     .fuses = true,
     .takes_steps = kTakesSteps},
};

}  // namespace

extern const KernelTable batch_norm_kernels;
const KernelTable batch_norm_kernels = make_table<batch_norm_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// Depthwise Conv in fp32, 1-d and 2-d: every input channel has filters of its own (group = input
// channels, any multiple of them as output channels). Written once for all instruction sets with
// Highway; too few sums per channel for a matrix product to pay.
//
// A band of input rows of one channel is first copied to scratch with its padding, and each row is
// sorted by column modulo the stride. Under one tap, consecutive outputs then read consecutive
// elements whatever stride, dilation and padding are, so there is one inner loop without special
// cases: four accumulators - four rows, or four vectors of a row where rows are few - share each
// broadcast weight. Bands are cut so that the copy stays in an eighth of the L2 cache, and channels
// and bands are spread over the workers.
// Limits: loads (6 for 4 multiply-adds); planes narrower than a vector leave lanes idle.
// Accuracy: |error| <= (taps + 1) * eps * (sum |weight| |input| + |bias|).
#include <algorithm>
#include <cstdint>

#include "base/alloc.h"
#include "base/cpu.h"
#include "device/cpu/kernel/conv/conv_problem.h"
#include "device/cpu/kernel/product/kept_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/rounding.h"

#ifndef TENGINE_CPU_CONV_DEPTHWISE
#define TENGINE_CPU_CONV_DEPTHWISE
namespace tengine::cpu {

// The operands of one band. Sizes in elements.
struct DepthwiseBand
{
    const float* rows;       // of the copy
    int64_t row_step;        // in the copy, between the inputs of consecutive output rows
    const int64_t* offsets;  // each tap's in the copy
    int64_t taps;
    int64_t height, width;  // of the output
};

// The source of a band's copy, and the layout of the copy: `rows` rows of `stride` phases of
// `phase_width` elements.
struct DepthwiseCopy
{
    const float* plane;
    int64_t input_height, input_width;
    int64_t first_row;  // of the input; negative in the padding
    int64_t rows;
    int64_t stride, pad_begin, phase_width;  // along the row
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/conv_depthwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

int64_t count_lanes()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

// Stores the first `count` lanes.
HWY_INLINE void store_some(Vector value, float* output, int64_t count)
{
    const Floats d;
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(value, d, output);
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(value, d, lanes);
    for (int64_t i = 0; i < count; ++i)
        output[i] = lanes[i];
}

// Computes one vector of outputs.
HWY_INLINE void convolve_one(const DepthwiseBand& band, const float* weight, float bias,
                             const float* input, float* output, int64_t count)
{
    const Floats d;
    Vector sum = hn::Set(d, bias);
    for (int64_t t = 0; t < band.taps; ++t)
        sum = hn::MulAdd(hn::Set(d, weight[t]), hn::LoadU(d, input + band.offsets[t]), sum);
    store_some(sum, output, count);
}

// Computes four vectors of outputs, these steps apart.
HWY_INLINE void convolve_four(const DepthwiseBand& band, const float* weight, float bias,
                              const float* input, int64_t input_step, float* output,
                              int64_t output_step, int64_t count)
{
    const Floats d;
    Vector sum0 = hn::Set(d, bias), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (int64_t t = 0; t < band.taps; ++t) {
        const Vector w = hn::Set(d, weight[t]);
        const float* x = input + band.offsets[t];
        sum0 = hn::MulAdd(w, hn::LoadU(d, x), sum0);
        sum1 = hn::MulAdd(w, hn::LoadU(d, x + input_step), sum1);
        sum2 = hn::MulAdd(w, hn::LoadU(d, x + 2 * input_step), sum2);
        sum3 = hn::MulAdd(w, hn::LoadU(d, x + 3 * input_step), sum3);
    }
    store_some(sum0, output, count);
    store_some(sum1, output + output_step, count);
    store_some(sum2, output + 2 * output_step, count);
    store_some(sum3, output + 3 * output_step, count);
}

// Applies one filter to a band; the output is height x width, dense.
void convolve_band(const DepthwiseBand& band, const float* weight, float bias, float* output)
{
    const int64_t lanes = count_lanes();
    int64_t y = 0;
    for (; y + 4 <= band.height; y += 4)
        for (int64_t x = 0; x < band.width; x += lanes)
            convolve_four(band, weight, bias, band.rows + y * band.row_step + x, band.row_step,
                          output + y * band.width + x, band.width, band.width - x);
    for (; y < band.height; ++y) {
        const float* input = band.rows + y * band.row_step;
        float* row = output + y * band.width;
        int64_t x = 0;
        for (; x + 4 * lanes <= band.width; x += 4 * lanes)
            convolve_four(band, weight, bias, input + x, lanes, row + x, lanes, lanes);
        for (; x < band.width; x += lanes)
            convolve_one(band, weight, bias, input + x, row + x, band.width - x);
    }
}

HWY_INLINE void copy_strided(const float* input, int64_t stride, int64_t count, float* copy)
{
    const Floats d;
    const int64_t lanes = count_lanes();
    int64_t i = 0;
    if (stride == 1) {
        std::copy_n(input, count, copy);
        return;
    }
    // The comparison is strict: the vectors of the last elements would reach beyond the row.
    if (stride == 2) {
        for (; i + lanes < count; i += lanes) {
            Vector even, odd;
            hn::LoadInterleaved2(d, input + 2 * i, even, odd);
            hn::StoreU(even, d, copy + i);
        }
    }
    for (; i < count; ++i)
        copy[i] = input[i * stride];
}

// Element j of phase p of a row is column j * stride + p of the input row with its padding.
void copy_band(const DepthwiseCopy& band, float* copy)
{
    const auto first_from = [&](int64_t column) {
        return column <= 0 ? 0
                           : std::min((column + band.stride - 1) / band.stride, band.phase_width);
    };
    for (int64_t phase = 0; phase < band.stride; ++phase) {
        const int64_t shift = phase - band.pad_begin;
        const int64_t first = first_from(-shift);
        const int64_t last = std::max(first, first_from(band.input_width - shift));
        for (int64_t i = 0; i < band.rows; ++i) {
            float* out = copy + (i * band.stride + phase) * band.phase_width;
            const int64_t row = band.first_row + i;
            if (row < 0 || row >= band.input_height) {
                std::fill_n(out, band.phase_width, 0.0f);
                continue;
            }
            std::fill_n(out, first, 0.0f);
            copy_strided(band.plane + row * band.input_width + first * band.stride + shift,
                         band.stride, last - first, out + first);
            std::fill_n(out + last, band.phase_width - last, 0.0f);
        }
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(count_lanes);
HWY_EXPORT(convolve_band);
HWY_EXPORT(copy_band);

constexpr int64_t kMinBandHeight = 8;  // output rows: two blocks of four

struct Depthwise : ConvProblem
{
    int64_t multiplier;   // output channels for each input channel
    int64_t band_height;  // output rows that are computed together
    int64_t band_num;
    int64_t copy_rows;              // input rows of a band
    int64_t phase_width, row_size;  // of the copy, in elements

    int64_t tile_num() const { return batch * groups * band_num; }
    uint64_t copy_bytes() const
    {
        const uint64_t bytes = static_cast<uint64_t>(copy_rows * row_size) * sizeof(float);
        return round_up(bytes, ALLOC_ALIGNMENT);
    }
};

int64_t rows_for(const window_axis& height, int64_t outputs)
{
    return (outputs - 1) * height.stride + int64_t{height.kernel - 1} * height.dilation + 1;
}

int describe(const node& node, Depthwise* out_conv)
{
    const auto cache_size = static_cast<int64_t>(get_cpu_cache_size().l2 / 8 / sizeof(float));
    Depthwise& conv = *out_conv;
    TENGINE_RETURN_IF_ERROR(describe_conv(node, false, &conv));
    const window_axis& height = conv.axes[1];
    const window_axis& width = conv.axes[2];
    const int64_t lanes = HWY_DYNAMIC_DISPATCH(count_lanes)();
    conv.multiplier = conv.output_channels;
    conv.phase_width = round_up(width.output, lanes) +
                       int64_t{width.kernel - 1} * width.dilation / width.stride + 1;
    conv.row_size = conv.phase_width * width.stride;
    const int64_t fitting = (cache_size / conv.row_size - rows_for(height, 1)) / height.stride + 1;
    conv.band_height = std::min<int64_t>(std::max(fitting, kMinBandHeight), height.output);
    conv.band_num =
        conv.band_height > 0 ? (height.output + conv.band_height - 1) / conv.band_height : 0;
    conv.copy_rows = conv.band_height > 0 ? rows_for(height, conv.band_height) : 0;
    return TENGINE_OK;
}

// Finds the offset of each tap in the copy; see copy_band().
void find_offsets(const Depthwise& conv, int64_t* offsets)
{
    const window_axis& height = conv.axes[1];
    const window_axis& width = conv.axes[2];
    for (int y = 0; y < height.kernel; ++y) {
        for (int x = 0; x < width.kernel; ++x) {
            const int64_t column = int64_t{x} * width.dilation;
            *offsets++ = int64_t{y} * height.dilation * conv.row_size +
                         column % width.stride * conv.phase_width + column / width.stride;
        }
    }
}

// Computes one band of one input channel of one image.
void run_tile(const KernelContext& context, const Depthwise& conv, const int64_t* offsets,
              int64_t tile, float* copy)
{
    const window_axis& height = conv.axes[1];
    const int64_t plane = tile / conv.band_num;
    const int64_t begin = tile % conv.band_num * conv.band_height;
    const int64_t rows = std::min(conv.band_height, height.output - begin);
    const window_axis& width = conv.axes[2];
    const DepthwiseCopy source = {context.input(0)->f32 + plane * conv.input_plane,
                                  height.input,
                                  width.input,
                                  begin * height.stride - height.pad_begin,
                                  rows_for(height, rows),
                                  width.stride,
                                  width.pad_begin,
                                  conv.phase_width};
    HWY_DYNAMIC_DISPATCH(copy_band)(source, copy);
    const DepthwiseBand band = {
        copy, height.stride * conv.row_size, offsets, conv.taps, rows, width.output};
    const float* bias = context.input(2) ? context.input(2)->f32 : nullptr;
    for (int64_t i = 0; i < conv.multiplier; ++i) {
        const int64_t channel = plane % conv.groups * conv.multiplier + i;
        float* output = context.output(0)->f32 + (plane * conv.multiplier + i) * conv.output_plane +
                        begin * width.output;
        HWY_DYNAMIC_DISPATCH(convolve_band)
        (band, context.input(1)->f32 + channel * conv.taps, bias ? bias[channel] : 0, output);
    }
}

int prepare(KernelContext& context)
{
    Depthwise conv = {};
    TENGINE_RETURN_IF_ERROR(describe(*context.node, &conv));
    context.scratch_size =
        conv.copy_bytes() * static_cast<uint64_t>(get_thread_pool_size(context.pool));
    const auto offset_bytes = static_cast<uint64_t>(conv.taps) * sizeof(int64_t);
    TENGINE_RETURN_IF_ERROR(keep_problem(context, conv, offset_bytes));
    find_offsets(conv, reinterpret_cast<int64_t*>(packed_weights<Depthwise>(context)));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const auto& conv = kept_problem<Depthwise>(context);
    const auto* offsets = reinterpret_cast<const int64_t*>(packed_weights<Depthwise>(context));
    char* scratch = static_cast<char*>(context.scratch);
    parallel_for(context.pool, conv.tile_num(), 1, [&](int64_t first, int64_t last, int worker) {
        float* copy =
            reinterpret_cast<float*>(scratch + conv.copy_bytes() * static_cast<uint64_t>(worker));
        for (int64_t tile = first; tile < last; ++tile)
            run_tile(context, conv, offsets, tile, copy);
    });
    return TENGINE_OK;
}

// Whether the copy is at most as large as the input; sparse windows would make it larger, without
// bound.
bool is_compact(const window_axis& axis)
{
    return axis.stride <= 8 && int64_t{axis.kernel - 1} * axis.dilation <= 1024;
}

bool accepts(const node& node)
{
    ConvProblem p;
    return is_plain_conv(node) && get_ir_node_input(&node, 0)->dim_num <= 4 &&
           describe_conv(node, false, &p) == TENGINE_OK && p.input_channels == 1 &&
           is_compact(p.axes[1]) && is_compact(p.axes[2]);
}

constexpr Kernel conv_depthwise_rows[] = {
    {.op = "Conv",
     .name = "conv.f32.depthwise_nchw",
     .accepts = accepts,
     .run = run,
     .prepare = prepare},
};

}  // namespace

extern const KernelTable conv_depthwise_kernels;
const KernelTable conv_depthwise_kernels = make_table<conv_depthwise_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

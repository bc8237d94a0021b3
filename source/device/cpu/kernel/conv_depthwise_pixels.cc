// SPDX-License-Identifier: Apache-2.0
// Depthwise Conv in fp32 with channels last and constant weights: as many output as input channels,
// each with a filter of its own.
//
// Vectors run along the channels, so that they are full whatever the width, stride and dilation
// are. Channels that fill two vectors go through several lines before the next, so that what lines
// share of the input is still in the L1 cache. Four pixels of a line by one or two vectors are
// summed in registers: each vector of weights is loaded for all of them. Lines and columns of
// windows that are not on the input are left out. Nothing is copied. In windows of 3 or 5
// neighbours an input is loaded once for all pixels of the four that it falls to. Except for
// windows of 3 that are 1 apart, pixels whose window reaches beyond the input's sides are computed
// one by one.
// Limits: loads (3 to 5 for 4 multiply-adds); the bandwidth of the L2 cache.
// Accuracy: |error| <= (taps + 1) * eps * (sum |weight| |input| + |bias|), before the activation.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/activation.h"
#include "device/cpu/kernel/conv_problem.h"
#include "device/cpu/kernel/fixed_vectors.h"
#include "device/cpu/kernel/packed_problem.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/reference/grain.h"

#ifdef TENGINE_HAVE_HIGHWAY
#ifndef TENGINE_CPU_CONV_DEPTHWISE_PIXELS
#define TENGINE_CPU_CONV_DEPTHWISE_PIXELS
namespace tengine::cpu {

struct DepthwisePixels : ConvProblem
{
    // Pixels of a line whose windows have all columns on the input: from first_inside to before
    // last_inside.
    int64_t first_inside, last_inside;

    int64_t channels() const { return groups; }
};

// A line of the output.
struct DepthwiseLine
{
    const float* image;    // of the input
    const float* weights;  // biases of all channels, then their weights tap by tap
    const float* addend;   // or null
    float* output;
    int line;
    const Fusion* fusion;
};

// `count` lines of an image, one after the other.
struct DepthwiseBlock
{
    DepthwiseLine first;
    int64_t count, line_size;

    DepthwiseLine line(int64_t index) const
    {
        DepthwiseLine line = first;
        if (line.addend) line.addend += index * line_size;
        line.output += index * line_size;
        line.line += static_cast<int>(index);
        return line;
    }
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv_depthwise_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

constexpr int kPixels = 4;

// The taps of a window that fall on the input.
struct Taps
{
    int first_y, last_y, first_x, last_x;
};

// A vector of inputs; of the last channels there may be fewer than lanes.
template <bool kPartial>
HWY_INLINE Vector load_input(const float* input, int64_t count)
{
    if constexpr (kPartial) return load_lanes(input, count);
    return hn::LoadU(Floats(), input);
}

struct DepthwiseSums
{
    // One that is implied is not for the instruction set that vectors are for (gcc 12).
    HWY_INLINE DepthwiseSums() {}
    Vector s0, s1, s2, s3;
};

// Finishes a vector of results, or `count` lanes of it.
template <bool kPartial>
HWY_INLINE void finish(const DepthwiseLine& line, const Bounds& clip, Vector sum, int64_t at,
                       int64_t count)
{
    if (line.addend) sum = hn::Add(sum, load_input<kPartial>(line.addend + at, count));
    if constexpr (kPartial)
        store_lanes(clip(sum), line.output + at, count);
    else
        hn::StoreU(clip(sum), Floats(), line.output + at);
}

// Where kPixels windows side by side reach: kKernel wide, kStride apart, or any where kKernel is 0.
// At the edge, not all of their columns are on the input.
template <int kKernel_ = 0, int kStride_ = 0, bool kAtEdge_ = false>
struct Windows
{
    static constexpr int kKernel = kKernel_, kStride = kStride_;
    static constexpr bool kAtEdge = kAtEdge_;
};

// Columns of the windows that are on the input.
struct Columns
{
    int64_t first, last;
};

// Input kAt and those after it of a line of windows: to the sums of the pixels whose windows they
// are in.
template <class W, int kAt = 0>
HWY_INLINE void add_inputs(const Vector* weights, const float* input, int64_t channels,
                           const Columns& columns, DepthwiseSums* sums)
{
    constexpr auto kIsTap = [](int tap) { return tap >= 0 && tap < W::kKernel; };
    constexpr int k1 = kAt - W::kStride, k2 = kAt - 2 * W::kStride, k3 = kAt - 3 * W::kStride;
    if (!W::kAtEdge || (kAt >= columns.first && kAt < columns.last)) {
        const Vector value = hn::LoadU(Floats(), input);
        if constexpr (kIsTap(kAt)) sums->s0 = hn::MulAdd(weights[kAt], value, sums->s0);
        if constexpr (kIsTap(k1)) sums->s1 = hn::MulAdd(weights[k1], value, sums->s1);
        if constexpr (kIsTap(k2)) sums->s2 = hn::MulAdd(weights[k2], value, sums->s2);
        if constexpr (kIsTap(k3)) sums->s3 = hn::MulAdd(weights[k3], value, sums->s3);
    }
    if constexpr (k3 + 1 < W::kKernel)
        add_inputs<W, kAt + 1>(weights, input + channels, channels, columns, sums);
}

// A line of kPixels windows.
template <class W>
HWY_INLINE void add_line(const float* weights, const float* input, int64_t channels,
                         const Columns& columns, DepthwiseSums* sums)
{
    Vector taps[W::kKernel];
    for (int tap = 0; tap < W::kKernel; ++tap)
        taps[tap] = hn::LoadU(Floats(), weights + tap * channels);
    add_inputs<W>(taps, input, channels, columns, sums);
}

// kPixels or one pixel from `x` on, kVectors vectors of channels from `channel` on; the first
// `known` pixels have been computed already.
template <int kNumber, int kVectors, bool kPartial, class W = Windows<>>
HWY_INLINE void convolve_pixels(const DepthwisePixels& conv, const DepthwiseLine& line,
                                const Taps& taps, int64_t x, int64_t channel, int64_t known = 0)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), channels = conv.channels();
    const window_axis &height = conv.axes[1], &width = conv.axes[2];
    const int64_t step = int64_t{width.stride} * channels;
    const int64_t top = int64_t{line.line} * height.stride - height.pad_begin;
    const int64_t left = x * width.stride - width.pad_begin;
    const int64_t count = channels - channel;
    DepthwiseSums sums[kVectors];
    for (int v = 0; v < kVectors; ++v) {
        const Vector bias = hn::LoadU(d, line.weights + channel + v * lanes);
        sums[v].s0 = sums[v].s1 = sums[v].s2 = sums[v].s3 = bias;
    }
    for (int64_t ky = taps.first_y; ky < taps.last_y; ++ky) {
        const float* row =
            line.image + ((top + ky * height.dilation) * width.input + left) * channels + channel;
        const float* weights = line.weights + (1 + ky * width.kernel) * channels + channel;
        if constexpr (W::kKernel > 0) {
            for (int v = 0; v < kVectors; ++v)
                add_line<W>(weights + v * lanes, row + v * lanes, channels,
                            {-left, width.input - left}, &sums[v]);
            continue;
        }
        for (int64_t kx = taps.first_x; kx < taps.last_x; ++kx) {
            for (int v = 0; v < kVectors; ++v) {
                const Vector weight = hn::LoadU(d, weights + kx * channels + v * lanes);
                const float* input = row + kx * width.dilation * channels + v * lanes;
                DepthwiseSums& sum = sums[v];
                sum.s0 = hn::MulAdd(weight, load_input<kPartial>(input, count), sum.s0);
                if constexpr (kNumber > 1) {
                    sum.s1 = hn::MulAdd(weight, load_input<kPartial>(input + step, count), sum.s1);
                    sum.s2 =
                        hn::MulAdd(weight, load_input<kPartial>(input + 2 * step, count), sum.s2);
                    sum.s3 =
                        hn::MulAdd(weight, load_input<kPartial>(input + 3 * step, count), sum.s3);
                }
            }
        }
    }
    const Bounds clip(*line.fusion);
    for (int v = 0; v < kVectors; ++v) {
        const int64_t at = x * channels + channel + v * lanes, left_over = count - v * lanes;
        if (known < 1) finish<kPartial>(line, clip, sums[v].s0, at, left_over);
        if constexpr (kNumber > 1) {
            if (known < 2) finish<kPartial>(line, clip, sums[v].s1, at + channels, left_over);
            if (known < 3) finish<kPartial>(line, clip, sums[v].s2, at + 2 * channels, left_over);
            finish<kPartial>(line, clip, sums[v].s3, at + 3 * channels, left_over);
        }
    }
}

// Channels from `channel` on, for a whole line.
template <int kVectors, bool kPartial, int kKernel = 0, int kStride = 0>
HWY_INLINE void convolve_channels(const DepthwisePixels& conv, const DepthwiseLine& line,
                                  int64_t channel)
{
    const window_axis& width = conv.axes[2];
    Taps rows = {};
    clip_window_taps(&conv.axes[1], line.line, &rows.first_y, &rows.last_y);
    // Four at the edge, where each input is looked for before it is added, pay in the smallest
    // window.
    constexpr bool kFourAtEdge = kKernel == 3 && kStride == 1;
    for (int64_t x = 0; x < width.output;) {
        Taps taps = rows;
        if (x >= conv.first_inside && x + kPixels <= conv.last_inside) {
            taps.first_x = 0;
            taps.last_x = width.kernel;
            convolve_pixels<kPixels, kVectors, kPartial, Windows<kKernel, kStride>>(
                conv, line, taps, x, channel);
            x += kPixels;
        } else if (kFourAtEdge && width.output >= kPixels) {
            const int64_t begin = std::min<int64_t>(x, width.output - kPixels);
            convolve_pixels<kPixels, kVectors, kPartial, Windows<kKernel, kStride, true>>(
                conv, line, taps, begin, channel, x - begin);
            x = begin + kPixels;
        } else {
            clip_window_taps(&width, static_cast<int>(x), &taps.first_x, &taps.last_x);
            convolve_pixels<1, kVectors, kPartial>(conv, line, taps, x, channel);
            ++x;
        }
    }
}

#ifndef TENGINE_MINIMAL
template <int kKernel, int kStride>
HWY_NOINLINE int64_t convolve_pairs_of(const DepthwisePixels& conv, const DepthwiseBlock& block)
{
    const int64_t width = 2 * static_cast<int64_t>(hn::Lanes(Floats()));
    int64_t channel = 0;
    for (; channel + width <= conv.channels(); channel += width)
        for (int64_t i = 0; i < block.count; ++i)
            convolve_channels<2, false, kKernel, kStride>(conv, block.line(i), channel);
    return channel;
}

// The channels that fill two vectors; returns how many that are.
HWY_INLINE int64_t convolve_pairs(const DepthwisePixels& conv, const DepthwiseBlock& block)
{
    const window_axis& width = conv.axes[2];
    const auto is = [&](int kernel, int stride) {
        return width.kernel == kernel && width.stride == stride && width.dilation == 1;
    };
    if (is(3, 1)) return convolve_pairs_of<3, 1>(conv, block);
    if (is(3, 2)) return convolve_pairs_of<3, 2>(conv, block);
    if (is(5, 1)) return convolve_pairs_of<5, 1>(conv, block);
    if (is(5, 2)) return convolve_pairs_of<5, 2>(conv, block);
    return convolve_pairs_of<0, 0>(conv, block);
}
#endif

void convolve_block(const DepthwisePixels& conv, const DepthwiseBlock& block)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats())), channels = conv.channels();
    int64_t channel = 0;
#ifndef TENGINE_MINIMAL
    channel = convolve_pairs(conv, block);
#endif
    // Two at most, of a whole vector and of a part; in a minimal build all.
    for (; channel < channels; channel += lanes)
        for (int64_t i = 0; i < block.count; ++i)
            convolve_channels<1, true>(conv, block.line(i), channel);
    if (needs_activation_pass(*block.first.fusion))
        activate(*block.first.fusion, block.first.output, 1, 0, block.count * block.line_size);
}

// Floats that vectors may read beyond the last channel.
int64_t count_overrun()
{
    return static_cast<int64_t>(hn::Lanes(Floats()));
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY)
namespace tengine::cpu {
extern const KernelTable conv_depthwise_pixels_kernels;
const KernelTable conv_depthwise_pixels_kernels = {nullptr, 0};
}  // namespace tengine::cpu
#elif HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(convolve_block);
HWY_EXPORT(count_overrun);

void pack(const DepthwisePixels& conv, const float* weight, const float* bias, float* packed)
{
    const int64_t channels = conv.channels();
    for (int64_t i = 0; i < channels; ++i)
        packed[i] = bias ? bias[i] : 0;
    packed += channels;
    for (int64_t tap = 0; tap < conv.taps; ++tap, packed += channels)
        for (int64_t i = 0; i < channels; ++i)
            packed[i] = weight[i * conv.taps + tap];
}

void find_inside(DepthwisePixels& conv)
{
    const window_axis& x = conv.axes[2];
    const int64_t room = x.input - 1 - (int64_t{x.kernel - 1} * x.dilation - x.pad_begin);
    conv.first_inside = std::min<int64_t>((x.pad_begin + x.stride - 1) / x.stride, x.output);
    conv.last_inside =
        std::clamp<int64_t>(room < 0 ? 0 : room / x.stride + 1, conv.first_inside, x.output);
}

int prepare(KernelContext& context)
{
    DepthwisePixels conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    find_inside(conv);
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    const int64_t floats =
        (conv.taps + 1) * conv.channels() + HWY_DYNAMIC_DISPATCH(count_overrun)();
    return keep_packed_problem(context, conv, &kind, weight, bias, {conv.taps, conv.channels()},
                               static_cast<uint64_t>(floats) * sizeof(float), [&](void* memory) {
                                   pack(conv, weight->f32, bias ? bias->f32 : nullptr,
                                        static_cast<float*>(memory));
                               });
}

// As many as fit into half of the L2 cache with their inputs. One where a pixel takes most of a
// page, of which the TLB would need an entry for each: 7x7 pixels of 960 channels take 1.4 times as
// long in a block.
int64_t count_block_lines(const DepthwisePixels& conv)
{
    constexpr int64_t kMostPixelBytes = 3072;
    if (conv.channels() * int64_t{sizeof(float)} > kMostPixelBytes) return 1;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t line = (int64_t{x.input} * y.stride + x.output) * conv.channels();
    const int64_t room = static_cast<int64_t>(get_cpu_cache_size().l2 / 2 / sizeof(float));
    return std::max<int64_t>(room / line, 1);
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<DepthwisePixels>(context);
    const tensor* addend =
        context.fusion.addend >= 0 ? context.input(context.fusion.addend) : nullptr;
    const int64_t lines = conv.axes[1].output, channels = conv.channels();
    const int64_t line_size = conv.axes[2].output * channels;
    const auto convolve = HWY_DYNAMIC_DISPATCH(convolve_block);
    const int64_t most = count_block_lines(conv);
    const auto work = [&](int64_t begin, int64_t end, int) {
        DepthwiseBlock block = {};
        block.line_size = line_size;
        DepthwiseLine& line = block.first;
        line.weights = reinterpret_cast<const float*>(shared_weights<DepthwisePixels>(context));
        line.fusion = &context.fusion;
        for (int64_t i = begin; i < end; i += block.count) {
            line.image = context.input(0)->f32 + i / lines * conv.input_plane * channels;
            line.addend = addend ? addend->f32 + i * line_size : nullptr;
            line.output = context.output(0)->f32 + i * line_size;
            line.line = static_cast<int>(i % lines);
            block.count = std::min({most, end - i, lines - i % lines});
            convolve(conv, block);
        }
    };
    parallel_for(context.pool, conv.batch * lines, grain_for(line_size * conv.taps), work);
    return TENGINE_OK;
}

// The addend is read where the result is then written.
int find_in_place(const KernelContext& context, int)
{
    return context.fusion.addend;
}

bool is_constant(const tensor* tensor)
{
    return !tensor || tensor->tensor_type == TENSOR_TYPE_CONST;
}

bool accepts(const node& node)
{
    ConvProblem p;
    return is_plain_conv(node) && get_ir_node_input(&node, 0)->dim_num == 4 &&
           is_constant(get_ir_node_input(&node, 1)) && is_constant(get_ir_node_input(&node, 2)) &&
           describe_conv(node, false, &p) == TENGINE_OK && p.input_channels == 1 &&
           p.output_channels == 1 && p.groups > 1 && p.input_plane > 0 && p.output_plane > 0 &&
           p.batch > 0;
}

constexpr Kernel rows[] = {{"Conv", "conv.depthwise_pixels", accepts, run, prepare, -1,
                            find_in_place, Layout::kChannelsLast, true, true}};

}  // namespace

extern const KernelTable conv_depthwise_pixels_kernels;
const KernelTable conv_depthwise_pixels_kernels = make_table<rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// Depthwise Conv in fp32, fp16 and bf16 with channels last and constant weights: as many output as
// input channels, each with a filter of its own.
//
// Vectors run along the channels, so that they are full whatever the width, stride and dilation
// are. Channels that fill two vectors go through several lines before the next, so that the input
// that lines share is still in the L1 cache. Four pixels of a line by one or two vectors are summed
// in registers: each vector of weights is loaded for all of them. Lines and columns of windows that
// are not on the input are left out. In windows of 3 or 5 neighbours an input is loaded once for
// all pixels of the four that it falls to.
//
// Pixels whose window reaches beyond the input's sides are computed one by one, except for windows
// of 3 that are 1 apart. In small images with much edge the channels of a pair of vectors are
// copied first, with zeros at their sides; that also frees them from the distance between pixels,
// whose multiples fall into few sets of the cache.
//
// Elements of 16 bits are widened to fp32 as they are loaded, also those of a copy: half the
// bandwidth is worth more than the conversions, which are as many as the loads. Results are rounded
// once, when they are stored; activations other than a clip pass over the sums of a line before
// that.
// Limits: loads (3 to 5 for 4 multiply-adds); the bandwidth of the L2 cache.
// Accuracy: |error| <= (taps + 2) * eps32 * (sum |weight| |input| + |bias|), before the activation,
// and half a unit of the type of the result.
#include <algorithm>
#include <cstdint>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/depthwise_pixels.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixel_conv.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/grain.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/conv_depthwise_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/conv/depthwise_pixels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// A line of the output.
template <class T, int kVectors, bool kPartial, int kKernel = 0, int kStride = 0>
HWY_INLINE void convolve_line(const DepthwisePixels& conv, const DepthwiseLine<T>& line)
{
    const window_axis& width = conv.axes[2];
    Taps rows = {};
    clip_window_taps(&conv.axes[1], line.line, &rows.first_y, &rows.last_y);
    // Four at the edge, where each input is looked for before it is added, pay in the smallest
    // window.
    constexpr bool kFewAtEdge = kKernel == 3 && kStride == 1;
    for (int64_t x = 0; x < width.output;) {
        Taps taps = rows;
        if (x >= conv.first_inside && x + kFew <= conv.last_inside) {
            taps.first_x = 0;
            taps.last_x = width.kernel;
            convolve_pixels<kFew, kVectors, kPartial, Windows<kKernel, kStride>>(conv, line, taps,
                                                                                 x, 0, 0);
            x += kFew;
        } else if (kFewAtEdge && width.output >= kFew) {
            const int64_t begin = std::min<int64_t>(x, width.output - kFew);
            convolve_pixels<kFew, kVectors, kPartial, Windows<kKernel, kStride, true>>(
                conv, line, taps, begin, x - begin, 0);
            x = begin + kFew;
        } else {
            clip_window_taps(&width, static_cast<int>(x), &taps.first_x, &taps.last_x);
            convolve_pixels<1, kVectors, kPartial>(conv, line, taps, x, 0, 0);
            ++x;
        }
    }
}

#ifndef TENGINE_MINIMAL
// A line whose input has its padding, vector by vector: more pixels side by side take fewer loads,
// which count in wide windows.
template <class T>
HWY_INLINE void convolve_padded_line(const DepthwisePixels& conv, const DepthwiseLine<T>& line)
{
    using W = Windows<kCopiedKernel, 1>;
    const int64_t pixels = conv.axes[2].output;
    Taps taps = {};
    clip_window_taps(&conv.axes[1], line.line, &taps.first_y, &taps.last_y);
    for (int64_t x = 0; x < pixels;) {
        const bool is_many = pixels - x > kFew && pixels >= kMany;
        const int64_t begin = std::min(x, pixels - (is_many ? kMany : kFew));
        for (int64_t channel = 0; channel < line.width; channel += conv.lanes) {
            if (is_many)
                convolve_pixels<kMany, 1, false, W>(conv, line, taps, begin, x - begin, channel);
            else
                convolve_pixels<kFew, 1, false, W>(conv, line, taps, begin, x - begin, channel);
        }
        x = begin + (is_many ? kMany : kFew);
    }
}
#endif

// A line of sums becomes results of 16 bits.
template <class T>
HWY_INLINE void activate_sums(const DepthwisePixels& conv, const DepthwiseLine<T>& line)
{
    const int64_t pixels = conv.axes[2].output, channels = conv.channels();
    const int64_t count = std::min(line.width, line.count);
    activate(*line.fusion, line.sums, 1, 0, pixels * line.width);
    for (int64_t x = 0; x < pixels; ++x)
        store_floats(line.sums + x * line.width, count, line.output + x * channels);
}

// Goes on to the next channels.
template <class T>
HWY_INLINE void skip_channels(const DepthwisePixels& conv, DepthwiseLine<T>& line)
{
    line.image += line.width;
    line.weights += line.width * (conv.taps + 1);
    line.output += line.width;
    if (line.addend) line.addend += line.width;
    line.count -= line.width;
}

template <class T>
using ConvolveLines = void (*)(const DepthwisePixels& conv, DepthwiseLine<T> line, int64_t lines,
                               int64_t blocks);

// So many lines of an image, from one on, of the channels that it has and of those of the next
// blocks, each of as many. That `line` is a copy lets its members stay in registers.
template <class T, void (*kConvolve)(const DepthwisePixels&, const DepthwiseLine<T>&)>
HWY_NOINLINE void repeat_line(const DepthwisePixels& conv, DepthwiseLine<T> line, int64_t lines,
                              int64_t blocks)
{
    const int64_t step = conv.axes[2].output * conv.channels();
    for (; blocks > 0; --blocks, skip_channels(conv, line)) {
        DepthwiseLine<T> next = line;
        for (int64_t i = 0; i < lines; ++i) {
            kConvolve(conv, next);
            if constexpr (is_half<T>)
                if (line.sums) activate_sums(conv, next);
            ++next.line;
            next.output += step;
            if (next.addend) next.addend += step;
        }
    }
}

// For a pair of vectors, or for one; minimal builds go vector by vector.
template <class T>
ConvolveLines<T> find_convolve_lines(const DepthwisePixels& conv, const DepthwiseLine<T>& line)
{
#ifndef TENGINE_MINIMAL
    const bool is_pair = line.width > conv.lanes;
    const window_axis& width = conv.axes[2];
    const auto is = [&](int kernel, int stride) {
        return width.kernel == kernel && width.stride == stride && width.dilation == 1;
    };
    if (is_pair) {
        if (conv.copy_pixels > 0) return repeat_line<T, convolve_padded_line<T>>;
        if (is(3, 1)) return repeat_line<T, convolve_line<T, 2, false, 3, 1>>;
        if (is(3, 2)) return repeat_line<T, convolve_line<T, 2, false, 3, 2>>;
        if (is(5, 1)) return repeat_line<T, convolve_line<T, 2, false, 5, 1>>;
        if (is(5, 2)) return repeat_line<T, convolve_line<T, 2, false, 5, 2>>;
        return repeat_line<T, convolve_line<T, 2, false>>;
    }
#else
    (void)conv;
    (void)line;
#endif
    return repeat_line<T, convolve_line<T, 1, true>>;
}

// Channels from `channel` on of a line of the output, `line` in all images.
template <class T>
DepthwiseLine<T> find_line(const DepthwisePixels& conv, const DepthwiseOperands& operands,
                           int64_t line, int64_t channel, const DepthwiseScratch& scratch)
{
    const int64_t channels = conv.channels(), lines = conv.axes[1].output;
    const int64_t at = line * conv.axes[2].output * channels + channel;
    DepthwiseLine<T> found = {};
    found.image = static_cast<const T*>(operands.input) +
                  line / lines * conv.input_plane * channels + channel;
    found.pixel_step = channels;
    found.weights = operands.weights + channel * (conv.taps + 1);
    found.width = conv.width(channel);
    found.addend = operands.addend ? static_cast<const T*>(operands.addend) + at : nullptr;
    found.output = static_cast<T*>(operands.output) + at;
    if (is_half<T> && needs_activation_pass(*operands.fusion)) found.sums = scratch.line;
    found.count = channels - channel;
    found.line = static_cast<int>(line % lines);
    found.fusion = operands.fusion;
    return found;
}

template <class T>
void convolve_lines(const DepthwisePixels& conv, const DepthwiseOperands& operands, int64_t first,
                    int64_t count, const DepthwiseScratch& scratch)
{
    const int64_t pairs = conv.pair_num, others = conv.vectors() - 2 * pairs;
    const auto convolve = [&](int64_t channel, int64_t blocks) {
        if (blocks == 0) return;
        const auto line = find_line<T>(conv, operands, first, channel, scratch);
        find_convolve_lines(conv, line)(conv, line, count, blocks);
    };
    convolve(0, pairs);
    convolve(2 * pairs * conv.lanes, others);
    if constexpr (!is_half<T>) {
        if (!needs_activation_pass(*operands.fusion)) return;
        const int64_t size = conv.axes[2].output * conv.channels();
        activate(*operands.fusion, static_cast<T*>(operands.output) + first * size, 1, 0,
                 count * size);
    }
}

// The channels of the input that a line has, with zeros at the sides.
template <class T>
HWY_INLINE void copy_channels(const DepthwisePixels& conv, const DepthwiseLine<T>& line, T* copy)
{
    const int64_t lines = conv.axes[1].input, pixels = conv.input_plane / lines;
    const int64_t pair = 2 * static_cast<int64_t>(hn::Lanes(Floats()));
    std::fill_n(copy, lines * conv.copy_pixels * line.width, T{});
    const T* from = line.image;
    for (int64_t y = 0; y < lines; ++y) {
        T* to = copy + (y * conv.copy_pixels + conv.padding) * line.width;
        for (int64_t x = 0; x < pixels; ++x, from += line.pixel_step, to += line.width)
            if (line.width == pair)
                std::copy_n(from, pair, to);
            else
                std::copy_n(from, std::min(line.count, line.width), to);
    }
}

template <class T>
void convolve_copied(const DepthwisePixels& conv, const DepthwiseOperands& operands, int64_t image,
                     int64_t channel, const DepthwiseScratch& scratch)
{
    auto line = find_line<T>(conv, operands, image * conv.axes[1].output, channel, scratch);
    T* copy = reinterpret_cast<T*>(scratch.copy);
    copy_channels(conv, line, copy);
    line.image = copy;
    line.pixel_step = line.width;
    find_convolve_lines(conv, line)(conv, line, conv.axes[1].output, 1);
    if constexpr (!is_half<T>)
        if (needs_activation_pass(*operands.fusion))
            activate(*operands.fusion, line.output, conv.output_plane, conv.channels(),
                     std::min(line.width, line.count));
}

// All channels of `count` lines of an image, from `first` in all images on.
void convolve_typed_lines(const DepthwisePixels& conv, const DepthwiseOperands& operands,
                          int64_t first, int64_t count, const DepthwiseScratch& scratch)
{
    with_float_type(conv.data_type, [&](auto type) {
        convolve_lines<typename decltype(type)::type>(conv, operands, first, count, scratch);
    });
}

// Channels from `channel` on of a whole image, by way of a copy.
void convolve_typed_copy(const DepthwisePixels& conv, const DepthwiseOperands& operands,
                         int64_t image, int64_t channel, const DepthwiseScratch& scratch)
{
    with_float_type(conv.data_type, [&](auto type) {
        convolve_copied<typename decltype(type)::type>(conv, operands, image, channel, scratch);
    });
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(convolve_typed_lines);
HWY_EXPORT(convolve_typed_copy);

int64_t element_bytes(const DepthwisePixels& conv)
{
    return conv.is_narrow() ? sizeof(uint16_t) : sizeof(float);
}

// Whether windows are such that it pays to copy channels with their padding, and the image so small
// that a copy stays in the L1 cache, or nearly so. With AVX-512 7x7 pixels take 0.75 of the time
// so, 14x14 pixels 0.85; of 28x28, and in windows of 3, the copy costs what it saves.
bool pays_to_copy(const DepthwisePixels& conv)
{
    constexpr int64_t kMostBytes = 40 << 10;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t pixels = int64_t{y.input} * (x.input + x.pad_begin + x.pad_end);
    return conv.pair_num > 0 && x.kernel == kCopiedKernel && x.dilation == 1 && x.stride == 1 &&
           x.output >= kFew && pixels * 2 * conv.lanes * element_bytes(conv) <= kMostBytes;
}

void plan_copies(DepthwisePixels& conv)
{
    window_axis& x = conv.axes[2];
    conv.copy_pixels = x.input + x.pad_begin + x.pad_end;
    conv.padding = x.pad_begin;
    x.input = static_cast<int>(conv.copy_pixels);
    x.pad_begin = x.pad_end = 0;
}

void plan_channels(DepthwisePixels& conv)
{
    int64_t rows;
    describe_pixel_tile(&rows, &conv.lanes);
#ifndef TENGINE_MINIMAL
    conv.pair_num = conv.channels() / (2 * conv.lanes);
#endif
}

// Which windows have all columns on the input.
void find_inside(DepthwisePixels& conv)
{
    const window_axis& x = conv.axes[2];
    const int64_t room = x.input - 1 - (int64_t{x.kernel - 1} * x.dilation - x.pad_begin);
    conv.first_inside = std::min<int64_t>((x.pad_begin + x.stride - 1) / x.stride, x.output);
    conv.last_inside =
        std::clamp<int64_t>(room < 0 ? 0 : room / x.stride + 1, conv.first_inside, x.output);
}

int64_t worker_bytes(const DepthwisePixels& conv)
{
    const int64_t line = conv.line_floats() * int64_t{sizeof(float)};
    const int64_t copy = conv.copy_elements() * element_bytes(conv);
    return (line + copy + 63) / 64 * 64;
}

DepthwiseScratch find_scratch(const KernelContext& context, const DepthwisePixels& conv, int worker)
{
    char* memory = static_cast<char*>(context.scratch) + worker_bytes(conv) * worker;
    auto* line = reinterpret_cast<float*>(memory);
    return {line, memory + conv.line_floats() * int64_t{sizeof(float)}};
}

int prepare(KernelContext& context)
{
    DepthwisePixels conv = {};
    TENGINE_RETURN_IF_ERROR(describe_conv(*context.node, false, &conv));
    conv.data_type = context.input(0)->data_type;
    plan_channels(conv);
    if (pays_to_copy(conv)) plan_copies(conv);
    find_inside(conv);
    context.scratch_size = static_cast<uint64_t>(worker_bytes(conv)) *
                           static_cast<uint64_t>(get_thread_pool_size(context.pool));
    static const char kind = 0;
    const tensor* weight = context.input(1);
    const tensor* bias = context.input(2);
    return keep_packed_problem(
        context, conv, &kind, weight, {bias},
        {conv.taps, conv.channels(), conv.lanes, conv.data_type},
        static_cast<uint64_t>(conv.packed_floats()) * sizeof(float),
        [&](void* memory, const void* values) {
            tensor aligned = *weight;
            aligned.data = const_cast<void*>(values);
            pack_depthwise(
                conv, [&](int64_t i) { return read_float(aligned, i); },
                [&](int64_t i) { return bias ? read_float(*bias, i) : 0.0f; },
                static_cast<float*>(memory));
        });
}

// As many as fit into half of the L2 cache with their inputs. One where a pixel takes most of a
// page, of which the TLB would need an entry for each: 7x7 pixels of 960 channels take 1.4 times as
// long in a block.
int64_t count_block_lines(const DepthwisePixels& conv)
{
    constexpr int64_t kMostPixelBytes = 3072;
    if (conv.channels() * element_bytes(conv) > kMostPixelBytes) return 1;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t line = (int64_t{x.input} * y.stride + x.output) * conv.channels();
    const int64_t room = static_cast<int64_t>(get_cpu_cache_size().l2) / 2 / element_bytes(conv);
    return std::max<int64_t>(room / line, 1);
}

void run_lines(KernelContext& context, const DepthwisePixels& conv,
               const DepthwiseOperands& operands)
{
    const int64_t lines = conv.axes[1].output;
    const int64_t most = count_block_lines(conv);
    const int64_t work = conv.axes[2].output * conv.channels() * conv.taps;
    const auto convolve = HWY_DYNAMIC_DISPATCH(convolve_typed_lines);
    parallel_for(context.pool, conv.batch * lines, grain_for(work),
                 [&](int64_t begin, int64_t end, int worker) {
                     const DepthwiseScratch scratch = find_scratch(context, conv, worker);
                     for (int64_t i = begin; i < end;) {
                         const int64_t count = std::min({most, end - i, lines - i % lines});
                         convolve(conv, operands, i, count, scratch);
                         i += count;
                     }
                 });
}

// The pairs of vectors of all images are dealt out, and the vectors that are left.
void run_copied(KernelContext& context, const DepthwisePixels& conv,
                const DepthwiseOperands& operands)
{
    const auto convolve = HWY_DYNAMIC_DISPATCH(convolve_typed_copy);
    const int64_t parts = conv.vectors() - conv.pair_num;
    const int64_t work = conv.output_plane * conv.taps * 2 * conv.lanes;
    parallel_for(context.pool, conv.batch * parts, grain_for(work),
                 [&](int64_t begin, int64_t end, int worker) {
                     const DepthwiseScratch scratch = find_scratch(context, conv, worker);
                     for (int64_t i = begin; i < end; ++i) {
                         const int64_t part = i % parts;
                         const int64_t vector = part + std::min(part, conv.pair_num);
                         convolve(conv, operands, i / parts, vector * conv.lanes, scratch);
                     }
                 });
}

int run(KernelContext& context)
{
    const auto& conv = packed_problem<DepthwisePixels>(context);
    const tensor* addend = find_addend(context);
    const DepthwiseOperands operands = {
        context.input(0)->data,
        reinterpret_cast<const float*>(shared_weights<DepthwisePixels>(context)),
        addend ? addend->data : nullptr, context.output(0)->data, &context.fusion};
    if (conv.copy_pixels > 0)
        run_copied(context, conv, operands);
    else
        run_lines(context, conv, operands);
    return TENGINE_OK;
}

bool accepts(const node& node)
{
    ConvProblem p;
    return (is_pixel_conv(node) || (kHasHalves && is_half_conv(node))) &&
           describe_conv(node, false, &p) == TENGINE_OK && is_depthwise(p);
}

constexpr Kernel conv_depthwise_pixels_rows[] = {
    {.op = "Conv",
     .name = "conv.fp.depthwise_nhwc",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .find_in_place = take_addend,
     .layout = Layout::kChannelsLast,
     .fuses = true,
     .leads = true},
};

}  // namespace

extern const KernelTable conv_depthwise_pixels_kernels;
const KernelTable conv_depthwise_pixels_kernels = make_table<conv_depthwise_pixels_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of fp32, fp16 and bf16: see depthwise.h.
//
// Vectors run along the channels, so that they are full for any width, stride and dilation. Two
// vectors of channels go through several lines before the next channels, so that the input that
// lines share is still in the L1 cache. Four pixels of a line are accumulated in registers, for one
// or two vectors: each vector of weights is loaded once for all four. Lines and columns of windows
// that are not on the input are skipped. In windows of 3 or 5 neighbours an input is loaded once
// for all of the four pixels that use it.
//
// Pixels whose window reaches beyond the input's sides are computed one by one, except for windows
// of 3 with a stride of 1. In small images with much padding the channels of a pair of vectors are
// copied first, with zeros at the sides; the copy also places pixels next to each other whose
// distances map to few sets of the cache.
//
// Elements of 16 bits are widened to fp32 as they are loaded, also those of a copy: half the
// bandwidth saves more than the conversions cost, one for each load. Results are rounded once, when
// they are stored; activations other than a clip pass over the fp32 results of a line before that.
// Limits: loads (3 to 5 for 4 multiply-adds); the bandwidth of the L2 cache. Accuracy: |error| <=
// (taps + 2) * eps32 * (sum |weight| |input| + |bias|), before the activation, and half a unit of
// the type of the result.
#include <algorithm>
#include <cstdint>

#include "base/alloc.h"
#include "base/cpu.h"
#include "device/cpu/kernel/conv/depthwise.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/float_rows.h"
#include "device/cpu/shared/rounding.h"

#ifndef TENGINE_CPU_DEPTHWISE_FLOATS
#define TENGINE_CPU_DEPTHWISE_FLOATS
namespace tengine::cpu {

// Neighbouring pixels that are accumulated together: seven if the padding is copied, since seven
// accumulators with five weights and an input fill the registers, and since networks halve 224 to
// lines of multiples of seven; else, and for the rest of a line, four.
constexpr int kMany = 7, kFew = 4;

// The width of windows whose channels are copied with their padding.
constexpr int kCopiedKernel = 5;

// A worker's buffers, as far as they are needed.
struct DepthwiseScratch
{
    float* line;  // the fp32 results of a pair's line
    char* copy;   // the input of a pair
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/depthwise_fp_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/conv/depthwise_fp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// Computes an output line.
template <class T, int kVectors, bool kPartial, int kKernel = 0, int kStride = 0>
HWY_INLINE void convolve_line(const FloatDepthwise& conv, const DepthwiseLine<T>& line)
{
    const window_axis& width = conv.axes[2];
    Taps rows = {};
    clip_window_taps(&conv.axes[1], line.line, &rows.first_y, &rows.last_y);
    // At the edge, where each input is checked before it is added, four pixels pay only in the
    // smallest window.
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
// Computes a line whose input has its padding, vector by vector: more neighbouring pixels take
// fewer loads, which matters in wide windows.
template <class T>
HWY_INLINE void convolve_padded_line(const FloatDepthwise& conv, const DepthwiseLine<T>& line)
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

// Rounds a line of fp32 results to 16 bits.
template <class T>
HWY_INLINE void activate_sums(const FloatDepthwise& conv, const DepthwiseLine<T>& line)
{
    const int64_t pixels = conv.axes[2].output, channels = conv.channels();
    const int64_t count = std::min(line.width, line.count);
    activate(*line.fusion, line.sums, 1, 0, pixels * line.width);
    for (int64_t x = 0; x < pixels; ++x)
        store_floats(line.sums + x * line.width, count, line.output + x * channels);
}

// Advances to the next channels.
template <class T>
HWY_INLINE void skip_channels(const FloatDepthwise& conv, DepthwiseLine<T>& line)
{
    line.image += line.width;
    line.weights += line.width * (conv.taps + 1);
    line.output += line.width;
    if (line.addend) line.addend += line.width;
    line.count -= line.width;
}

template <class T>
using ConvolveLines = void (*)(const FloatDepthwise& conv, DepthwiseLine<T> line, int64_t lines,
                               int64_t blocks);

// Computes a number of lines of an image for the line's channels and then for the next blocks of as
// many channels. `line` is a copy, so that its members stay in registers.
template <class T, void (*kConvolve)(const FloatDepthwise&, const DepthwiseLine<T>&)>
HWY_NOINLINE void repeat_line(const FloatDepthwise& conv, DepthwiseLine<T> line, int64_t lines,
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

// Calls kConvolve for a pair of vectors, or for one; minimal builds take one vector at a time.
template <class T>
ConvolveLines<T> find_convolve_lines(const FloatDepthwise& conv, const DepthwiseLine<T>& line)
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

// Computes channels from `channel` on of an output line, `line` in all images.
template <class T>
DepthwiseLine<T> find_line(const FloatDepthwise& conv, const DepthwiseRun& run, int64_t line,
                           int64_t channel, const DepthwiseScratch& scratch)
{
    const int64_t channels = conv.channels(), lines = conv.axes[1].output;
    const int64_t at = line * conv.axes[2].output * channels + channel;
    DepthwiseLine<T> found = {};
    found.image =
        static_cast<const T*>(run.input) + line / lines * conv.input_plane * channels + channel;
    found.pixel_step = channels;
    found.weights = reinterpret_cast<const float*>(run.packed) + channel * (conv.taps + 1);
    found.width = conv.width(channel);
    found.addend = run.addend ? static_cast<const T*>(run.addend) + at : nullptr;
    found.output = static_cast<T*>(run.output) + at;
    if (is_half<T> && needs_activation_pass(*run.fusion)) found.sums = scratch.line;
    found.count = channels - channel;
    found.line = static_cast<int>(line % lines);
    found.fusion = run.fusion;
    return found;
}

template <class T>
void convolve_lines(const FloatDepthwise& conv, const DepthwiseRun& run, int64_t first,
                    int64_t count, const DepthwiseScratch& scratch)
{
    const int64_t pairs = conv.pair_num, others = conv.vectors() - 2 * pairs;
    const auto convolve = [&](int64_t channel, int64_t blocks) {
        if (blocks == 0) return;
        const auto line = find_line<T>(conv, run, first, channel, scratch);
        find_convolve_lines(conv, line)(conv, line, count, blocks);
    };
    convolve(0, pairs);
    convolve(2 * pairs * conv.lanes, others);
    if constexpr (!is_half<T>) {
        if (!needs_activation_pass(*run.fusion)) return;
        const int64_t size = conv.axes[2].output * conv.channels();
        activate(*run.fusion, static_cast<T*>(run.output) + first * size, 1, 0, count * size);
    }
}

// Copies the input channels of a line, with zeros at the sides.
template <class T>
HWY_INLINE void copy_channels(const FloatDepthwise& conv, const DepthwiseLine<T>& line, T* copy)
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
void convolve_copied(const FloatDepthwise& conv, const DepthwiseRun& run, int64_t image,
                     int64_t channel, const DepthwiseScratch& scratch)
{
    auto line = find_line<T>(conv, run, image * conv.axes[1].output, channel, scratch);
    T* copy = reinterpret_cast<T*>(scratch.copy);
    copy_channels(conv, line, copy);
    line.image = copy;
    line.pixel_step = line.width;
    find_convolve_lines(conv, line)(conv, line, conv.axes[1].output, 1);
    if constexpr (!is_half<T>)
        if (needs_activation_pass(*run.fusion))
            activate(*run.fusion, line.output, conv.output_plane, conv.channels(),
                     std::min(line.width, line.count));
}

// Computes items. An item is lines with all of their channels, as many as stay in the L2 cache; or,
// by way of a copy, an image's channels of a pair of vectors, or of a last one.
template <class T>
void convolve_items(const FloatDepthwise& conv, const DepthwiseRun& run, int64_t first,
                    int64_t last, const DepthwiseScratch& scratch)
{
    const int64_t lines = conv.axes[1].output;
    if (conv.copy_pixels > 0) {
        for (int64_t i = first; i < last; ++i) {
            const int64_t block = i % conv.blocks;
            const int64_t vector = block + std::min(block, conv.pair_num);
            convolve_copied<T>(conv, run, i / conv.blocks, vector * conv.lanes, scratch);
        }
        return;
    }
    for (int64_t i = first, count; i < last; i += count) {
        count = std::min({conv.most_lines, last - i, lines - i % lines});
        convolve_lines<T>(conv, run, i, count, scratch);
    }
}

void convolve_floats(const FloatDepthwise& conv, const DepthwiseRun& run, int64_t first,
                     int64_t last, const DepthwiseScratch& scratch)
{
    with_float_type(conv.data_type, [&](auto type) {
        convolve_items<typename decltype(type)::type>(conv, run, first, last, scratch);
    });
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(convolve_floats);

// Whether it pays to copy channels with their padding: the window is wide enough, and the image so
// small that a copy about fits into the L1 cache. With AVX-512 images of 7x7 pixels take 0.75 of
// the time, 14x14 pixels 0.85; for 28x28 pixels, and in windows of 3, the copy costs as much as it
// saves.
bool pays_to_copy(const FloatDepthwise& conv)
{
    constexpr int64_t kMostBytes = 40 << 10;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t pixels = int64_t{y.input} * (x.input + x.pad_begin + x.pad_end);
    return conv.pair_num > 0 && x.kernel == kCopiedKernel && x.dilation == 1 && x.stride == 1 &&
           x.output >= kFew && pixels * 2 * conv.lanes * conv.element_bytes() <= kMostBytes;
}

void plan_copies(FloatDepthwise& conv)
{
    window_axis& x = conv.axes[2];
    conv.copy_pixels = x.input + x.pad_begin + x.pad_end;
    conv.padding = x.pad_begin;
    x.input = static_cast<int>(conv.copy_pixels);
    x.pad_begin = x.pad_end = 0;
}

void plan_channels(FloatDepthwise& conv)
{
    int64_t rows;
    describe_pixel_tile(&rows, &conv.lanes);
#ifndef TENGINE_MINIMAL
    conv.pair_num = conv.channels() / (2 * conv.lanes);
#endif
}

// Finds the windows that have all columns on the input.
void find_inside(FloatDepthwise& conv)
{
    const window_axis& x = conv.axes[2];
    const int64_t room = x.input - 1 - (int64_t{x.kernel - 1} * x.dilation - x.pad_begin);
    conv.first_inside = std::min<int64_t>((x.pad_begin + x.stride - 1) / x.stride, x.output);
    conv.last_inside =
        std::clamp<int64_t>(room < 0 ? 0 : room / x.stride + 1, conv.first_inside, x.output);
}

// Returns as many lines as fit into half of the L2 cache with their inputs; one if a pixel takes
// most of a page, since each would need an entry of the TLB: in a block, 7x7 pixels of 960 channels
// take 1.4 times as long.
int64_t count_lines(const FloatDepthwise& conv)
{
    constexpr int64_t kMostPixelBytes = 3072;
    if (conv.channels() * conv.element_bytes() > kMostPixelBytes) return 1;
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t line = (int64_t{x.input} * y.stride + x.output) * conv.channels();
    const int64_t room = static_cast<int64_t>(get_cpu_cache_size().l2) / 2 / conv.element_bytes();
    return std::max<int64_t>(room / line, 1);
}

}  // namespace

bool FloatDepthwise::accepts(const node& node, const ConvProblem&)
{
    return is_pixel_conv(node) || (kHasHalves && is_float16_conv(node));
}

void FloatDepthwise::plan(const KernelContext&)
{
    plan_channels(*this);
    most_lines = count_lines(*this);
    const bool copies = pays_to_copy(*this);
    if (copies) plan_copies(*this);
    find_inside(*this);
    const int64_t copy = axes[1].input * copy_pixels * 2 * lanes * element_bytes();
    worker_bytes = round_up(line_bytes() + copy, ALLOC_ALIGNMENT);
    packed_bytes = vectors() * lanes * (taps + 1) * int64_t{sizeof(float)};
    blocks = copies ? vectors() - pair_num : 1;
    band_lines = copies ? axes[1].output : 1;
    bands = axes[1].output / band_lines;
    item_work = band_lines * axes[2].output * taps * (copies ? 2 * lanes : channels());
}

DepthwisePack FloatDepthwise::describe_pack(const KernelContext& context) const
{
    return {{context.input(2)}, {taps, channels(), lanes, data_type}};
}

// Packs the biases and then the weights, tap by tap, for each pair of vectors and each single one.
void FloatDepthwise::pack(const KernelContext& context, const void* weights, void* packed) const
{
    tensor weight = *context.input(kWeight);
    weight.data = const_cast<void*>(weights);
    const tensor* bias = context.input(2);
    auto* to = static_cast<float*>(packed);
    for (int64_t channel = 0; channel < channels(); channel += width(channel))
        for (int64_t tap = -1; tap < taps; ++tap)
            for (int64_t i = channel; i < channel + width(channel); ++i)
                if (i >= channels())
                    *to++ = 0;
                else if (tap < 0)
                    *to++ = bias ? read_float(*bias, i) : 0;
                else
                    *to++ = read_float(weight, i * taps + tap);
}

void FloatDepthwise::convolve(const DepthwiseRun& run, int64_t first, int64_t last,
                              char* scratch) const
{
    HWY_DYNAMIC_DISPATCH(convolve_floats)
    (*this, run, first, last, {reinterpret_cast<float*>(scratch), scratch + line_bytes()});
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

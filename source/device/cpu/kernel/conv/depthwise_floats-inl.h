// SPDX-License-Identifier: Apache-2.0
// A few pixels of a depthwise convolution with channels last, by one or two vectors of channels.
// Included once for each instruction set.
#include <cstdint>

#include "device/cpu/kernel/conv/depthwise.h"

// clang-format off
#if defined(TENGINE_CPU_DEPTHWISE_FLOATS_PARTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_DEPTHWISE_FLOATS_PARTS
#undef TENGINE_CPU_DEPTHWISE_FLOATS_PARTS
#else
#define TENGINE_CPU_DEPTHWISE_FLOATS_PARTS
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A line of the output, and the channels of it that a pair of vectors has, or one. T is Half,
// BFloat16 or float.
template <class T>
struct DepthwiseLine
{
    const T* image;        // of the input, at the first of the channels
    int64_t pixel_step;    // of the input
    const float* weights;  // biases, then weights tap by tap, `width` floats each
    int64_t width;
    const T* addend;  // or null; at the first channel, as the output is
    T* output;
    float* sums;    // of 16 bits, instead of the output: `width` a pixel, for a pass; or null
    int64_t count;  // of channels, from the first on
    int line;
    const Fusion* fusion;
};

// The taps of a window that fall on the input.
struct Taps
{
    int first_y, last_y, first_x, last_x;
};

// A vector of inputs; the last channels may be fewer than lanes.
template <bool kPartial, class T>
HWY_INLINE Vector load_input(const T* input, int64_t count)
{
    if constexpr (kPartial) return load_lanes(input, count);
    return load_elements(Floats(), input);
}

// The accumulators of kPixels pixels; `last` is that of the last.
template <int kPixels>
struct DepthwiseSums
{
    DepthwiseSums<kPixels - 1> before;
    Vector last;

    // An implicit constructor is not compiled for the instruction set of the vectors (gcc 12).
    HWY_INLINE DepthwiseSums() {}
    HWY_INLINE void start(Vector bias)
    {
        before.start(bias);
        last = bias;
    }
    // Where window `pixel` has the tap kAt - pixel * kStride.
    template <int kAt, int kKernel, int kStride>
    HWY_INLINE void add_input(const Vector* weights, Vector value)
    {
        before.template add_input<kAt, kKernel, kStride>(weights, value);
        constexpr int kTap = kAt - (kPixels - 1) * kStride;
        if constexpr (kTap >= 0 && kTap < kKernel) last = hn::MulAdd(weights[kTap], value, last);
    }
    // value(pixel) times the weight.
    template <class Value>
    HWY_INLINE void add_tap(Vector weight, const Value& value)
    {
        before.add_tap(weight, value);
        last = hn::MulAdd(weight, value(kPixels - 1), last);
    }
    template <class Store>
    HWY_INLINE void store(const Store& store) const
    {
        before.store(store);
        store(kPixels - 1, last);
    }
    // Together with those of the next channels.
    template <class Store>
    HWY_INLINE void store_with(const DepthwiseSums& others, const Store& store) const
    {
        before.store_with(others.before, store);
        store(kPixels - 1, last, others.last);
    }
};

template <>
struct DepthwiseSums<0>
{
    HWY_INLINE DepthwiseSums() {}
    HWY_INLINE void start(Vector) {}
    template <int kAt, int kKernel, int kStride>
    HWY_INLINE void add_input(const Vector*, Vector)
    {
    }
    template <class Value>
    HWY_INLINE void add_tap(Vector, const Value&)
    {
    }
    template <class Store>
    HWY_INLINE void store(const Store&) const
    {
    }
    template <class Store>
    HWY_INLINE void store_with(const DepthwiseSums&, const Store&) const
    {
    }
};

// Finishes a vector of results, or `count` lanes of it: channels from `channel` of the line's on.
template <bool kPartial, class T>
HWY_INLINE void finish(const DepthwiseLine<T>& line, const Bounds& clip, Vector sum, int64_t pixel,
                       int64_t channels, int64_t channel)
{
    const int64_t at = pixel * channels + channel, count = line.count - channel;
    if (line.addend) sum = hn::Add(sum, load_input<kPartial>(line.addend + at, count));
    if (is_half<T> && line.sums)
        hn::StoreU(sum, Floats(), line.sums + pixel * line.width + channel);
    else if constexpr (kPartial)
        store_lanes(clip(sum), line.output + at, count);
    else
        store_elements(Floats(), clip(sum), line.output + at);
}

// The same of two whole vectors.
template <class T>
HWY_INLINE void finish_pair(const DepthwiseLine<T>& line, const Bounds& clip, Vector sum,
                            Vector next, int64_t pixel, int64_t channels, int64_t channel)
{
    const Floats d;
    const int64_t at = pixel * channels + channel;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    if (line.addend) {
        sum = hn::Add(sum, load_elements(d, line.addend + at));
        next = hn::Add(next, load_elements(d, line.addend + at + lanes));
    }
    if (is_half<T> && line.sums)
        store_pair(sum, next, line.sums + pixel * line.width + channel);
    else
        store_pair(clip(sum), clip(next), line.output + at);
}

// Where windows side by side reach: kKernel wide, kStride apart, or any where kKernel is 0.
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

// Input kAt and those after it, `step` elements apart, of a line of windows: to the sums of the
// pixels whose windows they are in.
template <class W, int kPixels, int kAt = 0, class T>
HWY_INLINE void add_inputs(const Vector* weights, const T* input, int64_t step,
                           const Columns& columns, DepthwiseSums<kPixels>* sums)
{
    if (!W::kAtEdge || (kAt >= columns.first && kAt < columns.last))
        sums->template add_input<kAt, W::kKernel, W::kStride>(weights,
                                                              load_elements(Floats(), input));
    if constexpr (kAt + 1 < (kPixels - 1) * W::kStride + W::kKernel)
        add_inputs<W, kPixels, kAt + 1>(weights, input + step, step, columns, sums);
}

// A line of kPixels windows.
template <class W, int kPixels, class T>
HWY_INLINE void add_line(const float* weights, int64_t width, const T* input, int64_t step,
                         const Columns& columns, DepthwiseSums<kPixels>* sums)
{
    Vector taps[W::kKernel];
    for (int tap = 0; tap < W::kKernel; ++tap)
        taps[tap] = hn::LoadU(Floats(), weights + tap * width);
    add_inputs<W, kPixels>(taps, input, step, columns, sums);
}

// A line of windows, of one vector of channels.
template <bool kPartial, class W, int kPixels, class T>
HWY_INLINE void add_window_line(const FloatDepthwise& conv, const DepthwiseLine<T>& line,
                                const Taps& taps, const float* weights, const T* input,
                                const Columns& columns, int64_t count, DepthwiseSums<kPixels>* sums)
{
    const int64_t step = line.pixel_step;
    if constexpr (W::kKernel > 0)
        return add_line<W>(weights, line.width, input, step, columns, sums);
    const window_axis& width = conv.axes[2];
    for (int64_t kx = taps.first_x; kx < taps.last_x; ++kx) {
        const T* from = input + kx * width.dilation * step;
        sums->add_tap(hn::LoadU(Floats(), weights + kx * line.width), [&](int pixel) {
            return load_input<kPartial>(from + int64_t{pixel} * width.stride * step, count);
        });
    }
}

// kPixels pixels from `x` on, of one or two vectors of channels from `channel` of the line's on;
// the first `known` pixels have been computed already.
template <int kPixels, int kVectors, bool kPartial, class W = Windows<>, class T>
HWY_INLINE void convolve_pixels(const FloatDepthwise& conv, const DepthwiseLine<T>& line,
                                const Taps& taps, int64_t x, int64_t known, int64_t channel)
{
    const window_axis &height = conv.axes[1], &width = conv.axes[2];
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats())), channels = conv.channels();
    const int64_t count = line.count - channel;
    const int64_t top = int64_t{line.line} * height.stride - height.pad_begin;
    const int64_t left = x * width.stride - width.pad_begin;
    const float* weights = line.weights + channel;
    DepthwiseSums<kPixels> sums, others;
    sums.start(hn::LoadU(Floats(), weights));
    if constexpr (kVectors > 1) others.start(hn::LoadU(Floats(), weights + lanes));
    const Columns columns = {-left, width.input - left};
    for (int64_t ky = taps.first_y; ky < taps.last_y; ++ky) {
        const T* input = line.image +
                         ((top + ky * height.dilation) * width.input + left) * line.pixel_step +
                         channel;
        const float* row = weights + (1 + ky * width.kernel) * line.width;
        add_window_line<kPartial, W>(conv, line, taps, row, input, columns, count, &sums);
        if constexpr (kVectors > 1)
            add_window_line<kPartial, W>(conv, line, taps, row + lanes, input + lanes, columns,
                                         count - lanes, &others);
    }
    const Bounds clip(*line.fusion);
    static_assert(kVectors == 1 || !kPartial, "pairs are whole");
    if constexpr (kVectors > 1)
        sums.store_with(others, [&](int pixel, Vector sum, Vector next) {
            if (pixel >= known) finish_pair(line, clip, sum, next, x + pixel, channels, channel);
        });
    else
        sums.store([&](int pixel, Vector sum) {
            if (pixel >= known) finish<kPartial>(line, clip, sum, x + pixel, channels, channel);
        });
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_DEPTHWISE_FLOATS_PARTS

// SPDX-License-Identifier: Apache-2.0
// A few pixels of a depthwise convolution in NHWC, for one or two vectors of channels. Included
// once for each instruction set.
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

#include "device/cpu/kernel/conv/depthwise-inl.h"
#include "device/cpu/kernel/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// An output line, for the channels of one vector or of a pair. T is Half, BFloat16 or float.
template <class T>
struct DepthwiseLine
{
    const T* image;        // the input's image, at the first of these channels
    int64_t pixel_step;    // elements between pixels of the input
    const float* weights;  // `width` biases, then `width` weights for each tap
    int64_t width;
    const T* addend;  // at the first of these channels, as the output; may be null
    T* output;
    // fp32 results of a 16-bit type, `width` a pixel, instead of the output; may be null
    float* sums;
    int64_t count;  // number of channels, from the first on
    int line;
    const Fusion* fusion;
};

// The taps of a window that lie on the input.
struct Taps
{
    int first_y, last_y, first_x, last_x;
};

// Loads a vector of inputs; the last channels may be fewer than lanes.
template <bool kPartial, class T>
HWY_INLINE Vector load_input(const T* input, int64_t count)
{
    if constexpr (kPartial) return load_lanes(input, count);
    return load_elements(Floats(), input);
}

template <int kPixels>
using DepthwiseSums = PixelValues<Vector, kPixels>;

// Finishes a vector of results, or `count` lanes of it: the channels of the line from `channel` on.
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

// Finishes two full vectors, like finish() one.
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

// The extent of neighbouring windows: kKernel wide and kStride apart; kKernel 0: any. At the edge,
// some of their columns are not on the input.
template <int kKernel_ = 0, int kStride_ = 0, bool kAtEdge_ = false>
struct Windows
{
    static constexpr int kKernel = kKernel_, kStride = kStride_;
    static constexpr bool kAtEdge = kAtEdge_;
};

// The columns of the windows that are on the input.
struct Columns
{
    int64_t first, last;
};

// Adds input kAt of a line of windows, and those after it, `step` elements apart, to the
// accumulators of the pixels that have the input in their windows.
template <class W, int kPixels, int kAt = 0, class T>
HWY_INLINE void add_inputs(const Vector* weights, const T* input, int64_t step,
                           const Columns& columns, DepthwiseSums<kPixels>* sums)
{
    if (!W::kAtEdge || (kAt >= columns.first && kAt < columns.last)) {
        Vector value = load_elements(Floats(), input);
        keep_in_register(value);
        sums->visit([&](auto pixel, Vector& sum) HWY_ATTR {
            constexpr int kTap = kAt - pixel * W::kStride;
            if constexpr (kTap >= 0 && kTap < W::kKernel)
                sum = hn::MulAdd(weights[kTap], value, sum);
        });
    }
    if constexpr (kAt + 1 < (kPixels - 1) * W::kStride + W::kKernel)
        add_inputs<W, kPixels, kAt + 1>(weights, input + step, step, columns, sums);
}

// Adds a line of kPixels windows.
template <class W, int kPixels, class T>
HWY_INLINE void add_line(const float* weights, int64_t width, const T* input, int64_t step,
                         const Columns& columns, DepthwiseSums<kPixels>* sums)
{
    Vector taps[W::kKernel];
    for (int tap = 0; tap < W::kKernel; ++tap) {
        taps[tap] = hn::LoadU(Floats(), weights + tap * width);
        keep_in_register(taps[tap]);
    }
    add_inputs<W, kPixels>(taps, input, step, columns, sums);
}

// Adds a line of windows for one vector of channels.
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
        const Vector weight = hn::LoadU(Floats(), weights + kx * line.width);
        sums->visit([&](int64_t pixel, Vector& sum) HWY_ATTR {
            const T* at = from + pixel * width.stride * step;
            sum = hn::MulAdd(weight, load_input<kPartial>(at, count), sum);
        });
    }
}

// Computes kPixels pixels from `x` on, for one or two vectors of the line's channels from `channel`
// on. The first `known` pixels have been computed already.
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
    const auto start = [&](DepthwiseSums<kPixels>& to, const float* biases) HWY_ATTR {
        const Vector bias = hn::LoadU(Floats(), biases);
        to.visit([&](int, Vector& sum) HWY_ATTR { sum = bias; });
    };
    start(sums, weights);
    if constexpr (kVectors > 1) start(others, weights + lanes);
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
    static_assert(kVectors == 1 || !kPartial, "pairs have two full vectors");
    sums.visit([&](auto pixel, const Vector& sum) HWY_ATTR {
        if (pixel < known) return;
        if constexpr (kVectors > 1)
            finish_pair(line, clip, sum, others.template at<pixel>(), x + pixel, channels, channel);
        else
            finish<kPartial>(line, clip, sum, x + pixel, channels, channel);
    });
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_DEPTHWISE_FLOATS_PARTS

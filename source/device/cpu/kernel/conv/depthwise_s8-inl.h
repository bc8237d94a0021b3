// SPDX-License-Identifier: Apache-2.0
// A few pixels of a depthwise convolution of int8 or uint8, and the layout of its packed weights.
// Included once for each instruction set.
#ifndef TENGINE_CPU_DEPTHWISE_BYTES
#define TENGINE_CPU_DEPTHWISE_BYTES
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/cpu/kernel/conv/depthwise.h"

namespace tengine::cpu {

// Channels of the narrowest block. The last block has fewer only if the convolution has fewer.
inline constexpr int64_t kLeastBlockChannels = 16;

// Channels that fill one vector of 8-bit elements; their results fill four vectors of int32.
struct ChannelBlock
{
    int64_t first, width;
    int64_t before;  // channels in all blocks before it; blocks may overlap
};

// The packed data of a block. Each part has all channels, in the order of the lanes.
struct PackedBlock
{
    char* data;
    int64_t width;

    float* scales() const { return reinterpret_cast<float*>(data); }  // the requantisation factors
    // Returns the initial accumulators.
    int32_t* starts() const { return reinterpret_cast<int32_t*>(scales() + width); }
    ir_multiplier_t* multipliers() const
    {
        return reinterpret_cast<ir_multiplier_t*>(starts() + width);
    }
    // Returns the weights for each line of a band, column of the window and bundle.
    char* weights() const { return reinterpret_cast<char*>(multipliers() + width); }

    // Returns the lane of a channel. A vector of 8-bit elements is interleaved in parts of 16, each
    // of which gives four to each of the four vectors of bundles, accumulators and results.
    static int64_t lane_of(int64_t channel, int64_t width)
    {
        return channel / 4 % 4 * (width / 4) + channel / 16 * 4 + channel % 4;
    }
};

inline PackedBlock find_packed_block(const Int8Depthwise& conv, const char* packed,
                                     const ChannelBlock& block)
{
    return {const_cast<char*>(packed) + block.before * conv.channel_bytes(), block.width};
}

// One block of channels of a band, or of a segment of a band.
struct BandPart
{
    const uint8_t* image;  // at the block's first channel
    PackedBlock packed;
    int64_t channels;  // channels that exist, at most the block's
    int64_t line;      // the band's first line
    int64_t lines;
    int64_t pixel;  // the segment's first pixel
    int64_t pixels;
    uint8_t* output;  // at that line and pixel, and the block's first channel
    const uint8_t* table;
    char* copy;
};

}  // namespace tengine::cpu
#endif  // TENGINE_CPU_DEPTHWISE_BYTES

// clang-format off
#if defined(TENGINE_CPU_DEPTHWISE_BYTES_PARTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_DEPTHWISE_BYTES_PARTS
#undef TENGINE_CPU_DEPTHWISE_BYTES_PARTS
#else
#define TENGINE_CPU_DEPTHWISE_BYTES_PARTS
#endif
// clang-format on

#include "device/cpu/kernel/conv/depthwise-inl.h"
#include "device/cpu/kernel/product/bundles_s8-inl.h"
#include "device/cpu/kernel/product/table_s8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

constexpr int kFew = 4;  // pixels that are accumulated together

// The input of a line of windows: kBundles adjacent bundles of each channel; if kBundles is 0, any
// number of them, in runs. Loops over six and more take no longer than unrolled code.
template <class S, int kBundles_ = 0>
struct Int8Windows
{
    using Set = S;
    static constexpr int kBundles = kBundles_;
};

struct WindowSteps
{
    int64_t runs, run_bundles;
    int64_t run_step;    // bytes between runs
    int64_t pixel_step;  // bytes between the windows of neighbouring pixels
};

// Calls add(offset of the columns, offset of the weights) for each bundle of a window.
template <class L, class W, class Add>
HWY_INLINE void for_each_bundle(const WindowSteps& steps, const Add& add)
{
    constexpr int64_t kBundle = 4 * L::kWidth;
    if constexpr (W::kBundles > 0) {
#pragma GCC unroll 4
        for (int64_t i = 0; i < W::kBundles; ++i)
            add(i * kBundle, i * kBundle);
    } else {
        int64_t weights = 0;
        for (int64_t run = 0; run < steps.runs; ++run)
            for (int64_t i = 0; i < steps.run_bundles; ++i, weights += kBundle)
                add(run * steps.run_step + i * kBundle, weights);
    }
}

// The accumulators of one pixel for a vector of channels.
template <class L, class W>
HWY_INLINE typename L::IntegerVector sum_pixel(const WindowSteps& steps, const char* columns,
                                               const char* weights, const int32_t* starts)
{
    using S = typename W::Set;
    const auto start = hn::LoadU(typename L::Integers(), starts);
    typename S::Sum sum = S::start(start);
    for_each_bundle<L, W>(steps, [&](int64_t column, int64_t weight) {
        S::add(S::load(columns + column), S::load(weights + weight), sum);
    });
    return S::finish(sum, start);
}

// Whether a block with this many channels is full. Only blocks of the least width may have fewer.
template <class L>
HWY_INLINE bool is_whole(int64_t channels)
{
    return L::kWidth > kLeastBlockChannels || channels >= L::kWidth;
}

// Stores the first `count` elements, or the full vector.
template <class L>
HWY_INLINE void store_bytes(typename L::ByteVector bytes, int64_t count, uint8_t* to)
{
    const typename L::Bytes d;
    if (is_whole<L>(count)) return hn::StoreU(bytes, d, to);
    HWY_ALIGN uint8_t all[L::kWidth];
    hn::Store(bytes, d, all);
    std::memcpy(to, all, static_cast<size_t>(count));
}

// Recomputes in integers, and stores, the results of one pixel whose value in fp32 is near the
// middle between two integers.
template <class L, class W>
HWY_NOINLINE void store_exactly(const Int8Depthwise& conv, const BandPart& part,
                                const WindowSteps& steps, const char* columns, const char* weights,
                                uint8_t* output)
{
    constexpr int kLanes = L::kWidth / 4;
    const Int8Scaling<L> scaling(conv.range);
    const PackedBlock& packed = part.packed;
    for (int i = 0; i < 4; ++i) {
        const int at = i * kLanes;
        const auto sums =
            sum_pixel<L, W>(steps, columns + at * 4, weights + at * 4, packed.starts() + at);
        auto fraction = scaling.no_fraction();
        scaling(sums, hn::LoadU(typename L::Reals(), packed.scales() + at), &fraction);
        if (!scaling.is_tie(fraction)) continue;
        HWY_ALIGN int32_t all[kLanes], fractions[kLanes];
        hn::Store(sums, typename L::Integers(), all);
        hn::Store(fraction, typename L::Integers(), fractions);
        for (int lane = 0; lane < kLanes; ++lane) {
            const int64_t channel = lane / 4 * 16 + i * 4 + lane % 4;
            if (channel >= part.channels || fractions[lane] > 2 * scaling.kTieBits) continue;
            uint8_t byte;
            requantize_exactly(conv.range, all + lane, packed.multipliers() + at + lane, 1, &byte);
            output[channel] = part.table ? part.table[byte] : byte;
        }
    }
}

// The results of a pixel for all four vectors of channels.
template <class L>
struct PixelBytes
{
    typename L::IntegerVector first;  // the first of two vectors that are packed together
    typename L::PairVector low, high;
    typename L::IntegerVector fraction;

    HWY_INLINE PixelBytes() {}
    template <int kAt>
    HWY_INLINE void take(const Int8Scaling<L>& scaling, typename L::IntegerVector sums,
                         typename L::RealVector scales)
    {
        const auto values = scaling(sums, scales, &fraction);
        if constexpr (kAt % 2 == 0)
            first = values;
        else if constexpr (kAt == 1)
            low = demote_words(typename L::Pairs(), first, values);
        else
            high = demote_words(typename L::Pairs(), first, values);
    }
};

// Finishes vector kAt of channels, and those after it.
template <class L, class W, int kPixels, int kAt = 0>
HWY_INLINE void sum_vectors(const Int8Scaling<L>& scaling, const PackedBlock& packed,
                            const WindowSteps& steps, const char* columns, const char* weights,
                            PixelValues<PixelBytes<L>, kPixels>* bytes)
{
    using S = typename W::Set;
    constexpr int kLane = kAt * L::kWidth / 4, kByte = kAt * L::kWidth;
    const auto start = hn::LoadU(typename L::Integers(), packed.starts() + kLane);
    PixelValues<typename S::Sum, kPixels> sums;
    sums.visit([&](int, typename S::Sum& sum) HWY_ATTR { sum = S::start(start); });
    for_each_bundle<L, W>(steps, [&](int64_t column, int64_t weight) HWY_ATTR {
        const char* from = columns + kByte + column;
        const auto weight_vector = S::load(weights + kByte + weight);
        sums.visit([&](int pixel, typename S::Sum& sum) HWY_ATTR {
            S::add(S::load(from + pixel * steps.pixel_step), weight_vector, sum);
        });
    });
    const auto scales = hn::LoadU(typename L::Reals(), packed.scales() + kLane);
    sums.visit([&](auto pixel, const typename S::Sum& sum) HWY_ATTR {
        bytes->template at<pixel>().template take<kAt>(scaling, S::finish(sum, start), scales);
    });
    if constexpr (kAt < 3)
        sum_vectors<L, W, kPixels, kAt + 1>(scaling, packed, steps, columns, weights, bytes);
}

template <class L, class W, int kPixels>
HWY_INLINE void convolve_pixels(const Int8Depthwise& conv, const BandPart& part,
                                const Int8Scaling<L>& scaling, const Int8Table& table,
                                const WindowSteps& steps, const char* columns, const char* weights,
                                uint8_t* output)
{
    PixelValues<PixelBytes<L>, kPixels> bytes;
    bytes.visit([&](int, PixelBytes<L>& each) HWY_ATTR { each.fraction = scaling.no_fraction(); });
    sum_vectors<L, W, kPixels>(scaling, part.packed, steps, columns, weights, &bytes);
    bytes.visit([&](int pixel, const PixelBytes<L>& each) HWY_ATTR {
        auto values = scaling.pack(each.low, each.high);
        uint8_t* to = output + pixel * conv.output_step;
        if (part.table) values = table(typename L::Bytes(), values);
        store_bytes<L>(values, part.channels, to);
        if (HWY_UNLIKELY(scaling.is_tie(each.fraction)))
            store_exactly<L, W>(conv, part, steps, columns + pixel * steps.pixel_step, weights, to);
    });
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_DEPTHWISE_BYTES_PARTS

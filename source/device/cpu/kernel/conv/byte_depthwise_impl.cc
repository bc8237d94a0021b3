// SPDX-License-Identifier: Apache-2.0
// See byte_depthwise.h. The rows of a band and a block of channels are interleaved to bundles, with
// padding, in a copy that stays in the L1 cache; then the band's lines are summed, four pixels at
// once, so that each vector of weights is loaded for all of them. After that all windows are alike,
// whatever the padding, stride and dilation are.
//
// With AVX-512 and VNNI bundles have four bytes, elsewhere pairs of 16 bits, whose products are
// summed in a lane (x86: pmaddwd). Sums are modulo 2^32 until the last product, then fit.
// Limits: the requantisation, seven instructions for each vector of sums; then the copy, whose four
// vectors for a column of windows with a stride of 1 serve two lines, and the products.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cpu.h"
#include "device/cpu/kernel/conv/byte_depthwise.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"

#ifndef TENGINE_CPU_BYTE_DEPTHWISE
#define TENGINE_CPU_BYTE_DEPTHWISE
namespace tengine::cpu {

// One block of channels of one band, or of a segment of it.
struct BandPart
{
    const uint8_t* image;  // at the first channel
    PackedBlock packed;
    int64_t channels;  // that exist, at most the block's
    int64_t line;      // the band's first
    int64_t lines;
    int64_t pixel;  // the segment's first
    int64_t pixels;
    uint8_t* output;  // of that line and pixel, at the first channel
    const uint8_t* table;
    char* copy;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/conv/byte_depthwise_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/byte_bundles-inl.h"
#include "device/cpu/kernel/product/byte_table-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void describe(bool, ByteDepthwise*) {}

void convolve(const ByteDepthwise&, const BandPart&) {}

#else

constexpr int kFew = 4;  // pixels that are summed at once

// The input of a line of windows: kBundles bundles of each channel, one after the other; where
// kBundles is 0, any number of them, in runs. Loops of six and more take no longer than unrolled
// code.
template <class S, int kBundles_ = 0>
struct ByteWindows
{
    using Set = S;
    static constexpr int kBundles = kBundles_;
};

struct WindowSteps
{
    int64_t runs, run_bundles;
    int64_t run_step;    // bytes from a run to the next
    int64_t pixel_step;  // from a window to that of the next pixel
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

// The sums of a vector of channels of one pixel.
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

// Whether a block with so many channels has all. Only blocks of the least width may have fewer.
template <class L>
HWY_INLINE bool is_whole(int64_t channels)
{
    return L::kWidth > kLeastBlockChannels || channels >= L::kWidth;
}

// The first `count` of the bytes, or all.
template <class L>
HWY_INLINE void store_bytes(typename L::ByteVector bytes, int64_t count, uint8_t* to)
{
    const typename L::Bytes d;
    if (is_whole<L>(count)) return hn::StoreU(bytes, d, to);
    HWY_ALIGN uint8_t all[L::kWidth];
    hn::Store(bytes, d, all);
    std::memcpy(to, all, static_cast<size_t>(count));
}

// Stores those channels of one pixel that have a number near the middle between two integers,
// computed in integers.
template <class L, class W>
HWY_NOINLINE void store_exactly(const ByteDepthwise& conv, const BandPart& part,
                                const WindowSteps& steps, const char* columns, const char* weights,
                                uint8_t* output)
{
    constexpr int kLanes = L::kWidth / 4;
    const ByteScaling<L> scaling(conv.range);
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

// The sums of a vector of channels of kPixels pixels side by side, and their bytes; `last` is that
// of the last.
template <class L, class S, int kPixels>
struct BytePixelSums
{
    BytePixelSums<L, S, kPixels - 1> before;
    typename S::Sum last;

    // One that is implied is not for the instruction set that vectors are for (gcc 12).
    HWY_INLINE BytePixelSums() {}
    HWY_INLINE void start(typename L::IntegerVector value)
    {
        before.start(value);
        last = S::start(value);
    }
    HWY_INLINE void add(const char* columns, int64_t step, typename S::Operand weights)
    {
        before.add(columns, step, weights);
        S::add(S::load(columns + (kPixels - 1) * step), weights, last);
    }
};

template <class L, class S>
struct BytePixelSums<L, S, 0>
{
    HWY_INLINE BytePixelSums() {}
    HWY_INLINE void start(typename L::IntegerVector) {}
    HWY_INLINE void add(const char*, int64_t, typename S::Operand) {}
};

// The results of all four vectors of channels.
template <class L, int kPixels>
struct PixelBytes
{
    PixelBytes<L, kPixels - 1> before;
    typename L::IntegerVector first;  // of two that are packed
    typename L::PairVector low, high;
    typename L::IntegerVector fraction;

    HWY_INLINE explicit PixelBytes(const ByteScaling<L>& scaling)
        : before(scaling), fraction(scaling.no_fraction())
    {
    }
    template <int kAt, class S>
    HWY_INLINE void take(const ByteScaling<L>& scaling, const BytePixelSums<L, S, kPixels>& sums,
                         typename L::IntegerVector start, typename L::RealVector scales)
    {
        before.template take<kAt>(scaling, sums.before, start, scales);
        const auto values = scaling(S::finish(sums.last, start), scales, &fraction);
        if constexpr (kAt % 2 == 0)
            first = values;
        else if constexpr (kAt == 1)
            low = demote_words(typename L::Pairs(), first, values);
        else
            high = demote_words(typename L::Pairs(), first, values);
    }
    // store(pixel, bytes, fraction)
    template <class Store>
    HWY_INLINE void store(const ByteScaling<L>& scaling, const Store& store) const
    {
        before.store(scaling, store);
        store(kPixels - 1, scaling.pack(low, high), fraction);
    }
};

template <class L>
struct PixelBytes<L, 0>
{
    HWY_INLINE explicit PixelBytes(const ByteScaling<L>&) {}
    template <int kAt, class S>
    HWY_INLINE void take(const ByteScaling<L>&, const BytePixelSums<L, S, 0>&,
                         typename L::IntegerVector, typename L::RealVector)
    {
    }
    template <class Store>
    HWY_INLINE void store(const ByteScaling<L>&, const Store&) const
    {
    }
};

// Vector kAt of channels, and those after it.
template <class L, class W, int kPixels, int kAt = 0>
HWY_INLINE void sum_vectors(const ByteScaling<L>& scaling, const PackedBlock& packed,
                            const WindowSteps& steps, const char* columns, const char* weights,
                            PixelBytes<L, kPixels>* bytes)
{
    using S = typename W::Set;
    constexpr int kLane = kAt * L::kWidth / 4, kByte = kAt * L::kWidth;
    const auto start = hn::LoadU(typename L::Integers(), packed.starts() + kLane);
    BytePixelSums<L, S, kPixels> sums;
    sums.start(start);
    for_each_bundle<L, W>(steps, [&](int64_t column, int64_t weight) {
        sums.add(columns + kByte + column, steps.pixel_step, S::load(weights + kByte + weight));
    });
    bytes->template take<kAt, S>(scaling, sums, start,
                                 hn::LoadU(typename L::Reals(), packed.scales() + kLane));
    if constexpr (kAt < 3)
        sum_vectors<L, W, kPixels, kAt + 1>(scaling, packed, steps, columns, weights, bytes);
}

template <class L, class W, int kPixels>
HWY_INLINE void convolve_pixels(const ByteDepthwise& conv, const BandPart& part,
                                const ByteScaling<L>& scaling, const ByteTable& table,
                                const WindowSteps& steps, const char* columns, const char* weights,
                                uint8_t* output)
{
    PixelBytes<L, kPixels> bytes(scaling);
    sum_vectors<L, W, kPixels>(scaling, part.packed, steps, columns, weights, &bytes);
    bytes.store(scaling, [&](int pixel, auto values, auto fraction) {
        uint8_t* to = output + pixel * conv.output_step;
        if (part.table) values = table(typename L::Bytes(), values);
        store_bytes<L>(values, part.channels, to);
        if (HWY_UNLIKELY(scaling.is_tie(fraction)))
            store_exactly<L, W>(conv, part, steps, columns + pixel * steps.pixel_step, weights, to);
    });
}

// The lines of a band, from its copy.
template <class L, class W>
HWY_NOINLINE void convolve_lines(const ByteDepthwise& conv, const BandPart& part)
{
    const window_axis& x = conv.axes[2];
    const ByteScaling<L> scaling(conv.range);
    const ByteTable table(part.table);
    const int64_t column_bytes = conv.column_bytes(L::kWidth);
    WindowSteps steps = {};
    steps.runs = x.dilation == 1 ? 1 : x.kernel;
    steps.run_bundles = conv.bundles * (x.dilation == 1 ? x.kernel : 1);
    steps.run_step = x.dilation * column_bytes;
    steps.pixel_step = x.stride * column_bytes;
    const int64_t line_weights = 4 * L::kWidth * conv.window_bundles();
    for (int64_t line = 0; line < part.lines; ++line) {
        const char* weights = part.packed.weights() + line * line_weights;
        uint8_t* output = part.output + line * x.output * conv.output_step;
        for (int64_t i = 0; i < part.pixels;) {
            // The last four may have pixels that the four before had.
            const bool is_few = part.pixels >= kFew;
            const int64_t pixel = is_few ? std::min(i, part.pixels - kFew) : i;
            const char* columns = part.copy + pixel * steps.pixel_step;
            uint8_t* to = output + pixel * conv.output_step;
            if (is_few)
                convolve_pixels<L, W, kFew>(conv, part, scaling, table, steps, columns, weights,
                                            to);
            else
                convolve_pixels<L, W, 1>(conv, part, scaling, table, steps, columns, weights, to);
            i = pixel + (is_few ? kFew : 1);
        }
    }
}

// A vector of the bytes of a pixel, made unsigned.
template <class L>
HWY_INLINE typename L::ByteVector load_bytes(const uint8_t* from, int64_t count,
                                             typename L::ByteVector flip)
{
    const typename L::Bytes d;
    if (is_whole<L>(count)) return hn::Xor(hn::LoadU(d, from), flip);
    HWY_ALIGN uint8_t all[L::kWidth] = {};
    std::memcpy(all, from, static_cast<size_t>(count));
    return hn::Xor(hn::Load(d, all), flip);
}

// A bundle of `count` columns, of rows that are one pixel long where their step is 0.
template <class L, class S>
HWY_INLINE void interleave_columns(const ByteDepthwise& conv, int64_t channels,
                                   const uint8_t* const* rows, const int64_t* steps, int64_t count,
                                   uint8_t* to)
{
    const int64_t column_bytes = conv.column_bytes(L::kWidth);
    const auto flip = hn::Set(typename L::Bytes(), static_cast<uint8_t>(conv.flips ? 0x80 : 0));
    for (int64_t i = 0; i < count; ++i, to += column_bytes) {
        typename L::ByteVector bytes[S::kRows];
#pragma GCC unroll 4
        for (int row = 0; row < S::kRows; ++row)
            bytes[row] = load_bytes<L>(rows[row] + i * steps[row], channels, flip);
        S::interleave(bytes, to);
    }
}

// Interleaves the input of a part's windows, with the padding.
template <class L, class S>
HWY_NOINLINE void copy_rows(const ByteDepthwise& conv, const BandPart& part)
{
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    HWY_ALIGN uint8_t pads[L::kWidth];
    std::memset(pads, conv.input_zero_byte, sizeof pads);
    const uint8_t* no_rows[S::kRows];
    constexpr int64_t kNoSteps[S::kRows] = {};
    std::fill_n(no_rows, S::kRows, pads);
    const int64_t column_bytes = conv.column_bytes(L::kWidth);
    const int64_t first = part.pixel * x.stride - x.pad_begin,
                  last = first + conv.columns(part.pixels);
    const int64_t begin = std::clamp<int64_t>(0, first, last);
    const int64_t end = std::clamp<int64_t>(x.input, begin, last);
    // Rows of windows that are one row apart lie side by side; else a band has one line.
    const int64_t top = part.line * y.stride - y.pad_begin;
    const int64_t needed = (part.lines - 1) * y.stride + y.kernel;
    for (int64_t bundle = 0; bundle < conv.bundles; ++bundle) {
        const uint8_t* rows[S::kRows];
        int64_t steps[S::kRows];
        for (int i = 0; i < S::kRows; ++i) {
            const int64_t index = bundle * S::kRows + i, row = top + index * y.dilation;
            const bool exists = index < needed && row >= 0 && row < y.input;
            rows[i] = exists ? part.image + (row * x.input + begin) * conv.image_step : pads;
            steps[i] = exists ? conv.image_step : 0;
        }
        auto* to = reinterpret_cast<uint8_t*>(part.copy) + bundle * 4 * L::kWidth;
        interleave_columns<L, S>(conv, part.channels, no_rows, kNoSteps, begin - first, to);
        interleave_columns<L, S>(conv, part.channels, rows, steps, end - begin,
                                 to + (begin - first) * column_bytes);
        interleave_columns<L, S>(conv, part.channels, no_rows, kNoSteps, last - end,
                                 to + (end - first) * column_bytes);
    }
}

template <int kWidth>
HWY_INLINE void convolve_block(const ByteDepthwise& conv, const BandPart& part)
{
    using L = Lanes<kWidth>;
#if HWY_TARGET == HWY_AVX3
    using Quads = QuadSet<L>;
    if (conv.bundle_rows == Quads::kRows) {
        copy_rows<L, Quads>(conv, part);
        const bool is_three = conv.axes[2].dilation == 1 && conv.window_bundles() == 3;
        if (is_three) return convolve_lines<L, ByteWindows<Quads, 3> >(conv, part);
        return convolve_lines<L, ByteWindows<Quads> >(conv, part);
    }
#endif
    copy_rows<L, PairSet<L> >(conv, part);
    convolve_lines<L, ByteWindows<PairSet<L> > >(conv, part);
}

constexpr int64_t kMostWidth = HWY_MAX_BYTES;

void describe(bool has_narrow_weights, ByteDepthwise* conv)
{
    conv->most_width = kMostWidth;
    conv->bundle_rows = 2;
    (void)has_narrow_weights;
#if HWY_TARGET == HWY_AVX3
    constexpr uint64_t kNeeded = CPU_FEATURE_AVX512_VNNI;
    if (has_narrow_weights && (get_cpu_features() & kNeeded)) conv->bundle_rows = 4;
#endif
}

void convolve(const ByteDepthwise& conv, const BandPart& part)
{
#if HWY_MAX_BYTES >= 64
    if (part.packed.width == 64) return convolve_block<64>(conv, part);
#endif
#if HWY_MAX_BYTES >= 32
    if (part.packed.width == 32) return convolve_block<32>(conv, part);
#endif
    convolve_block<16>(conv, part);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {

HWY_EXPORT(describe);
HWY_EXPORT(convolve);

void describe_byte_depthwise(bool has_narrow_weights, ByteDepthwise* conv)
{
    HWY_DYNAMIC_DISPATCH(describe)(has_narrow_weights, conv);
}

void convolve_byte_depthwise(const ByteDepthwise& conv, const ByteDepthwiseRun& run, int64_t first,
                             int64_t last, char* copy)
{
    const auto convolve_part = HWY_DYNAMIC_DISPATCH(convolve);
    const window_axis &y = conv.axes[1], &x = conv.axes[2];
    const int64_t blocks = conv.blocks();
    for (int64_t item = first; item < last; ++item) {
        const ChannelBlock block = conv.block(item % blocks);
        const int64_t image = item / blocks / conv.bands, band = item / blocks % conv.bands;
        BandPart part = {};
        part.image = run.input + image * conv.input_plane * conv.image_step + block.first;
        part.packed = find_packed_block(conv, run.packed, block);
        part.channels = std::min(block.width, conv.channels() - block.first);
        part.line = band * conv.band_lines;
        part.lines = std::min(conv.band_lines, y.output - part.line);
        part.table = run.table;
        part.copy = copy;
        for (; part.pixel < x.output; part.pixel += part.pixels) {
            part.pixels = std::min(conv.segment_pixels, x.output - part.pixel);
            const int64_t pixel = image * conv.output_plane + part.line * x.output + part.pixel;
            part.output = run.output + pixel * conv.output_step + block.first;
            convolve_part(conv, part);
        }
    }
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// The product at the heart of convolutions with channels last: a few pixels by a panel of output
// channels. Weights are the vectors, packed once; each element of the input is read in place and
// broadcast. Included once for each instruction set.
//
// The tile follows F. Van Zee, R. van de Geijn, BLIS, 2015 (rows by whole vectors in registers);
// reading pixels in place follows M. Dukhan, The Indirect Convolution Algorithm, 2019, with
// strides in place of pointers.
#include <cstdint>

#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/activation.h"

// clang-format off
#if defined(TENGINE_CPU_PIXEL_PRODUCT) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_PIXEL_PRODUCT
#undef TENGINE_CPU_PIXEL_PRODUCT
#else
#define TENGINE_CPU_PIXEL_PRODUCT
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two vectors by kPixelRows rows, with the elements that are read, fill the registers. The elements
// of 14 rows collide in a cache of 12 ways where pixels are 4 kB apart.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kPixelRows = 12;
#elif HWY_ARCH_ARM_A64 || HWY_ARCH_RVV
constexpr int kPixelRows = 8;
#elif HWY_ARCH_ARM_V7
constexpr int kPixelRows = 4;
#else
constexpr int kPixelRows = 6;
#endif
constexpr int kPanelVectors = 2;

// Without AVX-512, whose loads are whole cache lines that the processor prefetches, a panel is
// prefetched while the one before it is used: on a Zen 4, bert, vit_b_16 and convnext_tiny then
// take 3 to 4 % less time. With AVX-512 they would take 2 % more.
constexpr bool kReadsAhead = HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3;

// Lines of seven pixels would be tiles of four and three rows, too few to hide the latency of a
// multiply-add. Tiles of six rows compute their first six pixels, and then the remaining column of
// pixels: 12 % less time with AVX2 on a Zen 4.
constexpr bool kCutsColumns = kPixelRows == 6;
constexpr int64_t kCutRows = kPixelRows + 1;

// NEON multiplies by one lane of a vector, so that four elements of a row are one load.
#if HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON
#define TENGINE_CPU_PIXEL_QUARTERS
#endif

// The elements that rows 0, 1, ... of a tile are at. Three rows share a pointer: x86 addresses the
// second and third by the step, so that twelve rows take five registers.
struct PixelRowsAt
{
    const char *p0, *p3, *p6, *p9;
    int64_t step;  // bytes

    HWY_INLINE PixelRowsAt(const char* begin, int64_t row_step)
        : p0(begin),
          p3(begin + 3 * row_step),
          p6(begin + 6 * row_step),
          p9(begin + 9 * row_step),
          step(row_step)
    {
    }

    template <int kRow>
    HWY_INLINE const float* at(int64_t element) const
    {
        constexpr int kFrom = kRow / 3;
        const char* from = kFrom == 0 ? p0 : kFrom == 1 ? p3 : kFrom == 2 ? p6 : p9;
        const char* at = from + kRow % 3 * step + element * int64_t{sizeof(float)};
        return reinterpret_cast<const float*>(at);
    }

    // Hides from the compiler that the pointers are steps apart: it would keep one for each row,
    // and has no registers for them.
    template <int kRows>
    HWY_INLINE void advance(int64_t elements)
    {
        const int64_t bytes = elements * int64_t{sizeof(float)};
        p0 += bytes;
        __asm__("" : "+r"(p0));
        if constexpr (kRows > 3) {
            p3 += bytes;
            __asm__("" : "+r"(p3));
        }
        if constexpr (kRows > 6) {
            p6 += bytes;
            __asm__("" : "+r"(p6));
        }
        if constexpr (kRows > 9) {
            p9 += bytes;
            __asm__("" : "+r"(p9));
        }
    }
};

#ifdef TENGINE_CPU_PIXEL_QUARTERS
// Four elements of each of kRows rows.
template <int kRows>
struct PixelQuarters
{
    PixelQuarters<kRows - 1> before;
    Vector last;

    HWY_INLINE explicit PixelQuarters(const PixelRowsAt& rows)
        : before(rows), last(hn::LoadU(Floats(), rows.template at<kRows - 1>(0)))
    {
    }
};

template <>
struct PixelQuarters<0>
{
    HWY_INLINE explicit PixelQuarters(const PixelRowsAt&) {}
};
#endif

// sum + value * weight. Left to itself, GCC 12 takes forms of AVX2's instruction that put the
// accumulator into another register, runs out of them, and loses a twentieth.
HWY_INLINE Vector add_product(Vector value, Vector weight, Vector sum)
{
#if HWY_TARGET == HWY_AVX2
    auto raw = sum.raw;
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(raw) : "x"(value.raw), "x"(weight.raw));
    return Vector{raw};
#else
    return hn::MulAdd(value, weight, sum);
#endif
}

// The accumulators of kRows rows; x and y are those of the last.
template <int kRows, int kVectors>
struct PixelSums
{
    PixelSums<kRows - 1, kVectors> before;
    Vector x, y;

    // One that is implied is not for the instruction set that vectors are for (gcc 12).
    HWY_INLINE PixelSums() {}
    HWY_INLINE void start(Vector bias_x, Vector bias_y)
    {
        before.start(bias_x, bias_y);
        x = bias_x;
        y = bias_y;
    }
    template <class Load>
    HWY_INLINE void go_on(const Load& load)
    {
        before.go_on(load);
        load(kRows - 1, &x, &y);
    }
    HWY_INLINE void add(const PixelRowsAt& rows, int64_t element, Vector weight_x, Vector weight_y)
    {
        before.add(rows, element, weight_x, weight_y);
        const Vector value = hn::Set(Floats(), *rows.template at<kRows - 1>(element));
        x = add_product(value, weight_x, x);
        if constexpr (kVectors > 1) y = add_product(value, weight_y, y);
    }
#ifdef TENGINE_CPU_PIXEL_QUARTERS
    template <int kLane>
    HWY_INLINE void add_lane(const PixelQuarters<kRows>& values, Vector weight_x, Vector weight_y)
    {
        before.template add_lane<kLane>(values.before, weight_x, weight_y);
        const Vector value = hn::Broadcast<kLane>(values.last);
        x = add_product(value, weight_x, x);
        if constexpr (kVectors > 1) y = add_product(value, weight_y, y);
    }
#endif
    template <class Store>
    HWY_INLINE void store(const Store& store) const
    {
        before.store(store);
        store(kRows - 1, x, y);
    }
};

template <int kVectors>
struct PixelSums<0, kVectors>
{
    HWY_INLINE PixelSums() {}
    HWY_INLINE void start(Vector, Vector) {}
    template <class Load>
    HWY_INLINE void go_on(const Load&)
    {
    }
    HWY_INLINE void add(const PixelRowsAt&, int64_t, Vector, Vector) {}
#ifdef TENGINE_CPU_PIXEL_QUARTERS
    template <int kLane>
    HWY_INLINE void add_lane(const PixelQuarters<0>&, Vector, Vector)
    {
    }
#endif
    template <class Store>
    HWY_INLINE void store(const Store&) const
    {
    }
};

// Finishes a panel with fewer columns than lanes: `whole` has rows of `width` accumulators.
inline HWY_NOINLINE void finish_part_of_tile(const FloatTile& tile, const float* whole,
                                             int64_t rows, int64_t width)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Bounds clip(*tile.fusion);
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < tile.columns; i += lanes) {
            const int64_t at = row * tile.output_step + i, count = tile.columns - i;
            Vector sum = hn::LoadU(d, whole + row * width + i);
            if (tile.addend) sum = hn::Add(sum, load_lanes(tile.addend + at, count));
            store_lanes(clip(sum), tile.output + at, count);
        }
    }
}

template <int kVectors>
HWY_INLINE void load_pair(const float* from, Vector* x, Vector* y)
{
    const Floats d;
    *x = hn::LoadU(d, from);
    *y = kVectors > 1 ? hn::LoadU(d, from + hn::Lanes(d)) : *x;
}

template <int kVectors>
HWY_INLINE void load_weights(const float* from, Vector* x, Vector* y)
{
    load_pair<kVectors>(from, x, y);
    keep_in_register(*x);
    keep_in_register(*y);
}

// The bias, or the output so far.
template <int kRows, int kVectors>
HWY_INLINE void start_sums(const FloatTile& tile, PixelSums<kRows, kVectors>* sums)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    if (tile.bias) {
        Vector x, y;
        load_pair<kVectors>(tile.bias, &x, &y);
        return sums->start(x, y);
    }
    if (tile.columns == kVectors * lanes)
        return sums->go_on([&](int row, Vector* x, Vector* y) {
            load_pair<kVectors>(tile.output + row * tile.output_step, x, y);
        });
    sums->go_on([&](int row, Vector* x, Vector* y) {
        const float* from = tile.output + row * tile.output_step;
        *x = load_lanes(from, tile.columns);
        *y = tile.columns > lanes ? load_lanes(from + lanes, tile.columns - lanes)
                                  : hn::Zero(Floats());
    });
}

// The products of a K segment; returns where the weights of the next begin.
template <int kRows, int kVectors>
HWY_INLINE const float* add_segment(PixelRowsAt rows, int64_t left, const float* weights,
                                    PixelSums<kRows, kVectors>* sums)
{
    constexpr int64_t kUnroll = 4;
    const int64_t width = kVectors * static_cast<int64_t>(hn::Lanes(Floats()));
    Vector x, y;
    const auto load = [&](int64_t row) { load_weights<kVectors>(weights + row * width, &x, &y); };
    for (; left >= kUnroll; left -= kUnroll) {
#ifdef TENGINE_CPU_PIXEL_QUARTERS
        const PixelQuarters<kRows> values(rows);
        load(0);
        sums->template add_lane<0>(values, x, y);
        load(1);
        sums->template add_lane<1>(values, x, y);
        load(2);
        sums->template add_lane<2>(values, x, y);
        load(3);
        sums->template add_lane<3>(values, x, y);
#else
        load(0);
        sums->add(rows, 0, x, y);
        load(1);
        sums->add(rows, 1, x, y);
        load(2);
        sums->add(rows, 2, x, y);
        load(3);
        sums->add(rows, 3, x, y);
#endif
        weights += kUnroll * width;
        rows.template advance<kRows>(kUnroll);
    }
    for (; left > 0; --left) {
        load(0);
        sums->add(rows, 0, x, y);
        weights += width;
        rows.template advance<kRows>(1);
    }
    return weights;
}

// The accumulators of a tile, plus the addend, clipped.
template <int kRows, int kVectors>
HWY_INLINE void store_sums(const FloatTile& tile, const PixelSums<kRows, kVectors>& sums)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), width = kVectors * lanes;
    if (tile.columns < width) {
        HWY_ALIGN float whole[kRows * kVectors * HWY_MAX_BYTES / sizeof(float)];
        sums.store([&](int row, Vector first, Vector second) {
            hn::Store(first, d, whole + row * width);
            if constexpr (kVectors > 1) hn::Store(second, d, whole + row * width + lanes);
        });
        return finish_part_of_tile(tile, whole, kRows, width);
    }
    const Bounds clip(*tile.fusion);
    const auto finish = [&](Vector sum, int64_t at) {
        if (tile.addend) sum = hn::Add(sum, hn::LoadU(d, tile.addend + at));
        hn::StoreU(clip(sum), d, tile.output + at);
    };
    sums.store([&](int row, Vector first, Vector second) {
        finish(first, row * tile.output_step);
        if constexpr (kVectors > 1) finish(second, row * tile.output_step + lanes);
    });
}

// Goes to the tile `rows` further.
HWY_INLINE void advance(FloatTile& tile, int64_t rows)
{
    tile.input += rows * tile.input_step;
    tile.output += rows * tile.output_step;
    if (tile.addend) tile.addend += rows * tile.output_step;
}

// Prefetches the lines of the cache that a tile writes. With AVX-512 it would wait for them: the
// networks of docs/benchmark.md take 1 % less time with the prefetch on a Zen 4, and the same time
// with AVX2.
template <int kRows, int kVectors>
HWY_INLINE void ask_for_results(const FloatTile& tile)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    for (int row = 0; row < kRows; ++row)
        for (int i = 0; i < kVectors; ++i)
            __builtin_prefetch(tile.output + row * tile.output_step + i * kCacheLineFloats, 1);
#else
    (void)tile;
#endif
}

// Bias or output so far + products, plus the addend, through the activation, for `count` tiles one
// after the other: with few input channels a call for each would cost a third of its work.
template <int kRows, int kVectors>
HWY_NOINLINE void multiply_pixel_tiles(const FloatTile& first, int64_t count)
{
    constexpr int64_t kMostRows = 48;  // that wait for their activation in L1
    const bool activates = needs_activation_pass(*first.fusion);
    const int64_t step = first.input_step * int64_t{sizeof(float)};
    FloatTile tile = first;
    [[maybe_unused]] const float* next = first.next;
    int64_t waiting = 0;
    for (; count > 0; --count) {
        if constexpr (kReadsAhead)
            for (int64_t i = 0; i < first.next_lines; ++i, next += kCacheLineFloats)
                __builtin_prefetch(next, 0, 2);
        ask_for_results<kRows, kVectors>(tile);
        PixelSums<kRows, kVectors> sums;
        start_sums(tile, &sums);
        const float* weights = tile.weights;
        for (int64_t i = 0; i < tile.segment_num; ++i) {
#ifndef TENGINE_MINIMAL  // which have no kernel with gaps
            if (tile.weight_gaps) weights += tile.weight_gaps[i];
#endif
            const char* begin = reinterpret_cast<const char*>(tile.input) + tile.segments[i];
            weights = add_segment(PixelRowsAt(begin, step), tile.segment_length, weights, &sums);
        }
        store_sums(tile, sums);
        advance(tile, kRows);
        waiting += kRows;
        if (activates && (count == 1 || waiting + kRows > kMostRows)) {
            activate(*tile.fusion, tile.output - waiting * tile.output_step, waiting,
                     tile.output_step, tile.columns);
            waiting = 0;
        }
    }
}

// The tile of one K segment whose weights are rows of a matrix, `step` apart. At most kRows rows.
// The loop is not unrolled: one load then has one distance, which processors prefetch by; with
// AVX2 a Zen 4 takes up to 30 % less time so.
template <int kRows>
void multiply_matrix_tile(const FloatTile& tile, int64_t row_num, int64_t step)
{
    if constexpr (kRows > 1)
        if (row_num < kRows) return multiply_matrix_tile<kRows - 1>(tile, row_num, step);
    PixelRowsAt rows(reinterpret_cast<const char*>(tile.input),
                     tile.input_step * int64_t{sizeof(float)});
    PixelSums<kRows, kPanelVectors> sums;
    start_sums(tile, &sums);
    const float* weights = tile.weights;
    for (int64_t k = 0; k < tile.segment_length; ++k, weights += step) {
        Vector x, y;
        load_weights<kPanelVectors>(weights, &x, &y);
        sums.add(rows, 0, x, y);
        rows.template advance<kRows>(1);
    }
    store_sums(tile, sums);
}

// As a tile of one row, for two panels at once, whose accumulators together hide the latency of
// multiply-adds: with AVX2 the L3 cache of a Zen 4 gives 93 GB/s so, and 62 of one panel at a time.
inline HWY_NOINLINE void multiply_pixel_row(const FloatTile& first, const FloatTile& second)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    PixelSums<1, kPanelVectors> sums, others;
    start_sums(first, &sums);
    start_sums(second, &others);
    const float *weights = first.weights, *other_weights = second.weights;
    for (int64_t i = 0; i < first.segment_num; ++i) {
        const auto* input = reinterpret_cast<const float*>(
            reinterpret_cast<const char*>(first.input) + first.segments[i]);
        for (int64_t k = 0; k < first.segment_length; ++k) {
            const Vector value = hn::Set(Floats(), input[k]);
            sums.x = add_product(value, hn::LoadU(Floats(), weights), sums.x);
            sums.y = add_product(value, hn::LoadU(Floats(), weights + lanes), sums.y);
            others.x = add_product(value, hn::LoadU(Floats(), other_weights), others.x);
            others.y = add_product(value, hn::LoadU(Floats(), other_weights + lanes), others.y);
            weights += kPanelVectors * lanes;
            other_weights += kPanelVectors * lanes;
        }
    }
    store_sums(first, sums);
    store_sums(second, others);
    if (!needs_activation_pass(*first.fusion)) return;
    activate(*first.fusion, first.output, 1, first.output_step, first.columns);
    activate(*second.fusion, second.output, 1, second.output_step, second.columns);
}

using MultiplyPixelTiles = void (*)(const FloatTile&, int64_t count);

// The number of the remaining rows that a tile computes. Minimal builds only have one, four and,
// where registers are enough, eight.
HWY_INLINE int64_t find_tile_height(int64_t rows)
{
    int64_t height = kPixelRows;
#ifdef TENGINE_MINIMAL
    while (height > rows)
        height = height > 4 ? height / 2 : 1;
    return height;
#else
    return rows < height ? rows : height;
#endif
}

template <int kRows, int kVectors>
HWY_INLINE MultiplyPixelTiles find_pixel_tile_of(int64_t height)
{
#ifdef TENGINE_MINIMAL
    constexpr int kNext = kRows > 4 ? kRows / 2 : kRows > 1;
#else
    constexpr int kNext = kRows - 1;
#endif
    if constexpr (kNext > 0)
        if (height <= kNext) return find_pixel_tile_of<kNext, kVectors>(height);
    return multiply_pixel_tiles<kRows, kVectors>;
}

// For a height that find_tile_height() gives, and panels of find_panel_width().
HWY_INLINE MultiplyPixelTiles find_pixel_tile(int64_t height, bool is_wide)
{
#ifndef TENGINE_MINIMAL
    if (!is_wide) return find_pixel_tile_of<kPixelRows, 1>(height);
#else
    (void)is_wide;
#endif
    return find_pixel_tile_of<kPixelRows, kPanelVectors>(height);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_PIXEL_PRODUCT

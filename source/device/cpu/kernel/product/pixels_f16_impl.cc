// SPDX-License-Identifier: Apache-2.0
// See pixels_f16.h: tiles of pixels by panels of output channels. The accumulators of a tile stay
// in the L1 cache until they have become results. Limits: the instructions of the format; with few
// input channels also reading these again.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/cpu.h"
#include "device/cpu/kernel/product/packed_problem.h"
#include "device/cpu/kernel/product/pixels_f16.h"
#include "device/cpu/kernel/product/pixels_f32.h"
#include "device/cpu/kernel/vector/activation.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"

#ifndef TENGINE_CPU_HALF_PIXELS
#define TENGINE_CPU_HALF_PIXELS
namespace tengine::cpu {

// The part of the depth that is widened at once and multiplied by all rows of a block: whole K
// segments, or elements of one.
struct Float16Part
{
    int64_t first, count;    // K segments
    int64_t offset, length;  // elements of each
    bool is_first, is_last;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/pixels_f16_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/product/pixel_block-inl.h"
#include "device/cpu/kernel/vector/elements-inl.h"
#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void convert_halves(const T* from, int64_t count, T* to)
{
    copy_elements(from, count, to);
}

template <class T>
HWY_INLINE void convert_halves(const T* from, int64_t count, float* to)
{
    load_floats(from, count, to);
}

// Times the factor of each; fp16 and bf16 are rounded again.
template <class From, class To>
HWY_INLINE void scale_halves(const From* from, const From* factors, int64_t count, To* to)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < count; i += lanes)
        store_lanes(hn::Mul(load_lanes(from + i, count - i), load_lanes(factors + i, count - i)),
                    to + i, count - i);
}

template <class From, class To>
HWY_INLINE void copy_halves_as(const Float16Pixels& conv, const Float16Run& run, const void* from,
                               int64_t step, int64_t pixels, void* to)
{
    const auto* factors = reinterpret_cast<const From*>(run.factors);
    const int64_t channels = conv.input_channels;
    const auto convert = [&](const From* source, int64_t count, To* copy) {
        if (!conv.has_factors) return convert_halves(source, count, copy);
        for (int64_t i = 0; i < count; i += channels)
            scale_halves(source + i, factors, channels, copy + i);
    };
    copy_pixels(conv, static_cast<const From*>(from), step, pixels, To{}, static_cast<To*>(to),
                convert);
}

void copy_halves(const PixelProblem& problem, const PixelRun& operands, const void* from,
                 int64_t step, int64_t pixels, void* to)
{
    const auto& conv = static_cast<const Float16Pixels&>(problem);
    const auto& run = static_cast<const Float16Run&>(operands);
    const bool is_fp16 = conv.data_type == TENGINE_DT_FP16;
    if (conv.format.element_size == 2)
        (is_fp16 ? copy_halves_as<Half, Half>
                 : copy_halves_as<BFloat16, BFloat16>)(conv, run, from, step, pixels, to);
    else
        (is_fp16 ? copy_halves_as<Half, float> : copy_halves_as<BFloat16, float>)(conv, run, from,
                                                                                  step, pixels, to);
}

// The accumulators of a tile, `width` for each row.
struct Float16Sums
{
    float* values;
    int64_t width, rows, columns;
};

// Adds the values that lie where the result will.
template <class T>
HWY_INLINE void add_halves(const Float16Sums& sums, const T* addend, int64_t step)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t row = 0; row < sums.rows; ++row)
        for (int64_t i = 0; i < sums.columns; i += lanes) {
            float* sum = sums.values + row * sums.width + i;
            const Vector more = load_lanes(addend + row * step + i, sums.columns - i);
            hn::StoreU(hn::Add(hn::LoadU(d, sum), more), d, sum);
        }
}

// The results that the format's own epilogue makes of a tile's accumulators.
HWY_INLINE Float16Results describe_half_results(const Float16Pixels& conv, const Float16Run& run,
                                                const Float16Sums& sums, int64_t at)
{
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const bool clips = run.fusion->activation == Activation::kClip;
    return {sums.values,
            run.addend ? run.addend + at : nullptr,
            run.output + at,
            sums.width,
            sums.rows,
            sums.columns,
            conv.output_step,
            clips ? run.fusion->parameters[0] : -kInfinity,
            clips ? run.fusion->parameters[1] : kInfinity};
}

void finish_half_sums(const Float16Pixels& conv, const Float16Run& run, const Float16Sums& sums,
                      int64_t at)
{
    Float16Results results = describe_half_results(conv, run, sums, at);
    if (needs_activation_pass(*run.fusion)) {
        if (results.addend)
            add_halves(sums, reinterpret_cast<const BFloat16*>(results.addend), conv.output_step);
        results.addend = nullptr;
        activate(*run.fusion, sums.values, sums.rows, sums.width, sums.columns);
    }
    conv.format.finish(results);
}

// The results of a tile, of which the first is the element `at` of the output.
template <class T>
HWY_INLINE void store_half_sums(const Float16Pixels& conv, const Float16Run& run,
                                const Float16Sums& sums, int64_t at)
{
    if (conv.format.finish) return finish_half_sums(conv, run, sums, at);
    const int64_t step = conv.output_step;
    const Bounds clip(*run.fusion);
    T* output = reinterpret_cast<T*>(run.output) + at;
    if (run.addend) add_halves(sums, reinterpret_cast<const T*>(run.addend) + at, step);
    if (needs_activation_pass(*run.fusion))
        activate(*run.fusion, sums.values, sums.rows, sums.width, sums.columns);
    for (int64_t row = 0; row < sums.rows; ++row)
        store_floats(sums.values + row * sums.width, sums.columns, clip, output + row * step);
}

// A panel, or a part of its depth, on all rows of a block.
template <class T>
struct Float16Product
{
    HWY_INLINE Float16Product(const Float16Pixels& pixels, const Float16Run& operands,
                              const PixelBlock& block, int64_t number, float* tile_sums)
        : conv(pixels),
          run(operands),
          width(conv.panel_width(number)),
          columns(std::min(width, conv.output_channels - number * conv.format.columns))
    {
        const char* panel = block.packed + conv.panel_at(number);
        tile = find_first_tile(conv, block, number);
        tile.sums = reinterpret_cast<int32_t*>(tile_sums);
        tile.start = reinterpret_cast<const int32_t*>(panel);
        tile.weights = panel + width * int64_t{sizeof(float)};
        rounds = conv.format.rounds && columns == width && !needs_activation_pass(*run.fusion);
        is_few = conv.part_elements > 0 && block.lines == 1 && block.pixels <= kFewHalfRows;
    }

    HWY_INLINE void begin_line(int64_t row)
    {
        if (sums) tile.sums = reinterpret_cast<int32_t*>(sums + row * width);
        if (tile.start_step > 0) tile.start = tile.sums;
    }

    HWY_INLINE void multiply(int64_t rows, int64_t at)
    {
        const Float16Sums made = {reinterpret_cast<float*>(tile.sums), width, rows, columns};
        Float16Results results;
        if (is_last && rounds) {
            results = describe_half_results(conv, run, made, at);
            tile.results = &results;
        }
        if (is_few || tile.kept)
            widen_and_multiply_halves(conv.data_type, tile, rows);
        else
            conv.format.multiply(tile, rows);
        if (is_last && !rounds) store_half_sums<T>(conv, run, made, at);
        tile.start += rows * tile.start_step;
        if (sums) tile.sums += rows * width;
        // The first tile also prefetched the next weights, and widened its own.
        tile.ahead = nullptr;
        if (tile.kept) tile.weights = reinterpret_cast<const char*>(tile.kept);
        tile.kept = nullptr;
    }

    const Float16Pixels& conv;
    const Float16Run& run;
    const int64_t width, columns;
    GroupTile tile;
    bool rounds;            // accumulators become results in the tile
    bool is_few;            // of the rows that widen_and_multiply_halves() takes
    bool is_last = true;    // accumulators become results
    float* sums = nullptr;  // for the part after it, and from that before; null: there is one part
};

HWY_INLINE bool find_next_part(const Float16Pixels& conv, Float16Part* part)
{
    const int64_t length = conv.segment_length, most = conv.part_elements;
    if (part->count > 0) {
        part->offset += part->length;
        part->is_first = false;
        if (part->offset == length) part->first += part->count, part->offset = 0;
    }
    if (part->first == conv.segment_num) return false;
    part->count = part->offset > 0 || length > most
                      ? 1
                      : std::min(most / length, conv.segment_num - part->first);
    part->length = std::min(length - part->offset, most);
    part->is_last =
        part->first + part->count == conv.segment_num && part->offset + part->length == length;
    return true;
}

// The same for each part of the depth, whose weights are widened.
template <class T>
HWY_INLINE void multiply_widened_panel(const Float16Pixels& conv, const PixelBlock& block,
                                       int64_t at, Float16Product<T>& product)
{
    const char *input = product.tile.input, *weights = product.tile.weights;
    if (conv.sum_bytes() > 0)
        product.sums = reinterpret_cast<float*>(block.scratch + conv.part_bytes());
    Float16Part part = {};
    part.is_first = true;
    while (find_next_part(conv, &part)) {
        product.tile.weights = weights;
        product.tile.kept = reinterpret_cast<float*>(block.scratch);
        product.tile.ahead_step = product.width * int64_t{sizeof(T)};
        weights += part.count * part.length * product.tile.ahead_step;
        product.tile.ahead = weights;
        product.tile.input = input + part.offset * int64_t{sizeof(float)};
        product.tile.segments = block.segments + part.first;
        product.tile.segment_num = part.count;
        product.tile.groups = part.length;
        product.is_last = part.is_last;
        if (!part.is_first) product.tile.start_step = product.width;
        multiply_lines(conv, block, at, product);
    }
}

// The panels from `first` to before `last` on a block.
template <class T>
HWY_INLINE void multiply_half_panels(const Float16Pixels& conv, const Float16Run& run,
                                     const PixelBlock& block, int64_t first, int64_t last)
{
    constexpr int64_t kMostRows = 16, kMostColumns = 64;
    HWY_ALIGN float sums[kMostRows * kMostColumns];
    for (int64_t i = first; i < last; ++i) {
        Float16Product<T> product(conv, run, block, i, sums);
        const int64_t at = block.output + i * conv.format.columns;
        if (conv.part_elements > 0 && !product.is_few)
            multiply_widened_panel(conv, block, at, product);
        else
            multiply_lines(conv, block, at, product);
    }
}

void multiply_half_block(const PixelProblem& problem, const PixelRun& operands,
                         const PixelBlock& block, int64_t first, int64_t last)
{
    const auto& conv = static_cast<const Float16Pixels&>(problem);
    const auto& run = static_cast<const Float16Run&>(operands);
    if (conv.data_type == TENGINE_DT_FP16)
        multiply_half_panels<Half>(conv, run, block, first, last);
    else
        multiply_half_panels<BFloat16>(conv, run, block, first, last);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(copy_halves);
HWY_EXPORT(multiply_half_block);

PixelFunctions find_half_functions()
{
    return {HWY_DYNAMIC_DISPATCH(copy_halves), HWY_DYNAMIC_DISPATCH(multiply_half_block)};
}

}  // namespace

void multiply_halves_here(const Float16Pixels& conv, const Float16Run& run, char* scratch)
{
    multiply_blocks_here(conv, find_half_functions(), run, 0, conv.panels, scratch);
}

void multiply_half_pixels(const KernelContext& context)
{
    const auto& conv = packed_problem<Float16Pixels>(context);
    const tensor* addend = find_addend(context);
    Float16Run run = {{context.input(0)->f16, shared_weights<Float16Pixels>(context)},
                      addend ? addend->f16 : nullptr,
                      context.output(0)->f16,
                      &context.fusion};
    if (!conv.has_factors) {
        multiply_blocks(context.pool, conv, find_half_functions(), run, context.scratch);
        return;
    }
    // One image after the other, since each has factors of its own.
    const tensor& factors = *context.input(context.fusion.scale);
    const int64_t output_elements = conv.output_plane * conv.output_step;
    for (int64_t i = 0; i < context.output(0)->dims[0]; ++i) {
        run.input = context.input(0)->f16 + i * conv.input_plane * conv.image_step;
        run.addend = addend ? addend->f16 + i * output_elements : nullptr;
        run.output = context.output(0)->f16 + i * output_elements;
        run.factors = factors.f16 + (factors.dims[0] > 1 ? i * conv.input_channels : 0);
        multiply_blocks(context.pool, conv, find_half_functions(), run, context.scratch);
    }
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

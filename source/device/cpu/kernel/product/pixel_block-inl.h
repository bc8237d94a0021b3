// SPDX-License-Identifier: Apache-2.0
// The parts of PixelFunctions that element types share: the copy of pixels, and the tiles of a
// panel. Included once for each instruction set.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/pixel_problem.h"
#include "device/cpu/shared/rounding.h"

// clang-format off
#if defined(TENGINE_CPU_PIXEL_BLOCK) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_PIXEL_BLOCK
#undef TENGINE_CPU_PIXEL_BLOCK
#else
#define TENGINE_CPU_PIXEL_BLOCK
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The elements of a pixel of a group are few: a call would take longer than their copy.
template <class T>
HWY_INLINE void copy_elements(const T* from, int64_t count, T* to)
{
    constexpr int64_t kFew = 128;
    const hn::CappedTag<uint8_t, 16> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t bytes = count * int64_t{sizeof(T)};
    if (bytes > kFew || bytes % lanes != 0) {
        std::copy_n(from, count, to);
        return;
    }
    const auto* source = reinterpret_cast<const uint8_t*>(from);
    auto* target = reinterpret_cast<uint8_t*>(to);
    for (int64_t i = 0; i < bytes; i += lanes)
        hn::StoreU(hn::LoadU(d, source + i), d, target + i);
}

// `convert` has the elements that it reads, how many, and where it writes them.
template <class From, class To, class Convert>
HWY_INLINE void copy_pixels(const PixelProblem& problem, const From* from, int64_t step,
                            int64_t pixels, To pad, To* to, const Convert& convert)
{
    const int64_t channels = problem.input_channels, to_step = problem.pixel_step;
    if (!from)
        std::fill_n(to, pixels * to_step, pad);
    else if (step == channels && to_step == channels)
        convert(from, pixels * channels, to);
    else
        for (int64_t i = 0; i < pixels; ++i)
            convert(from + i * step, channels, to + i * to_step);
}

// Multiplies the lines of a block with a panel, whose first result is the element `at` of the
// output. `product` has the tile at the block's first pixel, and multiplies `rows` of its rows.
template <class Product>
HWY_INLINE void multiply_lines(const PixelProblem& problem, const PixelBlock& block, int64_t at,
                               Product& product)
{
    const char* input = product.tile.input;
    for (int64_t line = 0; line < block.lines; ++line) {
        product.tile.input = input + line * block.line_step;
        product.begin_line(line * block.pixels);
        int64_t place = at + line * problem.line_pixels * problem.output_step;
        int64_t left = block.pixels;
        while (left > 0) {
            // As equal as may be: low tiles wait for their accumulators.
            const int64_t rows = divide_up(left, divide_up(left, problem.tile_rows));
            product.multiply(rows, place);
            product.tile.input += rows * product.tile.input_step;
            place += rows * problem.output_step;
            left -= rows;
        }
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_PIXEL_BLOCK

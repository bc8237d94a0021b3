// SPDX-License-Identifier: Apache-2.0
// Resize (linear) of int8 and uint8 in NHWC, along lines and columns: two lines are interpolated to
// one of int32, which is as wide as the input, then its positions, two by two. Weights have 11
// bits, so that the sums are exact and rounded once, and the results equal those of the reference
// bit by bit. Limits: two multiplications for each result, and two for each element of a line; with
// fewer channels than a vector has elements of int32, lanes are idle.
#include <cstdint>

#include "base/alloc.h"
#include "device/cpu/kernel/vector/fixed_vectors.h"
#include "device/cpu/kernel/vector/requantization.h"
#include "device/cpu/kernel/window/resize_source.h"
#include "device/cpu/kernel_table.h"
#include "device/cpu/parallel.h"
#include "device/cpu/shared/byte_resize.h"
#include "device/cpu/shared/grain.h"
#include "device/cpu/shared/rounding.h"

#ifndef TENGINE_CPU_RESIZE_PIXELS
#define TENGINE_CPU_RESIZE_PIXELS
namespace tengine::cpu {

// A line of the output: the lines of the input around it, and the taps of its positions.
struct Int8Line
{
    const uint8_t *before, *after;
    PixelTap row;
    const PixelTap* taps;
    int64_t input_pixels, output_pixels, channels;
    uint8_t flip;    // makes elements unsigned
    int32_t* words;  // room for a line of the input
    uint8_t* output;
    // Added before results are cut off: a half, or, for ties to even, one less and the bit of an
    // odd result.
    int32_t half, odd;
};

}  // namespace tengine::cpu
#endif

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/window/resize_pixels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<int32_t>;
using WordVector = hn::Vec<Words>;
using WordBytes = hn::Rebind<uint8_t, Words>;

// The weights of both.
struct Weights
{
    WordVector before, after;

    HWY_INLINE explicit Weights(const PixelTap& tap)
        : before(hn::Set(Words(), (1 << kPixelTapBits) - tap.weight)),
          after(hn::Set(Words(), tap.weight))
    {
    }
    HWY_INLINE WordVector mix(WordVector a, WordVector b) const
    {
        return hn::Add(hn::Mul(a, before), hn::Mul(b, after));
    }
};

HWY_INLINE int32_t mix(int32_t before, int32_t after, const PixelTap& tap)
{
    return (before << kPixelTapBits) + (after - before) * tap.weight;
}

HWY_INLINE void mix_lines(const Int8Line& line)
{
    const WordBytes d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const int64_t count = line.input_pixels * line.channels;
    const auto flip = hn::Set(d, line.flip);
    const Weights weights(line.row);
    const auto load = [&](const uint8_t* from) HWY_ATTR {
        return hn::PromoteTo(Words(), hn::Xor(hn::LoadU(d, from), flip));
    };
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(weights.mix(load(line.before + i), load(line.after + i)), Words(),
                   line.words + i);
    for (; i < count; ++i)
        line.words[i] = mix(line.before[i] ^ line.flip, line.after[i] ^ line.flip, line.row);
}

constexpr int kWordBits = 2 * kPixelTapBits;

HWY_INLINE WordVector round_words(const Int8Line& line, WordVector value)
{
    const Words d;
    const WordVector odd = hn::And(hn::ShiftRight<kWordBits>(value), hn::Set(d, line.odd));
    return hn::ShiftRight<kWordBits>(hn::Add(hn::Add(value, hn::Set(d, line.half)), odd));
}

HWY_INLINE int32_t round_word(const Int8Line& line, int32_t value)
{
    return (value + line.half + (value >> kWordBits & line.odd)) >> kWordBits;
}

void resize_line(const Int8Line& line)
{
    const WordBytes d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto flip = hn::Set(d, line.flip);
    uint8_t* to = line.output;
    mix_lines(line);
    for (int64_t i = 0; i < line.output_pixels; ++i, to += line.channels) {
        const PixelTap& tap = line.taps[i];
        const Weights weights(tap);
        const int32_t* left = line.words + tap.before * line.channels;
        const int32_t* right = line.words + tap.after * line.channels;
        int64_t k = 0;
        for (; k + lanes <= line.channels; k += lanes) {
            const WordVector value =
                weights.mix(hn::LoadU(Words(), left + k), hn::LoadU(Words(), right + k));
            const auto word = hn::BitCast(hn::RebindToUnsigned<Words>(), round_words(line, value));
            hn::StoreU(hn::Xor(hn::TruncateTo(d, word), flip), d, to + k);
        }
        for (; k < line.channels; ++k)
            to[k] = static_cast<uint8_t>(round_word(line, mix(left[k], right[k], tap)) ^ line.flip);
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(resize_line);

bool describe(const node& node, resize_axis axes[MAX_SHAPE_DIM_NUM], Int8Resize* out_resize)
{
    return get_ir_node_input(&node, 0)->dim_num == 4 &&
           get_ir_node_output(&node, 0)->elem_num > 0 &&
           describe_int8_resize(node, axes, out_resize) && axes[0].identity && axes[1].identity;
}

bool accepts(const node& node)
{
    Int8Resize resize;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    return describe(node, axes, &resize);
}

uint64_t tap_bytes(const KernelContext& context)
{
    const tensor& y = *context.output(0);
    const uint64_t bytes =
        (static_cast<uint64_t>(y.dims[2]) + static_cast<uint64_t>(y.dims[3])) * sizeof(PixelTap);
    return round_up(bytes, ALLOC_ALIGNMENT);
}

uint64_t line_bytes(const KernelContext& context)
{
    const tensor& x = *context.input(0);
    const uint64_t words = static_cast<uint64_t>(x.dims[3]) * static_cast<uint64_t>(x.dims[1]);
    return round_up(words * sizeof(int32_t), ALLOC_ALIGNMENT);
}

// Scratch: the taps, then a line of int32 for each worker.
int prepare(KernelContext& context)
{
    context.scratch_size =
        tap_bytes(context) +
        line_bytes(context) * static_cast<uint64_t>(get_thread_pool_size(context.pool));
    return TENGINE_OK;
}

int run(KernelContext& context)
{
    const tensor &x = *context.input(0), &y = *context.output(0);
    Int8Resize resize;
    resize_axis axes[MAX_SHAPE_DIM_NUM];
    describe(*context.node, axes, &resize);
    auto* const row_taps = static_cast<PixelTap*>(context.scratch);
    auto* const taps = row_taps + y.dims[2];
    const auto& param = context.param<resize_param>();
    find_pixel_taps(param, axes[2], x.dims[2], row_taps);
    find_pixel_taps(param, axes[3], x.dims[3], taps);
    const int64_t lines = y.dims[2], channels = x.dims[1], step = x.dims[3] * channels;
    const auto compute = HWY_DYNAMIC_DISPATCH(resize_line);
    const uint8_t flip = x.data_type == TENGINE_DT_INT8 ? 0x80 : 0;
    char* const words = static_cast<char*>(context.scratch) + tap_bytes(context);
    const uint64_t room = line_bytes(context);
    // XNNPACK rounds ties up.
    const int32_t odd = rounding_of(*context.node) == IR_ROUNDING_FLOAT ? 0 : 1;
    const int32_t half = (1 << (2 * kPixelTapBits - 1)) - odd;
    parallel_for(context.pool, y.dims[0] * lines, grain_for(2 * y.dims[3] * channels),
                 [&](int64_t begin, int64_t end, int worker) {
                     auto* own =
                         reinterpret_cast<int32_t*>(words + room * static_cast<uint64_t>(worker));
                     for (int64_t i = begin; i < end; ++i) {
                         const PixelTap& row = row_taps[i % lines];
                         const uint8_t* image = x.u8 + i / lines * x.dims[2] * step;
                         compute({image + row.before * step, image + row.after * step, row, taps,
                                  x.dims[3], y.dims[3], channels, flip, own,
                                  y.u8 + i * y.dims[3] * channels, half, odd});
                     }
                 });
    return TENGINE_OK;
}

constexpr Kernel resize_pixels_rows[] = {
    {.op = "Resize",
     .name = "resize.s8.linear_nhwc",
     .accepts = accepts,
     .run = run,
     .prepare = prepare,
     .layout = Layout::kChannelsLast},
};

}  // namespace

extern const KernelTable resize_pixels_kernels;
const KernelTable resize_pixels_kernels = make_table<resize_pixels_rows>();

}  // namespace tengine::cpu
#endif  // HWY_ONCE

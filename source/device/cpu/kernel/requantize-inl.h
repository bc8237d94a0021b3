// SPDX-License-Identifier: Apache-2.0
// Requantisation of vectors, the bits of tengine/fixed_point.h. Included once for each instruction
// set.
//
// A sum times the factor as a float is within 3 * 2^-24 of the exact product, relatively: the sum,
// the factor and the product are rounded; and the zero point is added with another 2^-24. As long
// as the result is a byte, that is at most (4 * 255 + 255) * 2^-24 < 2^-13.6. So the nearest
// integer of the float is that of the exact number unless the float lies within kTieWidth of the
// middle between two. Where one does, all lanes of its vector are computed in integers, which is as
// rare as two in ten thousand sums, unless the factor is a power of two. (Where the exact number is
// in the middle, it also matters which of its neighbours is even before the zero point is added.)
#include <cstdint>

#include "device/cpu/kernel/requantization.h"

// clang-format off
#if defined(TENGINE_CPU_REQUANTIZE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_REQUANTIZE
#undef TENGINE_CPU_REQUANTIZE
#else
#define TENGINE_CPU_REQUANTIZE
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Integers = hn::ScalableTag<int32_t>;
using IntegerVector = hn::Vec<Integers>;
using Scales = hn::Repartition<float, Integers>;
using ScaleVector = hn::Vec<Scales>;
using Bytes = hn::Rebind<uint8_t, Integers>;

// What a byte can be.
struct ByteBounds
{
    ScaleVector lowest, highest, zero_point;

    HWY_INLINE explicit ByteBounds(const ByteRange& range)
        : lowest(hn::Set(Scales(), static_cast<float>(range.lowest))),
          highest(hn::Set(Scales(), static_cast<float>(range.highest))),
          zero_point(hn::Set(Scales(), static_cast<float>(range.zero_point)))
    {
    }
};

// The nearest integers of these real numbers, to which the zero point has been added, within the
// bounds. *is_tie: one is so near to the middle between two, `width` at most, that the exact number
// may be there or beyond it.
HWY_INLINE IntegerVector round_to_bytes(const ByteBounds& bounds, ScaleVector real, float width,
                                        bool* is_tie)
{
    const Scales d;
    const ScaleVector clipped = hn::Min(hn::Max(real, bounds.lowest), bounds.highest);
    const IntegerVector rounded = hn::NearestInt(clipped);
    const ScaleVector distance = hn::Abs(hn::Sub(clipped, hn::ConvertTo(d, rounded)));
    *is_tie = !hn::AllFalse(d, hn::Gt(distance, hn::Set(d, 0.5f - width)));
    return rounded;
}

// The first `count` of the bytes; all where it is at least as many.
HWY_INLINE void store_bytes(IntegerVector values, int64_t count, uint8_t* to)
{
    const Bytes d;
    const auto bytes = hn::TruncateTo(d, hn::BitCast(hn::RebindToUnsigned<Integers>(), values));
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(bytes, d, to);
    HWY_ALIGN uint8_t all[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(bytes, d, all);
    for (int64_t i = 0; i < count; ++i)
        to[i] = all[i];
}

inline HWY_NOINLINE void requantize_vector_exactly(const ByteRange& range, IntegerVector sums,
                                                   const ir_multiplier_t* multipliers,
                                                   int64_t count, uint8_t* to)
{
    HWY_ALIGN int32_t all[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(sums, Integers(), all);
    requantize_exactly(range, all, multipliers,
                       HWY_MIN(count, static_cast<int64_t>(hn::Lanes(Integers()))), to);
}

// `count` sums, the first of a vector, whose factors are those of `multipliers`, one for each.
HWY_INLINE void requantize_vector(const ByteRange& range, const ByteBounds& bounds,
                                  IntegerVector sums, ScaleVector scales,
                                  const ir_multiplier_t* multipliers, int64_t count, uint8_t* to)
{
    bool is_tie;
    const ScaleVector real = hn::MulAdd(hn::ConvertTo(Scales(), sums), scales, bounds.zero_point);
    const IntegerVector bytes = round_to_bytes(bounds, real, kTieWidth, &is_tie);
    if (HWY_UNLIKELY(is_tie)) return requantize_vector_exactly(range, sums, multipliers, count, to);
    store_bytes(bytes, count, to);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_REQUANTIZE

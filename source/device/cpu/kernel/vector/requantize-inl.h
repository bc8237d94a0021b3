// SPDX-License-Identifier: Apache-2.0
// Requantisation of accumulators of 32 bits to int8 or uint8, with the results of
// tengine/fixed_point.h bit by bit. Included once for each instruction set, except for those whose
// vectors have one lane.
//
// An accumulator times its scale is added to 256 and the zero point, so that all results are floats
// from 256 to below 512, whose lowest bit is 2^-15: the bits of such a float are an integer with 15
// bits of the fraction. They are within 2 * 2^-15 of the exact number: the accumulator, the scale
// and (without multiply-add) the product are rounded to 2^-24 of a number below 2^8, the result to
// 2^-16. So the nearest integer is that of the exact number unless the fraction is within kTieBits
// of a half. If it is, that lane is computed in integers, which happens once in ten thousand
// results unless scales are powers of two. A number beyond the range of the type is so in the bits
// of the float, too, and is saturated when they are packed, except for floats below 0.
//
// A product of IR_ROUNDING_FLOAT is rounded as it is, before that sum. Results of IR_ROUNDING_TWICE
// are all computed in integers.
#include <cstdint>

#include "device/cpu/kernel/vector/requantization.h"

// clang-format off
#if defined(TENGINE_CPU_REQUANTIZE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_REQUANTIZE
#undef TENGINE_CPU_REQUANTIZE
#else
#define TENGINE_CPU_REQUANTIZE
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/demote_words-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The vectors of a block of kBytes channels.
template <int kBytes>
struct Lanes
{
    static constexpr int kWidth = kBytes;
    using Bytes = hn::FixedTag<uint8_t, kBytes>;
    using Pairs = hn::FixedTag<int16_t, kBytes / 2>;
    using Integers = hn::FixedTag<int32_t, kBytes / 4>;
    using Reals = hn::FixedTag<float, kBytes / 4>;
    using ByteVector = hn::Vec<Bytes>;
    using PairVector = hn::Vec<Pairs>;
    using IntegerVector = hn::Vec<Integers>;
    using RealVector = hn::Vec<Reals>;
};

// Packs elements of 16 bits that fit a byte: each part of 16 bytes has first those of `low`, then
// those of `high`.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
HWY_INLINE hn::Vec128<uint8_t> pack_bytes(hn::Vec128<int16_t> low, hn::Vec128<int16_t> high)
{
    return hn::Vec128<uint8_t>{_mm_packus_epi16(low.raw, high.raw)};
}
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE hn::Vec256<uint8_t> pack_bytes(hn::Vec256<int16_t> low, hn::Vec256<int16_t> high)
{
    return hn::Vec256<uint8_t>{_mm256_packus_epi16(low.raw, high.raw)};
}
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<uint8_t> pack_bytes(hn::Vec512<int16_t> low, hn::Vec512<int16_t> high)
{
    return hn::Vec512<uint8_t>{_mm512_packus_epi16(low.raw, high.raw)};
}
#endif
#else
template <class V>
HWY_INLINE auto pack_bytes(V low, V high)
{
    const hn::FixedTag<uint8_t, 8> half;
    return hn::Combine(hn::FixedTag<uint8_t, 16>(), hn::DemoteTo(half, high),
                       hn::DemoteTo(half, low));
}
#endif

template <class L>
struct Int8Scaling
{
    using RealVector = typename L::RealVector;
    using IntegerVector = typename L::IntegerVector;

    static constexpr int kFraction = 15;
    static constexpr int32_t kLowestBits = 0x43800000;  // of kLowestInt8Float
    static constexpr int32_t kMask = (1 << kFraction) - 1;
    static constexpr int32_t kTieBits = 1;
    static constexpr float kWhole = 3 << 22;           // floats near it are whole numbers
    static constexpr int32_t kWholeBits = 0x4b400000;  // of kWhole
    static constexpr float kMostProduct = 1024;        // far outside of a byte

    RealVector zero;
    IntegerVector offset, mask, whole_offset;
    typename L::ByteVector flip;
    ir_rounding_t rounding;

    // Results are made unsigned; stored ones have the sign bit of the type again.
    HWY_INLINE explicit Int8Scaling(const Int8Range& range) : rounding(range.rounding)
    {
        const typename L::Integers d;
        const int32_t zero_byte = range.zero_point - range.lowest;
        zero = hn::Set(typename L::Reals(), kLowestInt8Float + static_cast<float>(zero_byte));
        whole_offset = hn::Set(d, zero_byte - kWholeBits);
        offset = find_offset(kTieBits);
        mask = hn::Set(d, kMask);
        flip = hn::Set(typename L::Bytes(), static_cast<uint8_t>(range.lowest < 0 ? 0x80 : 0));
    }

    static HWY_INLINE IntegerVector find_offset(int32_t tie_bits)
    {
        return hn::Set(typename L::Integers(), (1 << (kFraction - 1)) + tie_bits - kLowestBits);
    }

    // *fraction before the first of the numbers whose minimum it is.
    HWY_INLINE IntegerVector no_fraction() const { return mask; }

    // Scales accumulators for packing. *fraction becomes the minimum of it and the fractions of
    // these numbers, to which a half and kTieBits have been added.
    HWY_INLINE IntegerVector operator()(IntegerVector sums, RealVector scales,
                                        IntegerVector* fraction) const
    {
        const typename L::Reals d;
        const RealVector real = hn::ConvertTo(d, sums);
        if (HWY_LIKELY(rounding == IR_ROUNDING_NEAREST))
            return round(hn::MulAdd(real, scales, zero), offset, fraction);
        if (rounding == IR_ROUNDING_TWICE) *fraction = hn::Zero(typename L::Integers());
        return round_product(hn::Mul(real, scales));
    }
    // Rounds a product that has been rounded to a float before, ties to even: in the sum with a
    // number whose last place is 1. No such result is exact, so there is no fraction to look at.
    HWY_INLINE IntegerVector round_product(RealVector product) const
    {
        const typename L::Reals d;
        const RealVector most = hn::Set(d, kMostProduct);
        const RealVector kept = hn::Min(hn::Max(product, hn::Neg(most)), most);
        const RealVector whole = hn::Add(kept, hn::Set(d, kWhole));
        return hn::Add(hn::BitCast(typename L::Integers(), whole), whole_offset);
    }
    // The same of floats, with an offset that has other kTieBits.
    HWY_INLINE IntegerVector round(RealVector real, IntegerVector real_offset,
                                   IntegerVector* fraction) const
    {
        const typename L::Reals d;
        const IntegerVector bits = hn::BitCast(typename L::Integers(), hn::Max(real, hn::Zero(d)));
        const IntegerVector fixed = hn::Add(bits, real_offset);
        *fraction = hn::Min(*fraction, hn::And(fixed, mask));
        return hn::ShiftRight<kFraction>(fixed);
    }

    // Whether an exact number may be on the other side of a tie.
    static HWY_INLINE bool is_tie(IntegerVector fraction, int32_t tie_bits = kTieBits)
    {
        const typename L::Integers d;
        return !hn::AllFalse(d, hn::Lt(fraction, hn::Set(d, 2 * tie_bits + 1)));
    }

    HWY_INLINE typename L::ByteVector pack(typename L::PairVector low,
                                           typename L::PairVector high) const
    {
        return hn::Xor(pack_bytes(low, high), flip);
    }
};

// Reorders packed bytes to those of the first vector of integers, of the second, the third and the
// fourth.
template <class L>
HWY_INLINE typename L::ByteVector put_in_order(typename L::ByteVector bytes)
{
    constexpr int kParts = L::kWidth / 16;  // of 16 bytes, each with four of every vector
    if constexpr (kParts == 1) {
        return bytes;
    } else {
        const hn::Repartition<uint32_t, typename L::Bytes> d;
        int32_t from[4 * kParts];
        for (int i = 0; i < 4 * kParts; ++i)
            from[i] = i % kParts * 4 + i / kParts;
        return hn::BitCast(typename L::Bytes(), hn::TableLookupLanes(hn::BitCast(d, bytes),
                                                                     hn::SetTableIndices(d, from)));
    }
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
#endif  // TENGINE_CPU_REQUANTIZE

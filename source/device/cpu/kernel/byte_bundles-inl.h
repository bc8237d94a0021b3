// SPDX-License-Identifier: Apache-2.0
// The vectors of byte_depthwise_impl.cc: bundles, their products, and bytes of the sums. Included
// once for each instruction set, except for what has vectors of one lane.
#include <cstdint>

#include "device/cpu/kernel/requantization.h"

// clang-format off
#if defined(TENGINE_CPU_BYTE_BUNDLES) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_BYTE_BUNDLES
#undef TENGINE_CPU_BYTE_BUNDLES
#else
#define TENGINE_CPU_BYTE_BUNDLES
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/demote_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Of a block of kBytes channels.
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

// Bundles of two rows.
template <class L>
struct PairSet
{
    static constexpr int kRows = 2;
    using Operand = typename L::PairVector;
    using Integers = typename L::IntegerVector;

    static HWY_INLINE Operand load(const char* from)
    {
        return hn::LoadU(typename L::Pairs(), reinterpret_cast<const int16_t*>(from));
    }
    static HWY_INLINE void interleave(const typename L::ByteVector* rows, uint8_t* to)
    {
        const typename L::Bytes d;
        const auto none = hn::Zero(d);
        const auto low = hn::InterleaveLower(d, rows[0], rows[1]);
        const auto high = hn::InterleaveUpper(d, rows[0], rows[1]);
        hn::StoreU(hn::InterleaveLower(d, low, none), d, to);
        hn::StoreU(hn::InterleaveUpper(d, low, none), d, to + L::kWidth);
        hn::StoreU(hn::InterleaveLower(d, high, none), d, to + 2 * L::kWidth);
        hn::StoreU(hn::InterleaveUpper(d, high, none), d, to + 3 * L::kWidth);
    }
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    // Both products of a pair are in its lane.
    using Sum = Integers;
    static HWY_INLINE Sum start(Integers value)
    {
        return value;
    }
    static HWY_INLINE void add(Operand input, Operand weights, Sum& sum)
    {
        Integers none = hn::Zero(typename L::Integers());
        sum = hn::ReorderWidenMulAccumulate(typename L::Integers(), input, weights, sum, none);
    }
    static HWY_INLINE Integers finish(const Sum& sum, Integers)
    {
        return sum;
    }
#else
    // Which product is in which of the two depends on the instruction set.
    struct Sum
    {
        Integers even, odd;

        // One that is implied is not for the instruction set that vectors are for (gcc 12).
        HWY_INLINE Sum() {}
    };
    static HWY_INLINE Sum start(Integers)
    {
        Sum sum;
        sum.even = sum.odd = hn::Zero(typename L::Integers());
        return sum;
    }
    static HWY_INLINE void add(Operand input, Operand weights, Sum& sum)
    {
        sum.even = hn::ReorderWidenMulAccumulate(typename L::Integers(), input, weights, sum.even,
                                                 sum.odd);
    }
    static HWY_INLINE Integers finish(const Sum& sum, Integers value)
    {
        return hn::Add(hn::RearrangeToOddPlusEven(sum.even, sum.odd), value);
    }
#endif
};

#if HWY_TARGET == HWY_AVX3

// Bundles of four rows. Highway 1.0 has no such instruction, and the compiler may not use it in
// functions for AVX3, some of whose processors lack it.
template <class L>
struct QuadSet
{
    static constexpr int kRows = 4;
    using Operand = typename L::IntegerVector;
    using Sum = typename L::IntegerVector;

    static HWY_INLINE Operand load(const char* from)
    {
        return hn::LoadU(typename L::Integers(), reinterpret_cast<const int32_t*>(from));
    }
    static HWY_INLINE void interleave(const typename L::ByteVector* rows, uint8_t* to)
    {
        const typename L::Bytes d;
        const hn::Repartition<uint16_t, typename L::Bytes> d16;
        const auto pairs = [&](auto bytes) { return hn::BitCast(d16, bytes); };
        const auto store = [&](auto quads, int at) {
            hn::StoreU(hn::BitCast(d, quads), d, to + at * L::kWidth);
        };
        const auto low = pairs(hn::InterleaveLower(d, rows[0], rows[1]));
        const auto high = pairs(hn::InterleaveUpper(d, rows[0], rows[1]));
        const auto next_low = pairs(hn::InterleaveLower(d, rows[2], rows[3]));
        const auto next_high = pairs(hn::InterleaveUpper(d, rows[2], rows[3]));
        store(hn::InterleaveLower(d16, low, next_low), 0);
        store(hn::InterleaveUpper(d16, low, next_low), 1);
        store(hn::InterleaveLower(d16, high, next_high), 2);
        store(hn::InterleaveUpper(d16, high, next_high), 3);
    }
    static HWY_INLINE Sum start(Sum value) { return value; }
    static HWY_INLINE void add(Operand input, Operand weights, Sum& sum)
    {
        auto raw = sum.raw;
        __asm__("vpdpbusd %2, %1, %0" : "+v"(raw) : "v"(input.raw), "v"(weights.raw));
        sum = Sum{raw};
    }
    static HWY_INLINE Sum finish(Sum sum, Sum) { return sum; }
};

#endif

// Sixteen bits, which fit a byte, to bytes: of each part of 16 bytes first those of `low`, then
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

// Sums to bytes, the bits of tengine/fixed_point.h. A sum times its scale is added to kMagic, whose
// lowest bit as a float is 2^-13: after that the bits of the float are an integer with as many of
// the fraction. Within 2^8, which is what a byte and its zero point reach, they are within 2^-13 of
// the exact product: sum and scale are rounded to 2^-24 of them each, the product at most so, the
// result to 2^-14; together 7/8 of 2^-13. So the nearest integer is that of the exact product
// unless the fraction is just a half. Where one is, all lanes of its vector are computed in
// integers, which is as rare as twelve in a hundred thousand sums, unless scales are powers of two.
// What is beyond the range of bytes is so in the bits of the float too, and is saturated where
// they are packed, except for floats below 0.
template <class L>
struct ByteScaling
{
    using RealVector = typename L::RealVector;
    using IntegerVector = typename L::IntegerVector;

    static constexpr int kFraction = 13;
    static constexpr float kMagic = 3 << 9;
    static constexpr int32_t kMagicBits = 0x44c00000;
    static constexpr int32_t kMask = (1 << kFraction) - 1;

    RealVector magic, least;
    IntegerVector offset, mask;
    typename L::ByteVector flip;

    // Bytes are made unsigned, and what is stored has the sign bit of the type again.
    HWY_INLINE explicit ByteScaling(const ByteRange& range)
    {
        const typename L::Integers d;
        magic = hn::Set(typename L::Reals(), kMagic);
        least = hn::Set(typename L::Reals(), kMagic - 256);
        const int32_t zero = range.zero_point - range.lowest;
        offset = hn::Set(d, (zero << kFraction) + (1 << (kFraction - 1)) - kMagicBits);
        mask = hn::Set(d, kMask);
        flip = hn::Set(typename L::Bytes(), static_cast<uint8_t>(range.lowest < 0 ? 0x80 : 0));
    }

    // *fraction before the first of the numbers that it is the least of.
    HWY_INLINE IntegerVector no_fraction() const { return mask; }

    // What is to be packed. *fraction becomes the least of it and the fractions of these numbers,
    // to which a half has been added.
    HWY_INLINE IntegerVector operator()(IntegerVector sums, RealVector scales,
                                        IntegerVector* fraction) const
    {
        const typename L::Integers d;
        const RealVector real = hn::MulAdd(hn::ConvertTo(typename L::Reals(), sums), scales, magic);
        const IntegerVector fixed = hn::Add(hn::BitCast(d, hn::Max(real, least)), offset);
        *fraction = hn::Min(*fraction, hn::And(fixed, mask));
        return hn::ShiftRight<kFraction>(fixed);
    }

    // Whether an exact number may lie on the other side of the middle between two integers.
    static HWY_INLINE bool is_tie(IntegerVector fraction)
    {
        const typename L::Integers d;
        return !hn::AllFalse(d, hn::Eq(fraction, hn::Zero(d)));
    }

    HWY_INLINE typename L::ByteVector pack(typename L::PairVector low,
                                           typename L::PairVector high) const
    {
        return hn::Xor(pack_bytes(low, high), flip);
    }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_BYTE_BUNDLES

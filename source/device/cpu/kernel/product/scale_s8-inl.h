// SPDX-License-Identifier: Apache-2.0
// Sums of 16 bits times a factor, the bits of tengine/fixed_point.h without a floating-point
// number. Included once for each instruction set that has vectors.
//
// A product with a factor of 31 bits does not fit a lane of 32: the factor is split into high bits
// and 16 low ones, and the product is high * 2^16 + low. Rounding adds a half and shifts; from an
// odd result one unit is taken away before, which makes a tie even and nothing else different.
#include <cstdint>

#include "tengine/fixed_point.h"

// clang-format off
#if defined(TENGINE_CPU_BYTE_SCALE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_BYTE_SCALE
#undef TENGINE_CPU_BYTE_SCALE
#else
#define TENGINE_CPU_BYTE_SCALE
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/demote_words-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// (high * 2^16 + low) / 2^(16 + shift), ties to even. `high` has half of the divisor added.
template <class D, class V>
HWY_INLINE V divide_sum(D d, V high, V low, int shift)
{
    const V rounded = hn::ShiftRightSame(hn::Add(high, hn::ShiftRight<16>(low)), shift);
    const V odd = hn::And(rounded, hn::Set(d, 1));
    return hn::ShiftRightSame(hn::Add(high, hn::ShiftRight<16>(hn::Sub(low, odd))), shift);
}

// D: of int16.
template <class D>
class MagnitudeScale
{
  public:
    using Vector = hn::Vec<D>;

    // A sum of 16 bits becomes 0 by all shifts above 47, and is larger than a byte by all below 17.
    HWY_INLINE explicit MagnitudeScale(ir_multiplier_t multiplier)
        : shift_(HWY_MIN(HWY_MAX(multiplier.shift - 16, 1), 31))
    {
        const Unsigned d;
        const int32_t factor = multiplier.shift > 47 ? 0 : multiplier.factor;
        high_ = hn::Set(d, static_cast<uint32_t>(factor >> 16));
        low_ = hn::Set(d, static_cast<uint32_t>(factor & 0xffff));
        half_ = hn::Set(d, (1u << (shift_ - 1)) - 1);
        carry_ = hn::Set(d, 1u << 16);
    }

    // Scales unsigned magnitudes, with the signs of these lanes: 0 or -1.
    HWY_INLINE Vector operator()(Vector magnitudes, Vector signs) const
    {
        const D d;
        const Vector none = hn::Zero(d);
        const Vector quotient = demote_words(d, scale(hn::InterleaveLower(d, magnitudes, none)),
                                             scale(hn::InterleaveUpper(d, magnitudes, none)));
        return hn::Sub(hn::Xor(quotient, signs), signs);
    }

  private:
    using Words = hn::RepartitionToWide<D>;
    using Unsigned = hn::RebindToUnsigned<Words>;
    using UnsignedVector = hn::Vec<Unsigned>;

    // A unit of `high` is taken to `low`, which then has one to be taken away.
    HWY_INLINE hn::Vec<Words> scale(Vector magnitudes) const
    {
        const Unsigned d;
        const UnsignedVector each = hn::BitCast(d, magnitudes);
        return hn::BitCast(Words(), divide_sum(d, hn::Add(hn::Mul(each, high_), half_),
                                               hn::Add(hn::Mul(each, low_), carry_), shift_));
    }

    UnsignedVector high_, low_, half_, carry_;
    int shift_;
};

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
#endif  // TENGINE_CPU_BYTE_SCALE

// SPDX-License-Identifier: Apache-2.0
// The vectors of depthwise_s8-inl.h: bundles and their products. Included once for each
// instruction set, except for those whose vectors have one lane.
#include <cstdint>

// clang-format off
#if defined(TENGINE_CPU_BYTE_BUNDLES) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_BYTE_BUNDLES
#undef TENGINE_CPU_BYTE_BUNDLES
#else
#define TENGINE_CPU_BYTE_BUNDLES
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/requantize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

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

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_BYTE_BUNDLES

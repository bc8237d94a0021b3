// SPDX-License-Identifier: Apache-2.0
// Operations of Highway that compute each lane by itself.
#include <gtest/gtest.h>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vector_operations/arithmetic_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "vector_operations/checks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {

#define TENGINE_CHECK(name, vector, lane) \
    check(name, tag, tag, TENGINE_VECTOR(vector), TENGINE_LANE(lane))

struct EveryType
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        TENGINE_CHECK("Add", hn::Add(a, b), add<T>(a[i], b[i]));
        TENGINE_CHECK("Sub", hn::Sub(a, b), subtract<T>(a[i], b[i]));
        TENGINE_CHECK("And", hn::And(a, b), from_bits<T>(bits_of(a[i]) & bits_of(b[i])));
        TENGINE_CHECK("Or", hn::Or(a, b), from_bits<T>(bits_of(a[i]) | bits_of(b[i])));
        TENGINE_CHECK("Xor", hn::Xor(a, b), from_bits<T>(bits_of(a[i]) ^ bits_of(b[i])));
        TENGINE_CHECK("AndNot", hn::AndNot(a, b), from_bits<T>(~bits_of(a[i]) & bits_of(b[i])));
        TENGINE_CHECK("Min", hn::Min(a, b), a[i] < b[i] ? a[i] : b[i]);
        TENGINE_CHECK("Max", hn::Max(a, b), a[i] > b[i] ? a[i] : b[i]);
        TENGINE_CHECK("Zero", hn::Zero(d), T{0});
        TENGINE_CHECK("Set and GetLane", hn::Set(d, hn::GetLane(a)), a[0]);
        TENGINE_CHECK("Eq", hn::IfThenElse(hn::Eq(a, b), a, c), a[i] == b[i] ? a[i] : c[i]);
        TENGINE_CHECK("IfThenElseZero", hn::IfThenElseZero(hn::Eq(a, b), c),
                      a[i] == b[i] ? c[i] : T{0});
        TENGINE_CHECK("IfThenZeroElse", hn::IfThenZeroElse(hn::Eq(a, b), c),
                      a[i] == b[i] ? T{0} : c[i]);
        TENGINE_CHECK("VecFromMask", hn::VecFromMask(d, hn::Eq(a, b)),
                      from_bits<T>(a[i] == b[i] ? ~uint64_t{0} : 0));
    }
};

struct SignedType
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        TENGINE_CHECK("Neg", hn::Neg(a), subtract<T>(0, a[i]));
        TENGINE_CHECK("Abs", hn::Abs(a), a[i] < 0 ? subtract<T>(0, a[i]) : a[i]);
        TENGINE_CHECK("Lt", hn::IfThenElse(hn::Lt(a, b), a, c), a[i] < b[i] ? a[i] : c[i]);
        TENGINE_CHECK("Gt", hn::IfThenElse(hn::Gt(a, b), a, c), a[i] > b[i] ? a[i] : c[i]);
    }
};

struct Products
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        TENGINE_CHECK("Mul", hn::Mul(a, b), multiply<T>(a[i], b[i]));
    }
};

struct Saturation
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        TENGINE_CHECK("SaturatedAdd", hn::SaturatedAdd(a, b), saturate<T>(int32_t{a[i]} + b[i]));
        TENGINE_CHECK("SaturatedSub", hn::SaturatedSub(a, b), saturate<T>(int32_t{a[i]} - b[i]));
    }
};

struct Bits
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        constexpr int kHalf = static_cast<int>(sizeof(T)) * 4;
        TENGINE_CHECK("Not", hn::Not(a), static_cast<T>(~a[i]));
        TENGINE_CHECK("TestBit", hn::IfThenElse(hn::TestBit(a, hn::Set(d, T{4})), b, c),
                      a[i] & 4 ? b[i] : c[i]);
        if constexpr (sizeof(T) > 1) {
            TENGINE_CHECK("ShiftLeft<1>", hn::ShiftLeft<1>(a), multiply<T>(a[i], 2));
            TENGINE_CHECK("ShiftLeft of half", hn::ShiftLeft<kHalf>(a),
                          static_cast<T>(static_cast<uint64_t>(a[i]) << kHalf));
            TENGINE_CHECK("ShiftRight<3>", hn::ShiftRight<3>(a), static_cast<T>(a[i] >> 3));
            TENGINE_CHECK("ShiftRight of half", hn::ShiftRight<kHalf>(a),
                          static_cast<T>(a[i] >> kHalf));
            for (int bits : {0, 1, 7, 2 * kHalf - 1})
                check(
                    "ShiftRightSame", tag, tag,
                    [bits](auto, auto, auto a, auto, auto) { return hn::ShiftRightSame(a, bits); },
                    [bits](const auto* a, const auto*, const auto*, size_t i, size_t) {
                        return static_cast<T>(a[i] >> bits);
                    });
        }
    }
};

struct SignBits
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        TENGINE_CHECK("BroadcastSignBit", hn::BroadcastSignBit(a), static_cast<T>(-(a[i] < 0)));
    }
};

// Quarters of small integers, whose products and sums need no rounding, fused or not.
template <class D, class V>
HWY_INLINE auto quarter(D d, V v)
{
    return hn::Mul(hn::Round(hn::Mul(v, hn::Set(d, 0.25f))), hn::Set(d, 0.25f));
}

float quarter(float value)
{
    return std::nearbyint(value * 0.25f) * 0.25f;
}

struct Floats
{
    template <class D>
    static void run(D tag)
    {
        const hn::RebindToSigned<D> integers;
#if !HWY_ARCH_ARM_V7  // which has approximations
        TENGINE_CHECK("Div", hn::Div(a, hn::Add(hn::Abs(b), hn::Set(d, 0.5f))),
                      a[i] / (std::fabs(b[i]) + 0.5f));
        TENGINE_CHECK("Sqrt", hn::Sqrt(hn::Abs(a)), std::sqrt(std::fabs(a[i])));
#endif
        TENGINE_CHECK("Round", hn::Round(a), std::nearbyint(a[i]));
        TENGINE_CHECK("Floor", hn::Floor(a), std::floor(a[i]));
        TENGINE_CHECK("Ceil", hn::Ceil(a), std::ceil(a[i]));
        TENGINE_CHECK("CopySign", hn::CopySign(a, b), std::copysign(a[i], b[i]));
        TENGINE_CHECK("MulAdd", hn::MulAdd(quarter(d, a), quarter(d, b), quarter(d, c)),
                      quarter(a[i]) * quarter(b[i]) + quarter(c[i]));
        TENGINE_CHECK("NegMulAdd", hn::NegMulAdd(quarter(d, a), quarter(d, b), quarter(d, c)),
                      quarter(c[i]) - quarter(a[i]) * quarter(b[i]));
        TENGINE_CHECK("MulSub", hn::MulSub(quarter(d, a), quarter(d, b), quarter(d, c)),
                      quarter(a[i]) * quarter(b[i]) - quarter(c[i]));
        // All ones are a NaN.
        TENGINE_CHECK("IsNaN",
                      hn::IfThenElse(hn::IsNaN(hn::Or(hn::VecFromMask(d, hn::Lt(a, b)), a)), b, c),
                      a[i] < b[i] ? b[i] : c[i]);
        check("NearestInt", tag, integers, TENGINE_VECTOR(hn::NearestInt(a)),
              TENGINE_LANE(static_cast<int32_t>(std::nearbyint(a[i]))));
        check("RebindMask", tag, integers,
              TENGINE_VECTOR(hn::IfThenElseZero(hn::RebindMask(to, hn::Lt(a, b)), hn::Set(to, 7))),
              TENGINE_LANE(a[i] < b[i] ? 7 : 0));
    }
};

// One more lane than the width has is none.
struct FirstLanes
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        for (size_t count = 0; count <= hn::Lanes(tag); ++count) {
            check(
                "MaskedLoad and FirstN", tag, tag,
                [count](auto d, auto, auto a, auto, auto) {
                    T from[kMostLanes];
                    hn::StoreU(a, d, from);
                    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
                },
                [count](const auto* a, const auto*, const auto*, size_t i, size_t) {
                    return i < count ? a[i] : T{0};
                });
            check(
                "BlendedStore and FirstN", tag, tag,
                [count](auto d, auto, auto a, auto b, auto) {
                    T to[kMostLanes];
                    hn::StoreU(b, d, to);
                    hn::BlendedStore(a, hn::FirstN(d, count), d, to);
                    return hn::LoadU(d, to);
                },
                [count](const auto* a, const auto* b, const auto*, size_t i, size_t) {
                    return i < count ? a[i] : b[i];
                });
            check(
                "AllFalse and FirstN", tag, tag,
                [count](auto d, auto, auto, auto, auto) {
                    return hn::Set(d, static_cast<T>(hn::AllFalse(d, hn::FirstN(d, count))));
                },
                [count](const auto*, const auto*, const auto*, size_t, size_t) {
                    return static_cast<T>(count == 0);
                });
        }
    }
};

void check_arithmetic()
{
    for_each_type<EveryType, uint8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, float>();
    for_each_type<SignedType, int16_t, int32_t, float>();
    for_each_type<Products, uint16_t, int16_t, uint32_t, int32_t, float>();
    for_each_type<Saturation, uint8_t, uint16_t, int16_t>();
    for_each_type<Bits, uint8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t>();
    for_each_type<SignBits, int16_t, int32_t>();
    for_each_type<Floats, float>();
    for_each_type<FirstLanes, uint8_t, uint16_t, int32_t, float>();
}

}  // namespace tengine::vector_operations::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "vector_operations/targets.h"

namespace tengine::vector_operations {
namespace {

HWY_EXPORT(check_arithmetic);

TEST(VectorOperations, ComputeEachLane)
{
    for_each_target([] { HWY_DYNAMIC_DISPATCH(check_arithmetic)(); });
}

}  // namespace
}  // namespace tengine::vector_operations
#endif  // HWY_ONCE

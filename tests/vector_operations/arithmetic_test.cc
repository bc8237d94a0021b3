// SPDX-License-Identifier: Apache-2.0
// Operations of Highway that compute each lane independently.
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

namespace {

#define TENGINE_EVERY_TYPE(CHECK)                                                            \
    CHECK("Add", hn::Add(a, b), add<T>(a[i], b[i]))                                          \
    CHECK("Sub", hn::Sub(a, b), subtract<T>(a[i], b[i]))                                     \
    CHECK("And", hn::And(a, b), from_bits<T>(bits_of(a[i]) & bits_of(b[i])))                 \
    CHECK("Or", hn::Or(a, b), from_bits<T>(bits_of(a[i]) | bits_of(b[i])))                   \
    CHECK("Xor", hn::Xor(a, b), from_bits<T>(bits_of(a[i]) ^ bits_of(b[i])))                 \
    CHECK("AndNot", hn::AndNot(a, b), from_bits<T>(~bits_of(a[i]) & bits_of(b[i])))          \
    CHECK("Min", hn::Min(a, b), a[i] < b[i] ? a[i] : b[i])                                   \
    CHECK("Max", hn::Max(a, b), a[i] > b[i] ? a[i] : b[i])                                   \
    CHECK("Zero", hn::Zero(d), T{0})                                                         \
    CHECK("Set and GetLane", hn::Set(d, hn::GetLane(a)), a[0])                               \
    CHECK("Eq", hn::IfThenElse(hn::Eq(a, b), a, c), a[i] == b[i] ? a[i] : c[i])              \
    CHECK("IfThenElseZero", hn::IfThenElseZero(hn::Eq(a, b), c), a[i] == b[i] ? c[i] : T{0}) \
    CHECK("IfThenZeroElse", hn::IfThenZeroElse(hn::Eq(a, b), c), a[i] == b[i] ? T{0} : c[i]) \
    CHECK("VecFromMask", hn::VecFromMask(d, hn::Eq(a, b)),                                   \
          from_bits<T>(a[i] == b[i] ? ~uint64_t{0} : 0))
struct EveryType : SameType
{
    TENGINE_OPERATIONS(TENGINE_EVERY_TYPE)
};

#define TENGINE_SIGNED_TYPE(CHECK)                                             \
    CHECK("Neg", hn::Neg(a), subtract<T>(0, a[i]))                             \
    CHECK("Abs", hn::Abs(a), a[i] < 0 ? subtract<T>(0, a[i]) : a[i])           \
    CHECK("Lt", hn::IfThenElse(hn::Lt(a, b), a, c), a[i] < b[i] ? a[i] : c[i]) \
    CHECK("Gt", hn::IfThenElse(hn::Gt(a, b), a, c), a[i] > b[i] ? a[i] : c[i])
struct SignedType : SameType
{
    TENGINE_OPERATIONS(TENGINE_SIGNED_TYPE)
};

#define TENGINE_PRODUCTS(CHECK) CHECK("Mul", hn::Mul(a, b), multiply<T>(a[i], b[i]))
struct Products : SameType
{
    TENGINE_OPERATIONS(TENGINE_PRODUCTS)
};

#define TENGINE_SATURATION(CHECK)                                                    \
    CHECK("SaturatedAdd", hn::SaturatedAdd(a, b), saturate<T>(int32_t{a[i]} + b[i])) \
    CHECK("SaturatedSub", hn::SaturatedSub(a, b), saturate<T>(int32_t{a[i]} - b[i]))
struct Saturation : SameType
{
    TENGINE_OPERATIONS(TENGINE_SATURATION)
};

#define TENGINE_BITS(CHECK)                         \
    CHECK("Not", hn::Not(a), static_cast<T>(~a[i])) \
    CHECK("TestBit", hn::IfThenElse(hn::TestBit(a, hn::Set(d, T{4})), b, c), a[i] & 4 ? b[i] : c[i])
struct Bits : SameType
{
    TENGINE_OPERATIONS(TENGINE_BITS)
};

template <class T>
constexpr int kHalf = static_cast<int>(sizeof(T)) * 4;

#define TENGINE_SHIFTS(CHECK)                                               \
    CHECK("ShiftLeft<1>", hn::ShiftLeft<1>(a), multiply<T>(a[i], 2))        \
    CHECK("ShiftLeft of half", hn::ShiftLeft<kHalf<T>>(a),                  \
          static_cast<T>(static_cast<uint64_t>(a[i]) << kHalf<T>))          \
    CHECK("ShiftRight<3>", hn::ShiftRight<3>(a), static_cast<T>(a[i] >> 3)) \
    CHECK("ShiftRight of half", hn::ShiftRight<kHalf<T>>(a), static_cast<T>(a[i] >> kHalf<T>))
struct Shifts : SameType
{
    TENGINE_OPERATIONS(TENGINE_SHIFTS)
};

#define TENGINE_SHIFTS_BY_VARIABLES(CHECK) \
    CHECK("ShiftRightSame", hn::ShiftRightSame(a, static_cast<int>(n)), static_cast<T>(a[i] >> n))
struct ShiftsByVariables : SameType
{
    TENGINE_OPERATIONS(TENGINE_SHIFTS_BY_VARIABLES)
    static constexpr Parameters kParameters = [](size_t, size_t bytes) {
        return std::vector<size_t>{0, 1, 7, 8 * bytes - 1};
    };
};

#define TENGINE_SIGN_BITS(CHECK) \
    CHECK("BroadcastSignBit", hn::BroadcastSignBit(a), static_cast<T>(-(a[i] < 0)))
struct SignBits : SameType
{
    TENGINE_OPERATIONS(TENGINE_SIGN_BITS)
};

// 32-bit Arm has approximations.
#if !HWY_ARCH_ARM_V7
#define TENGINE_QUOTIENTS(CHECK)                                    \
    CHECK("Div", hn::Div(a, hn::Add(hn::Abs(b), hn::Set(d, 0.5f))), \
          a[i] / (std::fabs(b[i]) + 0.5f))                          \
    CHECK("Sqrt", hn::Sqrt(hn::Abs(a)), std::sqrt(std::fabs(a[i])))
struct Quotients : SameType
{
    TENGINE_OPERATIONS(TENGINE_QUOTIENTS)
};
#endif

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

// All ones, the mask of a < b, are a NaN.
#define TENGINE_FLOATS(CHECK)                                                                    \
    CHECK("Round", hn::Round(a), std::nearbyint(a[i]))                                           \
    CHECK("Floor", hn::Floor(a), std::floor(a[i]))                                               \
    CHECK("Ceil", hn::Ceil(a), std::ceil(a[i]))                                                  \
    CHECK("CopySign", hn::CopySign(a, b), std::copysign(a[i], b[i]))                             \
    CHECK("MulAdd", hn::MulAdd(quarter(d, a), quarter(d, b), quarter(d, c)),                     \
          quarter(a[i]) * quarter(b[i]) + quarter(c[i]))                                         \
    CHECK("NegMulAdd", hn::NegMulAdd(quarter(d, a), quarter(d, b), quarter(d, c)),               \
          quarter(c[i]) - quarter(a[i]) * quarter(b[i]))                                         \
    CHECK("MulSub", hn::MulSub(quarter(d, a), quarter(d, b), quarter(d, c)),                     \
          quarter(a[i]) * quarter(b[i]) - quarter(c[i]))                                         \
    CHECK("IsNaN", hn::IfThenElse(hn::IsNaN(hn::Or(hn::VecFromMask(d, hn::Lt(a, b)), a)), b, c), \
          a[i] < b[i] ? b[i] : c[i])
struct Floats : SameType
{
    TENGINE_OPERATIONS(TENGINE_FLOATS)
};

#define TENGINE_INTEGERS_OF_FLOATS(CHECK)                                                     \
    CHECK("NearestInt", hn::NearestInt(a), static_cast<int32_t>(std::nearbyint(a[i])))        \
    CHECK("RebindMask", hn::IfThenElseZero(hn::RebindMask(to, hn::Lt(a, b)), hn::Set(to, 7)), \
          a[i] < b[i] ? 7 : 0)
struct IntegersOfFloats : OtherType<int32_t>
{
    TENGINE_OPERATIONS(TENGINE_INTEGERS_OF_FLOATS)
};

// b with the first lanes of a.
template <class D, class V>
HWY_INLINE V blend_first(D d, size_t count, V a, V b)
{
    hn::TFromD<D> to[kMostLanes];
    hn::StoreU(b, d, to);
    hn::BlendedStore(a, hn::FirstN(d, count), d, to);
    return hn::LoadU(d, to);
}

// A count beyond the width selects no lane.
#define TENGINE_FIRST_LANES(CHECK)                                                              \
    CHECK("MaskedLoad and FirstN", hn::MaskedLoad(hn::FirstN(d, n), d, a_lanes),                \
          i < n ? a[i] : T{0})                                                                  \
    CHECK("BlendedStore and FirstN", blend_first(d, n, a, b), i < n ? a[i] : b[i])              \
    CHECK("AllFalse and FirstN", hn::Set(d, static_cast<T>(hn::AllFalse(d, hn::FirstN(d, n)))), \
          static_cast<T>(n == 0))
struct FirstLanes : SameType
{
    TENGINE_OPERATIONS(TENGINE_FIRST_LANES)
    static constexpr Parameters kParameters = [](size_t lanes, size_t) {
        std::vector<size_t> counts;
        for (size_t count = 0; count <= lanes; ++count)
            counts.push_back(count);
        return counts;
    };
};

}  // namespace

void check_arithmetic()
{
    for_each_type<EveryType, uint8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, float>();
    for_each_type<SignedType, int16_t, int32_t, float>();
    for_each_type<Products, uint16_t, int16_t, uint32_t, int32_t, float>();
    for_each_type<Saturation, uint8_t, uint16_t, int16_t>();
    for_each_type<Bits, uint8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t>();
    for_each_type<Shifts, uint16_t, int16_t, uint32_t, int32_t, uint64_t>();
    for_each_type<ShiftsByVariables, uint16_t, int16_t, uint32_t, int32_t, uint64_t>();
    for_each_type<SignBits, int16_t, int32_t>();
#if !HWY_ARCH_ARM_V7
    for_each_type<Quotients, float>();
#endif
    for_each_type<Floats, float>();
    for_each_type<IntegersOfFloats, float>();
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

// SPDX-License-Identifier: Apache-2.0
// Operations of Highway that change the type of lanes.
#include <gtest/gtest.h>

#include "base/half.h"
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vector_operations/conversion_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "device/cpu/kernel/demote_words-inl.h"
#include "vector_operations/checks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {

// The vectors of the narrow type are halves or quarters of a register.
template <class To>
struct Promotion
{
    template <class D>
    static void run(D tag)
    {
        if constexpr (hn::MaxLanes(D()) * sizeof(To) <= HWY_MAX_BYTES)
            check("PromoteTo", tag, hn::Rebind<To, D>(), TENGINE_VECTOR(hn::PromoteTo(to, a)),
                  TENGINE_LANE(static_cast<To>(a[i])));
    }
};

template <class To>
struct Demotion
{
    template <class D>
    static void run(D tag)
    {
        check("DemoteTo", tag, hn::Rebind<To, D>(), TENGINE_VECTOR(hn::DemoteTo(to, a)),
              TENGINE_LANE(saturate<To>(a[i])));
    }
};

template <class To>
struct Truncation
{
    template <class D>
    static void run(D tag)
    {
        check("TruncateTo", tag, hn::Rebind<To, D>(), TENGINE_VECTOR(hn::TruncateTo(to, a)),
              TENGINE_LANE(static_cast<To>(a[i])));
    }
};

struct IntegersToFloats
{
    template <class D>
    static void run(D tag)
    {
        check("ConvertTo", tag, hn::Rebind<float, D>(), TENGINE_VECTOR(hn::ConvertTo(to, a)),
              TENGINE_LANE(static_cast<float>(a[i])));
    }
};

struct FloatsToIntegers
{
    template <class D>
    static void run(D tag)
    {
        check("ConvertTo", tag, hn::Rebind<int32_t, D>(), TENGINE_VECTOR(hn::ConvertTo(to, a)),
              TENGINE_LANE(static_cast<int32_t>(a[i])));
    }
};

// Kernels that use it have vectors of fixed sizes (kernel/fixed_vectors.h); SVE has another order.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Each part of 16 bytes begins with the words of the first vector.
struct PairsOfWords
{
    template <class D>
    static void run(D tag)
    {
        if constexpr (hn::MaxLanes(D()) >= 4)
            check("ReorderDemote2To", tag, hn::Repartition<int16_t, D>(),
                  TENGINE_VECTOR(cpu::HWY_NAMESPACE::demote_words(to, a, b)),
                  TENGINE_LANE(saturate<int16_t>((i % 8 < 4 ? a : b)[i / 8 * 4 + i % 4])));
    }
};
#endif

// For processors that convert fp16; Highway's own conversions do not round, and kernels have
// others. Bits of fp16 are integers, since fp16 is not an arithmetic type.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM && HWY_TARGET == HWY_NEON && (__ARM_FP & 2))
struct Halves
{
    template <class D>
    static void run(D tag)
    {
        const hn::Rebind<hwy::float16_t, D> halves;
        const hn::Rebind<uint16_t, D> bits;
        check(
            "DemoteTo halves", tag, bits,
            [halves, bits](auto, auto, auto a, auto, auto) {
                return hn::BitCast(bits, hn::DemoteTo(halves, a));
            },
            TENGINE_LANE(plain_fp32_to_fp16(a[i])));
        check(
            "PromoteTo of halves", tag, tag,
            [halves](auto d, auto, auto a, auto, auto) {
                return hn::PromoteTo(d, hn::DemoteTo(halves, a));
            },
            TENGINE_LANE(plain_fp16_to_fp32(plain_fp32_to_fp16(a[i]))));
    }
};

#else
struct Halves
{
    template <class D>
    static void run(D)
    {
    }
};
#endif

void check_conversions()
{
    for_each_type<Promotion<uint16_t>, uint8_t>();
    for_each_type<Promotion<int16_t>, uint8_t, int8_t>();
    for_each_type<Promotion<int32_t>, uint8_t, int8_t, uint16_t, int16_t>();
    for_each_type<Promotion<uint32_t>, uint8_t, uint16_t>();
    for_each_type<Demotion<uint8_t>, int16_t, int32_t>();
    for_each_type<Demotion<int8_t>, int16_t, int32_t>();
    for_each_type<Demotion<int16_t>, int32_t>();
    for_each_type<Demotion<uint16_t>, int32_t>();
    for_each_type<Truncation<uint8_t>, uint16_t, uint32_t>();
    for_each_type<Truncation<uint16_t>, uint32_t>();
    for_each_type<IntegersToFloats, int32_t>();
    for_each_type<FloatsToIntegers, float>();
    for_each_type<Halves, float>();
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
    for_each_type<PairsOfWords, int32_t>();
#endif
}

}  // namespace tengine::vector_operations::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "vector_operations/targets.h"

namespace tengine::vector_operations {
namespace {

HWY_EXPORT(check_conversions);

TEST(VectorOperations, ConvertLanes)
{
    for_each_target([] { HWY_DYNAMIC_DISPATCH(check_conversions)(); });
}

}  // namespace
}  // namespace tengine::vector_operations
#endif  // HWY_ONCE

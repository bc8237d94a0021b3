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

#include "device/cpu/kernel/vector/demote_words-inl.h"
#include "vector_operations/checks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {

namespace {

// The vectors of the narrow type are halves or quarters of a register.
#define TENGINE_PROMOTION(CHECK) CHECK("PromoteTo", hn::PromoteTo(to, a), static_cast<Result>(a[i]))
template <class Other>
struct Promotion : OtherType<Other>
{
    TENGINE_OPERATIONS(TENGINE_PROMOTION)
};

#define TENGINE_DEMOTION(CHECK) CHECK("DemoteTo", hn::DemoteTo(to, a), saturate<Result>(a[i]))
template <class Other>
struct Demotion : OtherType<Other>
{
    TENGINE_OPERATIONS(TENGINE_DEMOTION)
};

#define TENGINE_TRUNCATION(CHECK) \
    CHECK("TruncateTo", hn::TruncateTo(to, a), static_cast<Result>(a[i]))
template <class Other>
struct Truncation : OtherType<Other>
{
    TENGINE_OPERATIONS(TENGINE_TRUNCATION)
};

#define TENGINE_CONVERSION(CHECK) \
    CHECK("ConvertTo", hn::ConvertTo(to, a), static_cast<Result>(a[i]))
template <class Other>
struct Conversion : OtherType<Other>
{
    TENGINE_OPERATIONS(TENGINE_CONVERSION)
};

// Kernels that use it have vectors of fixed sizes (kernel/vector/fixed_vectors.h); SVE has another
// order.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Each part of 16 bytes begins with the words of the first vector.
#define TENGINE_PAIRS_OF_WORDS(CHECK)                                     \
    CHECK("ReorderDemote2To", cpu::HWY_NAMESPACE::demote_words(to, a, b), \
          saturate<Result>((i % 8 < 4 ? a : b)[i / 8 * 4 + i % 4]))
struct PairsOfWords : SameBytes<int16_t>
{
    TENGINE_OPERATIONS(TENGINE_PAIRS_OF_WORDS)
    template <class T>
    static constexpr size_t kLeastLanes = 4;
};
#endif

// For processors that convert fp16; Highway's own conversions do not round, and kernels have
// others. Bits of fp16 are integers, since fp16 is not an arithmetic type.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM && HWY_TARGET == HWY_NEON && (__ARM_FP & 2))
#define TENGINE_CONVERTS_HALVES 1
#else
#define TENGINE_CONVERTS_HALVES 0
#endif
#if TENGINE_CONVERTS_HALVES
template <class D>
using HalvesOf = hn::Rebind<hwy::float16_t, D>;

#define TENGINE_DEMOTION_TO_HALVES(CHECK)                                     \
    CHECK("DemoteTo halves", hn::BitCast(to, hn::DemoteTo(HalvesOf<D>(), a)), \
          plain_fp32_to_fp16(a[i]))
struct DemotionToHalves : OtherType<uint16_t>
{
    TENGINE_OPERATIONS(TENGINE_DEMOTION_TO_HALVES)
};

#define TENGINE_PROMOTION_OF_HALVES(CHECK)                                               \
    CHECK("PromoteTo of half vectors", hn::PromoteTo(d, hn::DemoteTo(HalvesOf<D>(), a)), \
          plain_fp16_to_fp32(plain_fp32_to_fp16(a[i])))
struct PromotionOfHalves : SameType
{
    TENGINE_OPERATIONS(TENGINE_PROMOTION_OF_HALVES)
};
#endif

}  // namespace

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
    for_each_type<Conversion<float>, int32_t>();
    for_each_type<Conversion<int32_t>, float>();
#if TENGINE_CONVERTS_HALVES
    for_each_type<DemotionToHalves, float>();
    for_each_type<PromotionOfHalves, float>();
#endif
#undef TENGINE_CONVERTS_HALVES
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

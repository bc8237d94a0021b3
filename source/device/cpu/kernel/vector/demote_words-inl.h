// SPDX-License-Identifier: Apache-2.0
// Two vectors of int32 as one of int16, in the order of InterleaveLower and InterleaveUpper.
// Included once for each instruction set that has vectors.

// clang-format off
#if defined(TENGINE_CPU_DEMOTE_WORDS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_DEMOTE_WORDS
#undef TENGINE_CPU_DEMOTE_WORDS
#else
#define TENGINE_CPU_DEMOTE_WORDS
#endif
// clang-format on

#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Each part of 16 bytes has first the elements of `low`, then those of `high`, saturated. Highway
// does not define the order: 32-bit Arm has the other one.
template <class D, class V>
HWY_INLINE hn::Vec<D> demote_words(D d, V low, V high)
{
#if HWY_ARCH_ARM_V7 && HWY_TARGET == HWY_NEON
    return hn::ReorderDemote2To(d, high, low);
#else
    return hn::ReorderDemote2To(d, low, high);
#endif
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR
#endif  // TENGINE_CPU_DEMOTE_WORDS

// SPDX-License-Identifier: Apache-2.0
// Vectors of floats from and to fp16 and bf16 (Half and BFloat16 of types.h) in memory. Narrowing
// rounds to nearest, ties to even; a NaN stays one, as in base/half.h. Included once for each
// instruction set.
#include <cstdint>

#include "device/cpu/types.h"

// clang-format off
#if defined(TENGINE_CPU_HALF_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_HALF_LANES
#undef TENGINE_CPU_HALF_LANES
#else
#define TENGINE_CPU_HALF_LANES
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether there are instructions that convert fp16; else it is done a number at a time.
#if HWY_ARCH_X86
constexpr bool kConvertsHalves = HWY_TARGET <= HWY_AVX2;
#elif HWY_ARCH_ARM && defined(__ARM_FP) && (__ARM_FP & 2)
constexpr bool kConvertsHalves = HWY_TARGET <= HWY_NEON;
#else
constexpr bool kConvertsHalves = false;
#endif

HWY_INLINE Vector load_halves(const BFloat16* from)
{
    const hn::Rebind<uint16_t, Floats> halves;
    const hn::RebindToUnsigned<Floats> bits;
    const auto loaded = hn::LoadU(halves, reinterpret_cast<const uint16_t*>(from));
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(bits, loaded)));
}

HWY_INLINE Vector load_halves(const Half* from)
{
    const Floats d;
    if constexpr (kConvertsHalves) {
        const hn::Rebind<hwy::float16_t, Floats> halves;
        return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
    } else {
        HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
        for (size_t i = 0; i < hn::Lanes(d); ++i)
            lanes[i] = from[i];
        return hn::Load(d, lanes);
    }
}

HWY_INLINE void store_halves(Vector value, BFloat16* to)
{
    const hn::RebindToUnsigned<Floats> d;
    const hn::RebindToSigned<Floats> words;
    const hn::Rebind<uint16_t, Floats> halves;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fff)));
    const auto quiet = hn::Or(bits, hn::Set(d, 0x00400000));
    const auto kept = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), quiet, rounded);
    const auto narrow = hn::DemoteTo(halves, hn::BitCast(words, hn::ShiftRight<16>(kept)));
    hn::StoreU(narrow, halves, reinterpret_cast<uint16_t*>(to));
}

HWY_INLINE void store_halves(Vector value, Half* to)
{
    const Floats d;
    if constexpr (kConvertsHalves) {
        const hn::Rebind<hwy::float16_t, Floats> halves;
        hn::StoreU(hn::DemoteTo(halves, value), halves, reinterpret_cast<hwy::float16_t*>(to));
    } else {
        HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
        hn::Store(value, d, lanes);
        for (size_t i = 0; i < hn::Lanes(d); ++i)
            to[i] = Half(lanes[i]);
    }
}

// The first `count` lanes, at least one.
template <class T>
HWY_INLINE Vector load_half_lanes(const T* from, int64_t count)
{
    constexpr int64_t kMost = HWY_MAX_BYTES / sizeof(float);
    if (count >= static_cast<int64_t>(hn::Lanes(Floats()))) return load_halves(from);
    T lanes[kMost];
    for (int64_t i = 0; i < kMost; ++i)
        lanes[i].bits = i < count ? from[i].bits : uint16_t{0};
    return load_halves(lanes);
}

template <class T>
HWY_INLINE void store_half_lanes(Vector value, T* to, int64_t count)
{
    if (count >= static_cast<int64_t>(hn::Lanes(Floats()))) return store_halves(value, to);
    T lanes[HWY_MAX_BYTES / sizeof(float)];
    store_halves(value, lanes);
    for (int64_t i = 0; i < count; ++i)
        to[i] = lanes[i];
}

// `count` numbers as floats.
template <class T>
HWY_INLINE void widen_halves(const T* from, int64_t count, float* to)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(load_halves(from + i), Floats(), to + i);
    for (; i < count; ++i)
        to[i] = from[i];
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_HALF_LANES

// SPDX-License-Identifier: Apache-2.0
// Vectors of which only the first lanes are used, and the bounds of a clipped result. Included once
// for each instruction set.
#include <cstdint>
#include <limits>

#include "device/cpu/kernel_context.h"

// clang-format off
#if defined(TENGINE_CPU_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_LANES
#undef TENGINE_CPU_LANES
#else
#define TENGINE_CPU_LANES
#endif
// clang-format on

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// Keeps a vector that was loaded in its register. For a few uses GCC 12 loads it again for each:
// low tiles take twice the time so with AVX-512, where a load takes as long as a multiply-add.
template <class V>
HWY_INLINE void keep_in_register(V& vector)
{
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    __asm__("" : "+v"(vector.raw));
#else
    (void)vector;
#endif
}

// The first `count` lanes, at least one.
HWY_INLINE Vector load_lanes(const float* from, int64_t count)
{
    const Floats d;
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
#else
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)] = {};
    for (int64_t i = 0; i < count; ++i)
        lanes[i] = from[i];
    return hn::Load(d, lanes);
#endif
}

HWY_INLINE void store_lanes(Vector value, float* to, int64_t count)
{
    const Floats d;
    if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(value, d, to);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(value, d, lanes);
    for (int64_t i = 0; i < count; ++i)
        to[i] = lanes[i];
#endif
}

#if !HWY_HAVE_SCALABLE
// The bounds of a clipped result; of other results, bounds without effect.
struct Bounds
{
    HWY_INLINE explicit Bounds(const Fusion& fusion)
    {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        const bool clips = fusion.activation == Activation::kClip;
        low = hn::Set(Floats(), clips ? fusion.parameters[0] : -kInfinity);
        high = hn::Set(Floats(), clips ? fusion.parameters[1] : kInfinity);
    }
    HWY_INLINE Bounds(float lowest, float highest)
    {
        low = hn::Set(Floats(), lowest);
        high = hn::Set(Floats(), highest);
    }
    // This order of operands keeps NaN on x86. Highway's order for 64-bit Arm would drop it.
    HWY_INLINE Vector operator()(Vector x) const
    {
#if HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON
        return Vector(vminq_f32(high.raw, vmaxq_f32(low.raw, x.raw)));
#else
        return hn::Min(high, hn::Max(low, x));
#endif
    }
    Vector low, high;
};
#endif  // !HWY_HAVE_SCALABLE

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_LANES

// SPDX-License-Identifier: Apache-2.0
// The one-dimensional transforms of Winograd's filtering (conv_winograd.cc): with six inputs for
// the points 0, +-1/sqrt(2), +-sqrt(2) and infinity, and with eight for 0, +-1, +-2, +-1/2 and
// infinity. Included once for each instruction set. The terms of even and of odd degree at a point
// p and at -p differ only in sign, so that both share their sums. Limits: each input and result
// once from and to L1. Accuracy: see conv_winograd.cc.

// clang-format off
#if defined(TENGINE_CPU_WINOGRAD_POINTS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_WINOGRAD_POINTS
#undef TENGINE_CPU_WINOGRAD_POINTS
#else
#define TENGINE_CPU_WINOGRAD_POINTS
#endif
// clang-format on

#include <hwy/highway.h>

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

template <int kTile>
struct WinogradPoints;

HWY_INLINE Vector add_multiple(float factor, Vector value, Vector sum)
{
    return hn::MulAdd(hn::Set(Floats(), factor), value, sum);
}

HWY_INLINE Vector multiply(float factor, Vector value)
{
    return hn::Mul(hn::Set(Floats(), factor), value);
}

template <>
struct WinogradPoints<4>
{
    static constexpr float kRoot = 1.41421356237f, kHalfRoot = 0.70710678118f;

    // Computes B' d of load(0), ..., load(5), and calls store(0, value), ..., store(5, value).
    template <class Load, class Store>
    static HWY_INLINE void transform_inputs(const Load& load, const Store& store)
    {
        const Vector v1 = load(1), v2 = load(2), v3 = load(3), v4 = load(4);
        store(0, hn::Add(add_multiple(-2.5f, v2, load(0)), v4));
        const Vector even_a = add_multiple(-2.0f, v2, v4);
        const Vector odd_a = add_multiple(-kRoot, v1, multiply(kHalfRoot, v3));
        store(1, hn::Add(even_a, odd_a));
        store(2, hn::Sub(even_a, odd_a));
        const Vector even_b = add_multiple(-0.5f, v2, v4);
        const Vector odd_b = add_multiple(-kHalfRoot, v1, multiply(kRoot, v3));
        store(3, hn::Add(even_b, odd_b));
        store(4, hn::Sub(even_b, odd_b));
        store(5, hn::Add(add_multiple(-2.5f, v3, v1), load(5)));
    }

    // Computes A' m of load(0), ..., load(5), and calls store(0, value), ..., store(3, value).
    template <class Load, class Store>
    static HWY_INLINE void transform_results(const Load& load, const Store& store)
    {
        const Vector m1 = load(1), m2 = load(2), m3 = load(3), m4 = load(4);
        const Vector sum_a = hn::Add(m1, m2), difference_a = hn::Sub(m1, m2);
        const Vector sum_b = hn::Add(m3, m4), difference_b = hn::Sub(m3, m4);
        store(0, hn::Add(load(0), hn::Add(sum_a, sum_b)));
        store(1, add_multiple(kHalfRoot, difference_a, multiply(kRoot, difference_b)));
        store(2, add_multiple(0.5f, sum_a, multiply(2.0f, sum_b)));
        store(3, hn::Add(add_multiple(kHalfRoot * 0.5f, difference_a,
                                      multiply(2 * kRoot, difference_b)),
                         load(5)));
    }

    // Computes G g of load(0), load(1), load(2), and calls store(0, value), ..., store(5, value).
    template <class Load, class Store>
    static HWY_INLINE void transform_filter(const Load& load, const Store& store)
    {
        const Vector g0 = load(0), g1 = load(1), g2 = load(2);
        const Vector even_a = add_multiple(-2.0f / 3, g0, multiply(-1.0f / 3, g2));
        const Vector odd_a = multiply(-2.0f / 3 * kHalfRoot, g1);
        const Vector even_b = add_multiple(1.0f / 6, g0, multiply(1.0f / 3, g2));
        const Vector odd_b = multiply(kRoot / 6, g1);
        store(0, g0);
        store(1, hn::Add(even_a, odd_a));
        store(2, hn::Sub(even_a, odd_a));
        store(3, hn::Add(even_b, odd_b));
        store(4, hn::Sub(even_b, odd_b));
        store(5, g2);
    }
};

template <>
struct WinogradPoints<6>
{
    template <class Load, class Store>
    static HWY_INLINE void transform_inputs(const Load& load, const Store& store)
    {
        const Vector v1 = load(1), v2 = load(2), v3 = load(3), v4 = load(4), v5 = load(5),
                     v6 = load(6);
        store(0, add_multiple(5.25f, hn::Sub(v4, v2), hn::Sub(load(0), v6)));
        const Vector even_a = add_multiple(-4.25f, v4, hn::Add(v2, v6));
        const Vector odd_a = add_multiple(-4.25f, v3, hn::Add(v1, v5));
        store(1, hn::Add(even_a, odd_a));
        store(2, hn::Sub(even_a, odd_a));
        const Vector even_b = add_multiple(0.25f, v2, add_multiple(-1.25f, v4, v6));
        const Vector odd_b = add_multiple(0.5f, v1, add_multiple(-2.5f, v3, multiply(2.0f, v5)));
        store(3, hn::Add(even_b, odd_b));
        store(4, hn::Sub(even_b, odd_b));
        const Vector even_c = add_multiple(4.0f, v2, add_multiple(-5.0f, v4, v6));
        const Vector odd_c = add_multiple(2.0f, v1, add_multiple(-2.5f, v3, multiply(0.5f, v5)));
        store(5, hn::Add(even_c, odd_c));
        store(6, hn::Sub(even_c, odd_c));
        store(7, add_multiple(5.25f, hn::Sub(v3, v5), hn::Sub(load(7), v1)));
    }

    template <class Load, class Store>
    static HWY_INLINE void transform_results(const Load& load, const Store& store)
    {
        const Vector m1 = load(1), m2 = load(2), m3 = load(3), m4 = load(4), m5 = load(5),
                     m6 = load(6);
        const Vector sum_a = hn::Add(m1, m2), difference_a = hn::Sub(m1, m2);
        const Vector sum_b = hn::Add(m3, m4), difference_b = hn::Sub(m3, m4);
        const Vector sum_c = hn::Add(m5, m6), difference_c = hn::Sub(m5, m6);
        store(0, hn::Add(hn::Add(load(0), sum_a), hn::Add(sum_b, sum_c)));
        store(1, add_multiple(2.0f, difference_b, add_multiple(0.5f, difference_c, difference_a)));
        store(2, add_multiple(4.0f, sum_b, add_multiple(0.25f, sum_c, sum_a)));
        store(3,
              add_multiple(8.0f, difference_b, add_multiple(0.125f, difference_c, difference_a)));
        store(4, add_multiple(16.0f, sum_b, add_multiple(0.0625f, sum_c, sum_a)));
        store(5,
              add_multiple(32.0f, difference_b,
                           add_multiple(0.03125f, difference_c, hn::Add(load(7), difference_a))));
    }

    template <class Load, class Store>
    static HWY_INLINE void transform_filter(const Load& load, const Store& store)
    {
        const Vector g0 = load(0), g1 = load(1), g2 = load(2);
        const Vector even_a = multiply(-2.0f / 9, hn::Add(g0, g2));
        const Vector odd_a = multiply(-2.0f / 9, g1);
        const Vector even_b = add_multiple(1.0f / 90, g0, multiply(2.0f / 45, g2));
        const Vector odd_b = multiply(1.0f / 45, g1);
        const Vector even_c = add_multiple(32.0f / 45, g0, multiply(8.0f / 45, g2));
        const Vector odd_c = multiply(16.0f / 45, g1);
        store(0, g0);
        store(1, hn::Add(even_a, odd_a));
        store(2, hn::Sub(even_a, odd_a));
        store(3, hn::Add(even_b, odd_b));
        store(4, hn::Sub(even_b, odd_b));
        store(5, hn::Add(even_c, odd_c));
        store(6, hn::Sub(even_c, odd_c));
        store(7, g2);
    }
};

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_WINOGRAD_POINTS

// SPDX-License-Identifier: Apache-2.0
// check() compares one operation of Highway, for one type and one number of lanes, with its
// definition. Included once for each instruction set, by files that are.

// clang-format off
#if defined(TENGINE_VECTOR_CHECKS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_VECTOR_CHECKS
#undef TENGINE_VECTOR_CHECKS
#else
#define TENGINE_VECTOR_CHECKS
#endif
// clang-format on

#include <hwy/highway.h>

#include "vector_operations/operands.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kRounds = 20;

// compute(d, to, a, b, c) gives a vector of `to`; define(a, b, c, i, lanes) its lane i, where a, b
// and c are the numbers in the three vectors.
template <class D, class To, class Compute, class Define>
HWY_NOINLINE void check(const char* operation, D d, To to, const Compute& compute,
                        const Define& define)
{
    using T = hn::TFromD<D>;
    using Result = hn::TFromD<To>;
    std::mt19937_64 engine(sizeof(T) + 16 * hn::Lanes(d));
    for (int round = 0; round < kRounds; ++round) {
        const Operands<T> in(engine);
        Result got[kMostLanes];
        hn::StoreU(compute(d, to, hn::LoadU(d, in.a), hn::LoadU(d, in.b), hn::LoadU(d, in.c)), to,
                   got);
        for (size_t i = 0; i < hn::Lanes(to); ++i) {
            const Result expected = define(in.a, in.b, in.c, i, hn::Lanes(d));
            if (!is_same(got[i], expected))
                return report_lane(operation, hwy::TargetName(HWY_TARGET), sizeof(T), hn::Lanes(d),
                                   i, static_cast<double>(got[i]), static_cast<double>(expected));
        }
    }
}

// Check::run(d) for vectors of one lane, two, four, and so on up to all that the registers hold.
template <class Check, class T, size_t kLanes = 1>
void for_each_width()
{
    const hn::CappedTag<T, kLanes> d;
    Check::run(d);
    if constexpr (2 * kLanes * sizeof(T) <= HWY_MAX_BYTES)
        if (2 * kLanes <= hn::Lanes(hn::ScalableTag<T>())) for_each_width<Check, T, 2 * kLanes>();
}

template <class Check, class... T>
void for_each_type()
{
    (for_each_width<Check, T>(), ...);
}

}  // namespace tengine::vector_operations::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// The operands have these names in both expressions.
#define TENGINE_VECTOR(...)                           \
    [](auto d, auto to, auto a, auto b, auto c) {     \
        (void)d, (void)to, (void)a, (void)b, (void)c; \
        return __VA_ARGS__;                           \
    }
#define TENGINE_LANE(...)                                                     \
    [](const auto* a, const auto* b, const auto* c, size_t i, size_t lanes) { \
        (void)a, (void)b, (void)c, (void)i, (void)lanes;                      \
        return __VA_ARGS__;                                                   \
    }

#endif  // TENGINE_VECTOR_CHECKS

// SPDX-License-Identifier: Apache-2.0
// Lists of operations of Highway with their definitions, and their comparison for each type and
// number of lanes. Included once for each instruction set, by files that are.
//
// A list is a macro TENGINE_X(CHECK) that calls CHECK(name, vector, lane) for each operation: its
// name, an expression for the vector of results, and one for their lane i. In both expressions T is
// the type of the operands and Result that of the results, and n is the parameter. In the first, a,
// b and c are vectors with the tag d, `to` is the tag of the results, and a_lanes is the memory
// that a was loaded from. In the second, a, b and c point to the numbers, of which a vector has
// `lanes`. All of a list is one function for each width: one for each operation would take five
// times as long to compile.

// clang-format off
#if defined(TENGINE_VECTOR_CHECKS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_VECTOR_CHECKS
#undef TENGINE_VECTOR_CHECKS
#else
#define TENGINE_VECTOR_CHECKS
#endif
// clang-format on

#include <hwy/highway.h>

#include "vector_operations/comparison.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The properties of a group of operations; a group that differs redefines them.
struct SameType
{
    template <class D>
    using To = D;
    template <class T>
    static constexpr size_t kLeastLanes = 1;
    template <class D>
    static constexpr bool kFits = true;  // whether the results fit a register
    static constexpr Parameters kParameters = &no_parameter;
};

// A vector of as many lanes of another type.
template <class Result>
struct OtherType : SameType
{
    template <class D>
    using To = hn::Rebind<Result, D>;
    template <class D>
    static constexpr bool kFits = hn::MaxLanes(D()) * sizeof(Result) <= HWY_MAX_BYTES;
};

// A vector of as many bytes of another type.
template <class Result>
struct SameBytes : SameType
{
    template <class D>
    using To = hn::Repartition<Result, D>;
};

template <class Group, class D>
void compare_width(D d)
{
    using T = hn::TFromD<D>;
    using To = typename Group::template To<D>;
    using Result = hn::TFromD<To>;
    if (hn::Lanes(d) < Group::template kLeastLanes<T>) return;
    compare({hwy::TargetName(HWY_TARGET), Group::kNames, sizeof Group::kNames / sizeof(char*),
             &kNumberType<T>, &kNumberType<Result>, hn::Lanes(d), hn::Lanes(To()),
             Group::kParameters, &Group::template compute<D, To>,
             &Group::template define<T, Result>});
}

// Vectors of one lane, two, four, and so on up to a full register.
template <class Group, class T, size_t kLanes = 1>
void for_each_width()
{
    const hn::CappedTag<T, kLanes> d;
    using D = std::remove_const_t<decltype(d)>;
    if constexpr (hn::MaxLanes(D()) >= Group::template kLeastLanes<T> && Group::template kFits<D>)
        compare_width<Group>(d);
    if constexpr (2 * kLanes * sizeof(T) <= HWY_MAX_BYTES)
        if (2 * kLanes <= hn::Lanes(hn::ScalableTag<T>())) for_each_width<Group, T, 2 * kLanes>();
}

template <class Group, class... T>
void for_each_type()
{
    (for_each_width<Group, T>(), ...);
}

}  // namespace
}  // namespace tengine::vector_operations::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define TENGINE_NAME(name, vector, lane) name,
#define TENGINE_VECTOR(name, vector, lane) \
    hn::StoreU(vector, to, out);           \
    out += kMostLanes;
#define TENGINE_LANE(name, vector, lane)      \
    for (size_t i = 0; i < result_lanes; ++i) \
        out[i] = lane;                        \
    out += kMostLanes;

// The members of a group that come from its list.
#define TENGINE_OPERATIONS(LIST)                                                                 \
    static constexpr const char* kNames[] = {LIST(TENGINE_NAME)};                                \
    template <class D, class To>                                                                 \
    static HWY_NOINLINE void compute(const void* from_a, const void* from_b, const void* from_c, \
                                     [[maybe_unused]] size_t n, void* results)                   \
    {                                                                                            \
        using T = hn::TFromD<D>;                                                                 \
        using Result = hn::TFromD<To>;                                                           \
        const D d;                                                                               \
        const To to;                                                                             \
        [[maybe_unused]] const T* a_lanes = static_cast<const T*>(from_a);                       \
        [[maybe_unused]] const auto a = hn::LoadU(d, a_lanes);                                   \
        [[maybe_unused]] const auto b = hn::LoadU(d, static_cast<const T*>(from_b));             \
        [[maybe_unused]] const auto c = hn::LoadU(d, static_cast<const T*>(from_c));             \
        Result* out = static_cast<Result*>(results);                                             \
        LIST(TENGINE_VECTOR)                                                                     \
    }                                                                                            \
    template <class T, class Result>                                                             \
    static HWY_NOINLINE void define(const void* from_a, const void* from_b, const void* from_c,  \
                                    [[maybe_unused]] size_t n, [[maybe_unused]] size_t lanes,    \
                                    size_t result_lanes, void* results)                          \
    {                                                                                            \
        [[maybe_unused]] const T *a = static_cast<const T*>(from_a),                             \
                                 *b = static_cast<const T*>(from_b),                             \
                                 *c = static_cast<const T*>(from_c);                             \
        Result* out = static_cast<Result*>(results);                                             \
        LIST(TENGINE_LANE)                                                                       \
    }

#endif  // TENGINE_VECTOR_CHECKS

// SPDX-License-Identifier: Apache-2.0
// Operations of Highway whose lanes depend on others: order, sums, and elements that lie
// interleaved in memory.
#include <algorithm>
#include <gtest/gtest.h>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vector_operations/movement_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "vector_operations/checks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {

// All lanes have the result. Small integers have exact sums in any order.
struct Reductions
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        const auto small = [](auto d, auto a) {
            if constexpr (std::is_floating_point_v<hn::TFromD<decltype(d)>>)
                return hn::Round(a);
            else
                return a;
        };
        check(
            "SumOfLanes", tag, tag,
            [small](auto d, auto, auto a, auto, auto) { return hn::SumOfLanes(d, small(d, a)); },
            [](const T* a, const T*, const T*, size_t, size_t lanes) {
                T sum = 0;
                for (size_t k = 0; k < lanes; ++k)
                    sum = add<T>(sum, std::is_integral_v<T> ? a[k] : T(std::nearbyint(a[k])));
                return sum;
            });
        check("MaxOfLanes", tag, tag, TENGINE_VECTOR(hn::MaxOfLanes(d, a)),
              TENGINE_LANE(*std::max_element(a, a + lanes)));
        check("MinOfLanes", tag, tag, TENGINE_VECTOR(hn::MinOfLanes(d, a)),
              TENGINE_LANE(*std::min_element(a, a + lanes)));
    }
};

// Lanes that lie in turns: those of `count` vectors, the last of which are zeros.
template <class T>
T lane_in_turn(const T* const* from, size_t count, size_t place)
{
    const T* vector = from[place % count];
    return vector ? vector[place / count] : T{0};
}

struct InterleavedStores
{
    // The vector at `part` of the memory after store(a, b, c, to).
    template <size_t kCount, class D, class Store>
    static void check_store(const char* name, D tag, size_t part, const Store& store)
    {
        using T = hn::TFromD<D>;
        check(
            name, tag, tag,
            [part, store](auto d, auto, auto a, auto b, auto c) {
                T to[4 * kMostLanes];
                store(d, a, b, c, to);
                return hn::LoadU(d, to + part * hn::Lanes(d));
            },
            [part](const T* a, const T* b, const T* c, size_t i, size_t lanes) {
                const T* from[] = {a, b, c, nullptr};
                return lane_in_turn(from, kCount, part * lanes + i);
            });
    }
    template <class D>
    static void run(D tag)
    {
        for (size_t part = 0; part < 2; ++part)
            check_store<2>(
                "StoreInterleaved2", tag, part,
                [](auto d, auto a, auto b, auto, auto* to) { hn::StoreInterleaved2(a, b, d, to); });
        for (size_t part = 0; part < 3; ++part)
            check_store<3>("StoreInterleaved3", tag, part,
                           [](auto d, auto a, auto b, auto c, auto* to) {
                               hn::StoreInterleaved3(a, b, c, d, to);
                           });
        for (size_t part = 0; part < 4; ++part)
            check_store<4>("StoreInterleaved4", tag, part,
                           [](auto d, auto a, auto b, auto c, auto* to) {
                               hn::StoreInterleaved4(a, b, c, hn::Zero(d), d, to);
                           });
    }
};

struct InterleavedLoads
{
    // Each `count`-th of a, b, c and zeros, which follow each other.
    template <class D, class Load>
    static void check_load(const char* name, D tag, size_t count, size_t part, const Load& load)
    {
        using T = hn::TFromD<D>;
        check(
            name, tag, tag,
            [load](auto d, auto, auto a, auto b, auto c) {
                T from[4 * kMostLanes];
                hn::StoreU(a, d, from);
                hn::StoreU(b, d, from + hn::Lanes(d));
                hn::StoreU(c, d, from + 2 * hn::Lanes(d));
                hn::StoreU(hn::Zero(d), d, from + 3 * hn::Lanes(d));
                return load(d, from);
            },
            [count, part](const T* a, const T* b, const T* c, size_t i, size_t lanes) {
                const size_t place = count * i + part;
                const T* from[] = {a, b, c, nullptr};
                return from[place / lanes] ? from[place / lanes][place % lanes] : T{0};
            });
    }
    template <class D>
    static void run(D tag)
    {
        for (size_t part = 0; part < 2; ++part)
            check_load("LoadInterleaved2", tag, 2, part, [part](auto d, const auto* from) {
                hn::VFromD<decltype(d)> even, odd;
                hn::LoadInterleaved2(d, from, even, odd);
                return part ? odd : even;
            });
        for (size_t part = 0; part < 4; ++part)
            check_load("LoadInterleaved4", tag, 4, part, [part](auto d, const auto* from) {
                hn::VFromD<decltype(d)> v0, v1, v2, v3;
                hn::LoadInterleaved4(d, from, v0, v1, v2, v3);
                return part == 0 ? v0 : part == 1 ? v1 : part == 2 ? v2 : v3;
            });
    }
};

#if HWY_TARGET != HWY_SCALAR

// Within each part of 16 bytes, or all of a shorter vector.
struct Halves
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        constexpr size_t kBlock = 16 / sizeof(T);
        if (hn::Lanes(tag) < kBlock) return;
        check("InterleaveLower", tag, tag, TENGINE_VECTOR(hn::InterleaveLower(d, a, b)),
              TENGINE_LANE((i % 2 ? b : a)[i / kBlock * kBlock + i % kBlock / 2]));
        check("InterleaveUpper", tag, tag, TENGINE_VECTOR(hn::InterleaveUpper(d, a, b)),
              TENGINE_LANE((i % 2 ? b : a)[i / kBlock * kBlock + (kBlock + i % kBlock) / 2]));
        check(
            "LoadDup128", tag, tag,
            [](auto d, auto, auto a, auto, auto) {
                T from[kMostLanes];
                hn::StoreU(a, d, from);
                return hn::LoadDup128(d, from);
            },
            TENGINE_LANE(a[i % kBlock]));
    }
};

struct OddLanes
{
    template <class D>
    static void run(D tag)
    {
        if constexpr (hn::MaxLanes(D()) >= 2)
            check("ConcatOdd", tag, tag, TENGINE_VECTOR(hn::ConcatOdd(d, b, a)),
                  TENGINE_LANE(2 * i < lanes ? a[2 * i + 1] : b[2 * i + 1 - lanes]));
    }
};

struct Broadcasts
{
    template <int kLane, class D>
    static void broadcast(D tag)
    {
        check("Broadcast", tag, tag, TENGINE_VECTOR(hn::Broadcast<kLane>(a)),
              TENGINE_LANE(a[i / 4 * 4 + kLane]));
    }
    template <class D>
    static void run(D tag)
    {
        if constexpr (hn::MaxLanes(D()) >= 4) {
            broadcast<0>(tag);
            broadcast<1>(tag);
            broadcast<2>(tag);
            broadcast<3>(tag);
        }
    }
};

// Any order of all lanes.
struct LaneTables
{
    template <class D>
    static void run(D tag)
    {
        using T = hn::TFromD<D>;
        const size_t count = hn::Lanes(tag);
        for (size_t step : {size_t{1}, size_t{3}, count - 1}) {
            check(
                "TableLookupLanes", tag, tag,
                [=](auto d, auto, auto a, auto, auto) {
                    int32_t from[kMostLanes];
                    for (size_t i = 0; i < count; ++i)
                        from[i] = static_cast<int32_t>((i * step + step / 2) % count);
                    return hn::TableLookupLanes(a, hn::SetTableIndices(d, from));
                },
                [=](const T* a, const T*, const T*, size_t i, size_t) {
                    return a[(i * step + step / 2) % count];
                });
        }
    }
};

struct Bytes
{
    template <class D>
    static void run(D tag)
    {
        if constexpr (hn::MaxLanes(D()) >= 16) {
            check("TableLookupBytes", tag, tag,
                  TENGINE_VECTOR(hn::TableLookupBytes(a, hn::And(b, hn::Set(d, uint8_t{15})))),
                  TENGINE_LANE(a[i / 16 * 16 + b[i] % 16]));
            check("SumsOf8", tag, hn::Repartition<uint64_t, D>(), TENGINE_VECTOR(hn::SumsOf8(a)),
                  [](const uint8_t* a, const uint8_t*, const uint8_t*, size_t i, size_t) {
                      uint64_t sum = 0;
                      for (size_t k = 0; k < 8; ++k)
                          sum += a[8 * i + k];
                      return sum;
                  });
            const hn::Half<D> half;
            check(
                "Combine", tag, tag,
                [half](auto d, auto, auto a, auto b, auto) {
                    return hn::Combine(d, hn::LowerHalf(half, b), hn::LowerHalf(half, a));
                },
                TENGINE_LANE(2 * i < lanes ? a[i] : b[i - lanes / 2]));
        }
    }
};

// Sums of the products of two neighbours each; the words may wrap around once, at -32768 alone.
struct PairProducts
{
    template <class D>
    static void run(D tag)
    {
        if constexpr (hn::MaxLanes(D()) >= 2)
            check(
                "ReorderWidenMulAccumulate and RearrangeToOddPlusEven", tag,
                hn::Repartition<int32_t, D>(),
                [](auto, auto to, auto a, auto b, auto c) {
                    auto odd = hn::Zero(to);
                    auto even = hn::BitCast(to, c);
                    even = hn::ReorderWidenMulAccumulate(to, a, b, hn::Zero(to), odd);
                    even = hn::ReorderWidenMulAccumulate(to, a, c, even, odd);
                    return hn::RearrangeToOddPlusEven(even, odd);
                },
                [](const int16_t* a, const int16_t* b, const int16_t* c, size_t i, size_t) {
                    int64_t sum = 0;
                    for (size_t k = 2 * i; k < 2 * i + 2; ++k)
                        sum += int64_t{a[k]} * b[k] + int64_t{a[k]} * c[k];
                    return static_cast<int32_t>(sum);
                });
    }
};

#endif  // HWY_TARGET != HWY_SCALAR

void check_movement()
{
    for_each_type<Reductions, int32_t, float>();
    for_each_type<InterleavedStores, uint8_t, float>();
    for_each_type<InterleavedLoads, uint8_t, float>();
#if HWY_TARGET != HWY_SCALAR
    for_each_type<Halves, uint8_t, uint16_t, int16_t, int32_t, float>();
    for_each_type<OddLanes, uint16_t, float>();
    for_each_type<Broadcasts, float>();
    for_each_type<LaneTables, uint32_t, float>();
    for_each_type<Bytes, uint8_t>();
    for_each_type<PairProducts, int16_t>();
#endif
}

}  // namespace tengine::vector_operations::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "vector_operations/targets.h"

namespace tengine::vector_operations {
namespace {

HWY_EXPORT(check_movement);

TEST(VectorOperations, MoveLanes)
{
    for_each_target([] { HWY_DYNAMIC_DISPATCH(check_movement)(); });
}

}  // namespace
}  // namespace tengine::vector_operations
#endif  // HWY_ONCE

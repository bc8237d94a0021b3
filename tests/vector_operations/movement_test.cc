// SPDX-License-Identifier: Apache-2.0
// Operations of Highway whose lanes depend on others: order, sums, and interleaved elements in
// memory.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vector_operations/movement_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "vector_operations/checks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::vector_operations::HWY_NAMESPACE {

namespace {

// Small integers have exact sums in any order.
template <class D, class V>
HWY_INLINE V whole(D, V v)
{
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
        return hn::Round(v);
    else
        return v;
}

template <class T>
T sum_whole(const T* numbers, size_t count)
{
    T sum = 0;
    for (size_t k = 0; k < count; ++k)
        sum = add<T>(sum, std::is_integral_v<T> ? numbers[k] : T(std::nearbyint(numbers[k])));
    return sum;
}

// All lanes have the result.
#define TENGINE_REDUCTIONS(CHECK)                                              \
    CHECK("SumOfLanes", hn::SumOfLanes(d, whole(d, a)), sum_whole(a, lanes))   \
    CHECK("MaxOfLanes", hn::MaxOfLanes(d, a), *std::max_element(a, a + lanes)) \
    CHECK("MinOfLanes", hn::MinOfLanes(d, a), *std::min_element(a, a + lanes))
struct Reductions : SameType
{
    TENGINE_OPERATIONS(TENGINE_REDUCTIONS)
};

// The parts of memory that four vectors fill.
std::vector<size_t> each_part(size_t, size_t)
{
    return {0, 1, 2, 3};
}

// Returns the vector at `part` of the memory after a store of `kCount` vectors, the fourth of which
// is zeros.
template <size_t kCount, class D, class V>
HWY_INLINE V store_in_turns(D d, size_t part, V a, V b, V c)
{
    hn::TFromD<D> to[4 * kMostLanes];
    if constexpr (kCount == 2) hn::StoreInterleaved2(a, b, d, to);
    if constexpr (kCount == 3) hn::StoreInterleaved3(a, b, c, d, to);
    if constexpr (kCount == 4) hn::StoreInterleaved4(a, b, c, hn::Zero(d), d, to);
    return hn::LoadU(d, to + part * hn::Lanes(d));
}

// Returns the number at a position of the interleaved lanes of `kCount` vectors.
template <class T>
T lane_in_turn(size_t count, size_t place, const T* a, const T* b, const T* c)
{
    const T* from[] = {a, b, c, nullptr};
    const T* vector = from[place % count];
    return vector ? vector[place / count] : T{0};
}

#define TENGINE_INTERLEAVED_STORES(CHECK)                            \
    CHECK("StoreInterleaved2", store_in_turns<2>(d, n % 2, a, b, c), \
          lane_in_turn(2, n % 2 * lanes + i, a, b, c))               \
    CHECK("StoreInterleaved3", store_in_turns<3>(d, n % 3, a, b, c), \
          lane_in_turn(3, n % 3 * lanes + i, a, b, c))               \
    CHECK("StoreInterleaved4", store_in_turns<4>(d, n, a, b, c),     \
          lane_in_turn(4, n* lanes + i, a, b, c))
struct InterleavedStores : SameType
{
    TENGINE_OPERATIONS(TENGINE_INTERLEAVED_STORES)
    static constexpr Parameters kParameters = &each_part;
};

// Returns vector `part` of those whose lanes are interleaved in a, b, c and zeros, which follow
// each other.
template <size_t kCount, class D, class V>
HWY_INLINE V load_in_turns(D d, size_t part, V a, V b, V c)
{
    hn::TFromD<D> from[4 * kMostLanes];
    hn::StoreU(a, d, from);
    hn::StoreU(b, d, from + hn::Lanes(d));
    hn::StoreU(c, d, from + 2 * hn::Lanes(d));
    hn::StoreU(hn::Zero(d), d, from + 3 * hn::Lanes(d));
    V v0, v1, v2, v3;
    if constexpr (kCount == 2) {
        hn::LoadInterleaved2(d, from, v0, v1);
        return part ? v1 : v0;
    } else {
        hn::LoadInterleaved4(d, from, v0, v1, v2, v3);
        return part == 0 ? v0 : part == 1 ? v1 : part == 2 ? v2 : v3;
    }
}

// Returns the number at a position of a, b, c and zeros.
template <class T>
T lane_in_row(size_t lanes, size_t place, const T* a, const T* b, const T* c)
{
    const T* from[] = {a, b, c, nullptr};
    return from[place / lanes] ? from[place / lanes][place % lanes] : T{0};
}

#define TENGINE_INTERLEAVED_LOADS(CHECK)                           \
    CHECK("LoadInterleaved2", load_in_turns<2>(d, n % 2, a, b, c), \
          lane_in_row(lanes, 2 * i + n % 2, a, b, c))              \
    CHECK("LoadInterleaved4", load_in_turns<4>(d, n, a, b, c),     \
          lane_in_row(lanes, 4 * i + n, a, b, c))
struct InterleavedLoads : SameType
{
    TENGINE_OPERATIONS(TENGINE_INTERLEAVED_LOADS)
    static constexpr Parameters kParameters = &each_part;
};

#if HWY_TARGET != HWY_SCALAR

template <class T>
constexpr size_t kBlock = 16 / sizeof(T);

// Applies within each part of 16 bytes.
#define TENGINE_BLOCKS(CHECK)                                                           \
    CHECK("InterleaveLower", hn::InterleaveLower(d, a, b),                              \
          (i % 2 ? b : a)[i / kBlock<T> * kBlock<T> + i % kBlock<T> / 2])               \
    CHECK("InterleaveUpper", hn::InterleaveUpper(d, a, b),                              \
          (i % 2 ? b : a)[i / kBlock<T> * kBlock<T> + (kBlock<T> + i % kBlock<T>) / 2]) \
    CHECK("LoadDup128", hn::LoadDup128(d, a_lanes), a[i % kBlock<T>])
struct Blocks : SameType
{
    TENGINE_OPERATIONS(TENGINE_BLOCKS)
    template <class T>
    static constexpr size_t kLeastLanes = kBlock<T>;
};

#define TENGINE_ODD_LANES(CHECK) \
    CHECK("ConcatOdd", hn::ConcatOdd(d, b, a), 2 * i < lanes ? a[2 * i + 1] : b[2 * i + 1 - lanes])
struct OddLanes : SameType
{
    TENGINE_OPERATIONS(TENGINE_ODD_LANES)
    template <class T>
    static constexpr size_t kLeastLanes = 2;
};

#define TENGINE_BROADCASTS(CHECK)                                \
    CHECK("Broadcast<0>", hn::Broadcast<0>(a), a[i / 4 * 4])     \
    CHECK("Broadcast<1>", hn::Broadcast<1>(a), a[i / 4 * 4 + 1]) \
    CHECK("Broadcast<2>", hn::Broadcast<2>(a), a[i / 4 * 4 + 2]) \
    CHECK("Broadcast<3>", hn::Broadcast<3>(a), a[i / 4 * 4 + 3])
struct Broadcasts : SameType
{
    TENGINE_OPERATIONS(TENGINE_BROADCASTS)
    template <class T>
    static constexpr size_t kLeastLanes = 4;
};

size_t look_up(size_t i, size_t step, size_t lanes)
{
    return (i * step + step / 2) % lanes;
}

// Any order of all lanes.
template <class D, class V>
HWY_INLINE V reorder(D d, V v, size_t step)
{
    int32_t from[kMostLanes];
    for (size_t i = 0; i < hn::Lanes(d); ++i)
        from[i] = static_cast<int32_t>(look_up(i, step, hn::Lanes(d)));
    return hn::TableLookupLanes(v, hn::SetTableIndices(d, from));
}

#define TENGINE_LANE_TABLES(CHECK) \
    CHECK("TableLookupLanes", reorder(d, a, n), a[look_up(i, n, lanes)])
struct LaneTables : SameType
{
    TENGINE_OPERATIONS(TENGINE_LANE_TABLES)
    static constexpr Parameters kParameters = [](size_t lanes, size_t) {
        return std::vector<size_t>{1, 3, lanes - 1};
    };
};

#define TENGINE_BYTES(CHECK)                                                                \
    CHECK("TableLookupBytes", hn::TableLookupBytes(a, hn::And(b, hn::Set(d, uint8_t{15}))), \
          a[i / 16 * 16 + b[i] % 16])                                                       \
    CHECK("Combine",                                                                        \
          hn::Combine(d, hn::LowerHalf(hn::Half<D>(), b), hn::LowerHalf(hn::Half<D>(), a)), \
          2 * i < lanes ? a[i] : b[i - lanes / 2])
struct Bytes : SameType
{
    TENGINE_OPERATIONS(TENGINE_BYTES)
    template <class T>
    static constexpr size_t kLeastLanes = 16;
};

#define TENGINE_SUMS_OF_BYTES(CHECK) \
    CHECK("SumsOf8", hn::SumsOf8(a), std::accumulate(a + 8 * i, a + 8 * i + 8, uint64_t{0}))
struct SumsOfBytes : SameBytes<uint64_t>
{
    TENGINE_OPERATIONS(TENGINE_SUMS_OF_BYTES)
    template <class T>
    static constexpr size_t kLeastLanes = 16;
};

template <class To, class V>
HWY_INLINE auto multiply_pairs(To to, V a, V b, V c)
{
    auto odd = hn::Zero(to);
    auto even = hn::ReorderWidenMulAccumulate(to, a, b, hn::Zero(to), odd);
    even = hn::ReorderWidenMulAccumulate(to, a, c, even, odd);
    return hn::RearrangeToOddPlusEven(even, odd);
}

int32_t multiply_pair(const int16_t* a, const int16_t* b, const int16_t* c)
{
    int64_t sum = 0;
    for (size_t k = 0; k < 2; ++k)
        sum += int64_t{a[k]} * b[k] + int64_t{a[k]} * c[k];
    return static_cast<int32_t>(sum);
}

// Sums of the products of two neighbours each; words may wrap around once, only for -32768.
#define TENGINE_PAIR_PRODUCTS(CHECK)                                                           \
    CHECK("ReorderWidenMulAccumulate and RearrangeToOddPlusEven", multiply_pairs(to, a, b, c), \
          multiply_pair(a + 2 * i, b + 2 * i, c + 2 * i))
struct PairProducts : SameBytes<int32_t>
{
    TENGINE_OPERATIONS(TENGINE_PAIR_PRODUCTS)
    template <class T>
    static constexpr size_t kLeastLanes = 2;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace

void check_movement()
{
    for_each_type<Reductions, int32_t, float>();
    for_each_type<InterleavedStores, uint8_t, float>();
    for_each_type<InterleavedLoads, uint8_t, float>();
#if HWY_TARGET != HWY_SCALAR
    for_each_type<Blocks, uint8_t, uint16_t, int16_t, int32_t, float>();
    for_each_type<OddLanes, uint16_t, float>();
    for_each_type<Broadcasts, float>();
    for_each_type<LaneTables, uint32_t, float>();
    for_each_type<Bytes, uint8_t>();
    for_each_type<SumsOfBytes, uint8_t>();
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

// SPDX-License-Identifier: Apache-2.0
// Products of a tile and a block of vectors, see machine_product.h.
//
// Four vectors by two registers of columns are accumulated in registers. Integers are processed in
// pairs: one multiply-add of 16-bit pairs gives, in each 32-bit lane, two products of one column; a
// pair of `a` is broadcast. Vectors beyond the last are computed as copies of it and not stored. A
// register that reaches beyond the last column reads the following bytes (see kProductSlack) and
// stores its first lanes only. Limits: per pair of rows six loads and eight multiply-adds; a 32 x
// 32 tile stays in L1.
#include "device/tpu/simulator/machine_product.h"

#include <algorithm>
#include <cstring>

#ifdef TENGINE_HAVE_HIGHWAY
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/tpu/simulator/machine_product.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::tpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void multiply_integer_vectors(const IntegerProduct& p)
{
    multiply_integers_plain(p);
}

void multiply_float_vectors(const FloatProduct& p)
{
    multiply_floats_plain(p);
}

#else

using Lanes32 = hn::ScalableTag<int32_t>;
using Lanes16 = hn::Repartition<int16_t, Lanes32>;
using LanesFloat = hn::RebindToFloat<Lanes32>;

// Returns vector v of a block, or the last one.
template <class T>
HWY_INLINE const T* vector_at(const T* a, int64_t v, int64_t vectors, int64_t length)
{
    return a + std::min(v, vectors - 1) * length;
}

HWY_INLINE hn::Vec<Lanes16> broadcast_pair(const int16_t* pair)
{
    int32_t both;
    memcpy(&both, pair, sizeof both);
    return hn::BitCast(Lanes16(), hn::Set(Lanes32(), both));
}

// Stores the first `number` lanes, or all if there are fewer.
HWY_INLINE void store_lanes(hn::Vec<Lanes32> sum, int64_t number, int32_t* out)
{
    const Lanes32 d;
    if (number >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(sum, d, out);
    HWY_ALIGN int32_t lanes[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(sum, d, lanes);
    for (int64_t lane = 0; lane < number; ++lane)
        out[lane] = lanes[lane];
}

HWY_INLINE void store_integers(const IntegerProduct& p, hn::Vec<Lanes32> even, hn::Vec<Lanes32> odd,
                               int64_t v, int64_t c)
{
    if (v >= p.vectors || c >= p.columns) return;
    int32_t* out = p.sums + v * p.stride + c;
    hn::Vec<Lanes32> sum = hn::RearrangeToOddPlusEven(even, odd);
    if (p.accumulate) sum = hn::Add(sum, hn::LoadU(Lanes32(), out));
    store_lanes(sum, p.columns - c, out);
}

HWY_INLINE void multiply_integer_block(const IntegerProduct& p, int64_t v, int64_t c)
{
    const Lanes16 d;
    const Lanes32 d32;
    const int64_t length = 2 * p.pairs, lanes = static_cast<int64_t>(hn::Lanes(d32));
    const int16_t *a0 = vector_at(p.a, v, p.vectors, length),
                  *a1 = vector_at(p.a, v + 1, p.vectors, length),
                  *a2 = vector_at(p.a, v + 2, p.vectors, length),
                  *a3 = vector_at(p.a, v + 3, p.vectors, length);
    hn::Vec<Lanes32> s00 = hn::Zero(d32), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00,
                     s30 = s00, s31 = s00;
    hn::Vec<Lanes32> t00 = s00, t01 = s00, t10 = s00, t11 = s00, t20 = s00, t21 = s00, t30 = s00,
                     t31 = s00;  // separate sums if the instruction set does not add pairs in place
    const int16_t* row = p.tile + 2 * c;
    for (int64_t k = 0; k < length; k += 2, row += 2 * p.tile_columns) {
        const auto w0 = hn::LoadU(d, row), w1 = hn::LoadU(d, row + 2 * lanes);
        auto x = broadcast_pair(a0 + k);
        s00 = hn::ReorderWidenMulAccumulate(d32, x, w0, s00, t00);
        s01 = hn::ReorderWidenMulAccumulate(d32, x, w1, s01, t01);
        x = broadcast_pair(a1 + k);
        s10 = hn::ReorderWidenMulAccumulate(d32, x, w0, s10, t10);
        s11 = hn::ReorderWidenMulAccumulate(d32, x, w1, s11, t11);
        x = broadcast_pair(a2 + k);
        s20 = hn::ReorderWidenMulAccumulate(d32, x, w0, s20, t20);
        s21 = hn::ReorderWidenMulAccumulate(d32, x, w1, s21, t21);
        x = broadcast_pair(a3 + k);
        s30 = hn::ReorderWidenMulAccumulate(d32, x, w0, s30, t30);
        s31 = hn::ReorderWidenMulAccumulate(d32, x, w1, s31, t31);
    }
    store_integers(p, s00, t00, v, c);
    store_integers(p, s01, t01, v, c + lanes);
    store_integers(p, s10, t10, v + 1, c);
    store_integers(p, s11, t11, v + 1, c + lanes);
    store_integers(p, s20, t20, v + 2, c);
    store_integers(p, s21, t21, v + 2, c + lanes);
    store_integers(p, s30, t30, v + 3, c);
    store_integers(p, s31, t31, v + 3, c + lanes);
}

HWY_INLINE void store_floats(const FloatProduct& p, hn::Vec<LanesFloat> sum, int64_t v, int64_t c)
{
    if (v >= p.vectors || c >= p.columns) return;
    int32_t* out = p.sums + v * p.stride + c;
    if (p.accumulate) sum = hn::Add(hn::BitCast(LanesFloat(), hn::LoadU(Lanes32(), out)), sum);
    store_lanes(hn::BitCast(Lanes32(), sum), p.columns - c, out);
}

// No fused multiply-add: the result must not depend on the processor.
HWY_INLINE void multiply_float_block(const FloatProduct& p, int64_t v, int64_t c)
{
    const LanesFloat d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const float *a0 = vector_at(p.a, v, p.vectors, p.depth),
                *a1 = vector_at(p.a, v + 1, p.vectors, p.depth),
                *a2 = vector_at(p.a, v + 2, p.vectors, p.depth),
                *a3 = vector_at(p.a, v + 3, p.vectors, p.depth);
    hn::Vec<LanesFloat> s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00,
                        s30 = s00, s31 = s00;
    const float* row = p.tile + c;
    for (int64_t k = 0; k < p.depth; ++k, row += p.tile_columns) {
        const auto w0 = hn::LoadU(d, row), w1 = hn::LoadU(d, row + lanes);
        auto x = hn::Set(d, a0[k]);
        s00 = hn::Add(s00, hn::Mul(x, w0));
        s01 = hn::Add(s01, hn::Mul(x, w1));
        x = hn::Set(d, a1[k]);
        s10 = hn::Add(s10, hn::Mul(x, w0));
        s11 = hn::Add(s11, hn::Mul(x, w1));
        x = hn::Set(d, a2[k]);
        s20 = hn::Add(s20, hn::Mul(x, w0));
        s21 = hn::Add(s21, hn::Mul(x, w1));
        x = hn::Set(d, a3[k]);
        s30 = hn::Add(s30, hn::Mul(x, w0));
        s31 = hn::Add(s31, hn::Mul(x, w1));
    }
    store_floats(p, s00, v, c);
    store_floats(p, s01, v, c + lanes);
    store_floats(p, s10, v + 1, c);
    store_floats(p, s11, v + 1, c + lanes);
    store_floats(p, s20, v + 2, c);
    store_floats(p, s21, v + 2, c + lanes);
    store_floats(p, s30, v + 3, c);
    store_floats(p, s31, v + 3, c + lanes);
}

void multiply_integer_vectors(const IntegerProduct& p)
{
    const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(Lanes32()));
    for (int64_t c = 0; c < p.columns; c += step)
        for (int64_t v = 0; v < p.vectors; v += 4)
            multiply_integer_block(p, v, c);
}

void multiply_float_vectors(const FloatProduct& p)
{
    const int64_t step = 2 * static_cast<int64_t>(hn::Lanes(LanesFloat()));
    for (int64_t c = 0; c < p.columns; c += step)
        for (int64_t v = 0; v < p.vectors; v += 4)
            multiply_float_block(p, v, c);
}

#endif
}  // namespace tengine::tpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_HAVE_HIGHWAY

#if !defined(TENGINE_HAVE_HIGHWAY) || HWY_ONCE
namespace tengine::tpu {
#ifdef TENGINE_HAVE_HIGHWAY
namespace {

HWY_EXPORT(multiply_integer_vectors);
#ifndef __arm__
HWY_EXPORT(multiply_float_vectors);
#endif

}  // namespace

void multiply_integers(const IntegerProduct& product)
{
    HWY_DYNAMIC_DISPATCH(multiply_integer_vectors)(product);
}

void multiply_floats(const FloatProduct& product)
{
#ifdef __arm__
    // The vectors of 32-bit Arm flush subnormal numbers to zero.
    multiply_floats_plain(product);
#else
    HWY_DYNAMIC_DISPATCH(multiply_float_vectors)(product);
#endif
}
#else
void multiply_integers(const IntegerProduct& product)
{
    multiply_integers_plain(product);
}

void multiply_floats(const FloatProduct& product)
{
    multiply_floats_plain(product);
}
#endif

// A block of columns, so that the compiler can keep the accumulators in registers.
constexpr int64_t kBlock = 16;

void multiply_integers_plain(const IntegerProduct& p)
{
    for (int64_t v = 0; v < p.vectors; ++v) {
        const int16_t* a = p.a + v * 2 * p.pairs;
        for (int64_t c = 0; c < p.columns; c += kBlock) {
            uint32_t sums[kBlock] = {};
            for (int64_t k = 0; k < p.pairs; ++k) {
                const int16_t* w = p.tile + (k * p.tile_columns + c) * 2;
                for (int64_t j = 0; j < kBlock; ++j)
                    sums[j] += static_cast<uint32_t>(a[2 * k] * w[2 * j]) +
                               static_cast<uint32_t>(a[2 * k + 1] * w[2 * j + 1]);
            }
            int32_t* out = p.sums + v * p.stride + c;
            for (int64_t j = 0; j < std::min(kBlock, p.columns - c); ++j)
                out[j] = static_cast<int32_t>(p.accumulate ? static_cast<uint32_t>(out[j]) + sums[j]
                                                           : sums[j]);
        }
    }
}

void multiply_floats_plain(const FloatProduct& p)
{
    for (int64_t v = 0; v < p.vectors; ++v) {
        const float* a = p.a + v * p.depth;
        for (int64_t c = 0; c < p.columns; c += kBlock) {
            float sums[kBlock] = {};
            for (int64_t k = 0; k < p.depth; ++k) {
                const float* w = p.tile + k * p.tile_columns + c;
                for (int64_t j = 0; j < kBlock; ++j)
                    sums[j] += a[k] * w[j];
            }
            int32_t* out = p.sums + v * p.stride + c;
            for (int64_t j = 0; j < std::min(kBlock, p.columns - c); ++j) {
                float before;
                memcpy(&before, out + j, sizeof before);
                const float sum = p.accumulate ? before + sums[j] : sums[j];
                memcpy(out + j, &sum, sizeof sum);
            }
        }
    }
}

}  // namespace tengine::tpu
#endif

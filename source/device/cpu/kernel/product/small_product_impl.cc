// SPDX-License-Identifier: Apache-2.0
// Small matrix products, see small_product.h. They are here because OpenBLAS 0.3.21, where it takes
// a processor for one with AVX-512, allocates memory in each product of up to 10^6
// multiply-accumulates with untransposed operands, and running a graph must not.
//
// Eight rows of c by one vector are summed in registers: one vector of b and eight elements of a,
// each broadcast, give eight multiply-adds. Rows beyond the last are computed as copies of it and
// not stored; the last vector of a row is moved left until it fits, and only its new lanes are
// stored. Rows shorter than a vector take narrower vectors.
// Limits: loads, nine for eight multiply-adds; b is not packed, so its rows should be in L1 or L2.
#include <algorithm>
#include <cstdint>

#include "device/cpu/kernel/product/small_product.h"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernel/product/small_product_impl.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lanes `first` and on of alpha * sum + beta * c.
template <class D>
HWY_INLINE void store_sum(D d, const Product& p, hn::Vec<D> sum, int64_t first, float* c)
{
    sum = hn::Mul(sum, hn::Set(d, p.alpha));
    if (p.beta != 0) sum = hn::MulAdd(hn::Set(d, p.beta), hn::LoadU(d, c), sum);
    if (first == 0) return hn::StoreU(sum, d, c);
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(sum, d, lanes);
    const int64_t lane_num = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t lane = first; lane < lane_num; ++lane)
        c[lane] = lanes[lane];
}

// Rows i..i+7 of c, a vector of columns from j; the first `first` of them are there already.
template <class D>
HWY_INLINE void multiply_block(D d, const Product& p, int64_t i, int64_t j, int64_t first)
{
    const int64_t rows = p.m - i;
    const auto row = [&](int64_t r) {
        return p.a.data + (i + (r < rows ? r : rows - 1)) * p.a.stride;
    };
    const float *a0 = row(0), *a1 = row(1), *a2 = row(2), *a3 = row(3), *a4 = row(4), *a5 = row(5),
                *a6 = row(6), *a7 = row(7);
    hn::Vec<D> sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0, sum4 = sum0, sum5 = sum0,
               sum6 = sum0, sum7 = sum0;
    const float* b_row = p.b.data + j;
    for (int64_t k = 0; k < p.k; ++k, b_row += p.b.stride) {
        const hn::Vec<D> b = hn::LoadU(d, b_row);
        sum0 = hn::MulAdd(hn::Set(d, a0[k]), b, sum0);
        sum1 = hn::MulAdd(hn::Set(d, a1[k]), b, sum1);
        sum2 = hn::MulAdd(hn::Set(d, a2[k]), b, sum2);
        sum3 = hn::MulAdd(hn::Set(d, a3[k]), b, sum3);
        sum4 = hn::MulAdd(hn::Set(d, a4[k]), b, sum4);
        sum5 = hn::MulAdd(hn::Set(d, a5[k]), b, sum5);
        sum6 = hn::MulAdd(hn::Set(d, a6[k]), b, sum6);
        sum7 = hn::MulAdd(hn::Set(d, a7[k]), b, sum7);
    }
    float* c = p.c + i * p.c_stride + j;
    store_sum(d, p, sum0, first, c);
    if (rows > 1) store_sum(d, p, sum1, first, c + p.c_stride);
    if (rows > 2) store_sum(d, p, sum2, first, c + 2 * p.c_stride);
    if (rows > 3) store_sum(d, p, sum3, first, c + 3 * p.c_stride);
    if (rows > 4) store_sum(d, p, sum4, first, c + 4 * p.c_stride);
    if (rows > 5) store_sum(d, p, sum5, first, c + 5 * p.c_stride);
    if (rows > 6) store_sum(d, p, sum6, first, c + 6 * p.c_stride);
    if (rows > 7) store_sum(d, p, sum7, first, c + 7 * p.c_stride);
}

// With vectors that are not wider than c.
template <class D>
HWY_INLINE void multiply_blocks(D d, const Product& p)
{
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t j = 0; j < p.n; j += lanes) {
        const int64_t from = j + lanes <= p.n ? j : p.n - lanes;
        for (int64_t i = 0; i < p.m; i += 8)
            multiply_block(d, p, i, from, j - from);
    }
}

void multiply_small_product(const Product& p)
{
    const hn::ScalableTag<float> full;
    const hn::CappedTag<float, 8> eight;
    const hn::CappedTag<float, 4> four;
    const auto fits = [&](size_t lanes) { return p.n >= static_cast<int64_t>(lanes); };
    if (fits(hn::Lanes(full))) return multiply_blocks(full, p);
    if (fits(hn::Lanes(eight))) return multiply_blocks(eight, p);
    if (fits(hn::Lanes(four))) return multiply_blocks(four, p);
    multiply_blocks(hn::CappedTag<float, 1>(), p);
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tengine::cpu {
namespace {

HWY_EXPORT(multiply_small_product);

}  // namespace

bool is_small_product(const Product& p)
{
    constexpr double kSmall = 1e6;
    return !p.a.transposed && !p.b.transposed &&
           static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) <= kSmall;
}

void multiply_small(const Product& product)
{
    HWY_DYNAMIC_DISPATCH(multiply_small_product)(product);
}

}  // namespace tengine::cpu
#endif  // HWY_ONCE

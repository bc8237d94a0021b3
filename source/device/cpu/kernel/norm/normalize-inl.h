// SPDX-License-Identifier: Apache-2.0
// Normalises a row of fp32 numbers that stays in L1: by its mean and variance, or by the mean of
// its squares. For layer_norm.cc, rms_norm.cc and skip_norm.cc. Included once for each instruction
// set. Accuracy: a sum has 4 partial sums for each lane, added in an order that only the length and
// the instruction set decide, so the mean, the variance and the mean of the squares are within (n /
// (4 lanes) + lanes + 4) eps for rows of n, relative to the largest |x|, its square, and the mean
// of the squares itself.
#include <cmath>
#include <cstdint>

#include "device/cpu/kernel/norm/row_norm.h"

// clang-format off
#if defined(TENGINE_CPU_NORMALIZE) == defined(HWY_TARGET_TOGGLE)
#ifdef TENGINE_CPU_NORMALIZE
#undef TENGINE_CPU_NORMALIZE
#else
#define TENGINE_CPU_NORMALIZE
#endif
// clang-format on

#include "device/cpu/kernel/vector/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tengine::cpu::HWY_NAMESPACE {

// The sum of function(x) over a row; function(0) need not be 0.
template <class Function>
HWY_INLINE float sum_row(const float* x, int64_t n, const Function& function)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    Vector sums[4];
    for (Vector& sum : sums)
        sum = hn::Zero(d);
    int64_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes)
        for (int64_t k = 0; k < 4; ++k)
            sums[k] = hn::Add(sums[k], function(hn::LoadU(d, x + i + k * lanes)));
    for (; i + lanes <= n; i += lanes)
        sums[0] = hn::Add(sums[0], function(hn::LoadU(d, x + i)));
    if (i < n) {
        const auto present = hn::FirstN(d, static_cast<size_t>(n - i));
        sums[1] = hn::Add(sums[1], hn::IfThenElseZero(present, function(load_lanes(x + i, n - i))));
    }
    return hn::GetLane(
        hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

// y = (x - mean) * inverse * scale + bias. `bias` may be null, and y may be x.
HWY_INLINE void scale_row(const float* x, int64_t n, const RowStatistics& statistics,
                          const float* scale, const float* bias, float* y)
{
    const Floats d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const Vector mean = hn::Set(d, statistics.mean), inverse = hn::Set(d, statistics.inverse);
    for (int64_t i = 0; i < n; i += lanes) {
        const Vector normal = hn::Mul(hn::Sub(load_lanes(x + i, n - i), mean), inverse);
        const Vector shift = bias ? load_lanes(bias + i, n - i) : hn::Zero(d);
        store_lanes(hn::MulAdd(normal, load_lanes(scale + i, n - i), shift), y + i, n - i);
    }
}

// By mean and variance; three passes.
HWY_INLINE RowStatistics normalize_by_variance(const float* x, int64_t n, float epsilon,
                                               const float* scale, const float* bias, float* y)
{
    const Floats d;
    const float count = static_cast<float>(n);
    const float mean = sum_row(x, n, [](Vector v) { return v; }) / count;
    const Vector means = hn::Set(d, mean);
    const float squares = sum_row(x, n, [&](Vector v) {
        const Vector left = hn::Sub(v, means);
        return hn::Mul(left, left);
    });
    const RowStatistics statistics = {mean, 1.0f / std::sqrt(squares / count + epsilon)};
    scale_row(x, n, statistics, scale, bias, y);
    return statistics;
}

// By the mean of the squares; two passes.
HWY_INLINE RowStatistics normalize_by_squares(const float* x, int64_t n, float epsilon,
                                              const float* scale, const float* bias, float* y)
{
    const float squares = sum_row(x, n, [](Vector v) { return hn::Mul(v, v); });
    const RowStatistics statistics = {0.0f,
                                      1.0f / std::sqrt(squares / static_cast<float>(n) + epsilon)};
    scale_row(x, n, statistics, scale, bias, y);
    return statistics;
}

}  // namespace tengine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // TENGINE_CPU_NORMALIZE

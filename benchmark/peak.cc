// SPDX-License-Identifier: Apache-2.0
#include "benchmark/peak.h"

#include <algorithm>
#include <cstdint>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmark/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace machine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Runs `steps` times twelve independent multiply-adds: they cover a latency of 4 or 5 cycles in two
// units, and 16 registers hold them. Returns the number of floating-point operations.
double multiply_add(int64_t steps, float* out_sum)
{
    const hn::ScalableTag<float> d;
    const auto factor = hn::Set(d, 0.5f);
    auto a = hn::Iota(d, 0), b = hn::Iota(d, 1), c = hn::Iota(d, 2), e = hn::Iota(d, 3);
    auto f = hn::Iota(d, 4), g = hn::Iota(d, 5), h = hn::Iota(d, 6), i = hn::Iota(d, 7);
    auto j = hn::Iota(d, 8), k = hn::Iota(d, 9), l = hn::Iota(d, 10), m = hn::Iota(d, 11);
    for (int64_t step = 0; step < steps; ++step) {
        a = hn::MulAdd(a, factor, factor), b = hn::MulAdd(b, factor, factor);
        c = hn::MulAdd(c, factor, factor), e = hn::MulAdd(e, factor, factor);
        f = hn::MulAdd(f, factor, factor), g = hn::MulAdd(g, factor, factor);
        h = hn::MulAdd(h, factor, factor), i = hn::MulAdd(i, factor, factor);
        j = hn::MulAdd(j, factor, factor), k = hn::MulAdd(k, factor, factor);
        l = hn::MulAdd(l, factor, factor), m = hn::MulAdd(m, factor, factor);
    }
    const auto sum = hn::Add(hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g)),
                             hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m)));
    *out_sum = hn::GetLane(hn::SumOfLanes(d, sum));
    return 2.0 * 12.0 * static_cast<double>(steps) * static_cast<double>(hn::Lanes(d));
}

const char* target_name()
{
    return hwy::TargetName(HWY_TARGET);
}

}  // namespace HWY_NAMESPACE
}  // namespace machine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace machine {
namespace {

HWY_EXPORT(multiply_add);
HWY_EXPORT(target_name);

}  // namespace

const char* get_instruction_set()
{
    return HWY_DYNAMIC_DISPATCH(target_name)();
}

// Takes the best of some hundred measurements, each shorter than a time slice: others were
// interrupted.
double measure_peak_gflops()
{
    double best = 0;
    for (int i = 0; i < 300; ++i) {
        float sum = 0;
        const double start = now_ns();
        const double operations = HWY_DYNAMIC_DISPATCH(multiply_add)(20'000, &sum);
        best = std::max(best, operations / (now_ns() - start));
        if (sum == 0) return 0;  // never true; it uses the accumulators
    }
    return best;
}

}  // namespace machine
#endif  // HWY_ONCE

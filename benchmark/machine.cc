// SPDX-License-Identifier: Apache-2.0
// What the machine can do at this moment, for compare_ort.mjs. Prints as JSON:
//   instruction_set  the widest vectors that the processor has
//   peak_gflops      of one core, in fused multiply-adds of fp32 that wait for nothing
//   latency_ns       how long a word takes from one core to another, for the first two that this
//                    process may use; null where it may use one. On virtual machines it changes
//                    from minute to minute, as the host moves the cores
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmark/machine.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace machine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `steps` times twelve multiply-adds, independent of each other: a latency of 4 or 5 in two units,
// and 16 registers hold them. Returns how many operations on numbers that is.
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

HWY_EXPORT(multiply_add);
HWY_EXPORT(target_name);

double now_ns()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

// Of some hundred measurements, each shorter than a time slice, the best: others were interrupted.
double measure_peak()
{
    double best = 0;
    for (int i = 0; i < 300; ++i) {
        float sum = 0;
        const double start = now_ns();
        const double operations = HWY_DYNAMIC_DISPATCH(multiply_add)(20'000, &sum);
        best = std::max(best, operations / (now_ns() - start));
        if (sum == 0) return 0;  // never; the sums are in use
    }
    return best;
}

bool pin_to(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(core), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

// A word is passed to and fro. The median of some series is printed: cores that are taken away make
// single ones long.
constexpr int kSeries = 31, kPasses = 2000;

double measure_latency(int first, int second)
{
    std::atomic<int> word{0};
    std::thread other([&] {
        pin_to(second);
        for (int pass = 1; pass < 2 * kSeries * kPasses; pass += 2) {
            while (word.load(std::memory_order_acquire) != pass) {
            }
            word.store(pass + 1, std::memory_order_release);
        }
    });
    pin_to(first);
    double series[kSeries];
    int pass = 0;
    for (double& ns : series) {
        const double start = now_ns();
        for (int i = 0; i < kPasses; ++i) {
            word.store(++pass, std::memory_order_release);
            ++pass;
            while (word.load(std::memory_order_acquire) != pass) {
            }
        }
        ns = (now_ns() - start) / (2 * kPasses);
    }
    other.join();
    std::nth_element(series, series + kSeries / 2, series + kSeries);
    return series[kSeries / 2];
}

void print()
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    int usable[2], count = 0;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        for (size_t core = 0; core < CPU_SETSIZE && count < 2; ++core)
            if (CPU_ISSET(core, &cores)) usable[count++] = static_cast<int>(core);
    std::printf("{\"instruction_set\": \"%s\", \"peak_gflops\": %.1f, \"latency_ns\": ",
                HWY_DYNAMIC_DISPATCH(target_name)(), measure_peak());
    if (count == 2)
        std::printf("%.0f}\n", measure_latency(usable[0], usable[1]));
    else
        std::printf("null}\n");
}

}  // namespace machine

int main()
{
    machine::print();
    return 0;
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Measures the machine at this moment, for compare_ort.mjs. Prints as JSON:
//   instruction_set  the widest vectors that the processor has
//   peak_gflops      of one core, in fused multiply-adds of fp32 that wait for nothing
//   latency_ns       how long a word takes from one core to another, for the first two that this
//                    process may use; null where it may use one. On virtual machines it changes
//                    from minute to minute, as the host moves the cores
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "benchmark/peak.h"

namespace machine {
namespace {

bool pin_to(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(core), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

// A word is passed back and forth. The median of several series is printed: a single one is long if
// a core is taken away meanwhile.
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
                get_instruction_set(), measure_peak_gflops());
    if (count == 2)
        std::printf("%.0f}\n", measure_latency(usable[0], usable[1]));
    else
        std::printf("null}\n");
}

}  // namespace
}  // namespace machine

int main()
{
    machine::print();
    return 0;
}

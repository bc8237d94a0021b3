// SPDX-License-Identifier: Apache-2.0
// The peak speed of one core.
#pragma once

#include <chrono>

namespace machine {

inline double now_ns()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::nano>(now).count();
}

// Returns Highway's name of the widest vectors that the processor has ("AVX3").
const char* get_instruction_set();

// Measures the peak of one core in 10^9 operations a second: independent fused multiply-adds of
// fp32, counted as two. Takes some 100 ms.
double measure_peak_gflops();

}  // namespace machine

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

// The widest vectors that the processor has, by Highway's name ("AVX3").
const char* get_instruction_set();

// The peak of one core in 10^9 operations a second: fused multiply-adds of fp32, counted as two,
// that wait for nothing. Takes some 100 ms.
double measure_peak_gflops();

}  // namespace machine

// SPDX-License-Identifier: Apache-2.0
// The time that a function takes.
#pragma once

#include <chrono>

namespace tengine::tools {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <typename Function>
double milliseconds(const Function& function)
{
    const Clock::time_point start = Clock::now();
    function();
    return milliseconds_since(start);
}

}  // namespace tengine::tools

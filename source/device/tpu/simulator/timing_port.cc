// SPDX-License-Identifier: Apache-2.0
#include "device/tpu/simulator/timing_port.h"

#include <algorithm>
#include <limits>

namespace tengine::tpu {
namespace {

// Gaps below this are rounding errors.
constexpr double kLeastGap = 1e-6;

}  // namespace

Port::Port(double bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle)
{
    free_.emplace(0.0, std::numeric_limits<double>::infinity());
}

double Port::reserve(double from, double bytes)
{
    double needed = bytes / bytes_per_cycle_;
    // Finds the gap at `from`, or the next one.
    auto gap = free_.upper_bound(from);
    if (gap != free_.begin() && std::prev(gap)->second > from) --gap;
    for (;;) {
        const double gap_begin = gap->first, gap_end = gap->second;
        const double begin = std::max(gap_begin, from);
        const double end = std::min(begin + needed, gap_end);
        gap = free_.erase(gap);
        if (begin - gap_begin > kLeastGap) free_.emplace_hint(gap, gap_begin, begin);
        if (gap_end - end > kLeastGap) free_.emplace_hint(gap, end, gap_end);
        needed -= end - begin;
        if (needed <= kLeastGap) return end;
    }
}

}  // namespace tengine::tpu

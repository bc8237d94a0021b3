// SPDX-License-Identifier: Apache-2.0
// A memory port in time: transfers take the time that no earlier instruction's transfer takes.
#pragma once

#include <map>

namespace tengine::tpu {

// Times are cycles. They are fractions, kept as double: a transfer of 1349.27 cycles that follows
// another begins where that ended, so that nothing is rounded up on the way.
class Port
{
  public:
    explicit Port(double bytes_per_cycle);

    // Takes the first free time from `from` on, in pieces when others have some of it already,
    // until `bytes` have passed. Sets when the last one has.
    double reserve(double from, double bytes);

  private:
    double bytes_per_cycle_;
    std::map<double, double> free_;  // begin -> end of the gaps; the last has no end
};

}  // namespace tengine::tpu

// SPDX-License-Identifier: Apache-2.0
// A memory port over time: transfers take the times that no earlier transfer has taken.
#pragma once

#include <map>

namespace tengine::tpu {

// Times are fractions of cycles, as double: a transfer of 1349.27 cycles is followed by another at
// that time, so that intermediate times are not rounded up.
class Port
{
  public:
    explicit Port(double bytes_per_cycle);

    // Takes the first free time from `from` on, in pieces if some of it is taken, until `bytes`
    // have passed. Returns the end of the last piece.
    double reserve(double from, double bytes);

  private:
    double bytes_per_cycle_;
    std::map<double, double> free_;  // begin -> end of the gaps; the last is open
};

}  // namespace tengine::tpu

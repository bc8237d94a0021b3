// SPDX-License-Identifier: Apache-2.0
// The distribution of the values of a tensor over all samples. range.h chooses the range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/containers.hpp"

namespace tengine::calibration {

// Bins of one width, kBins on each side of zero. The first values set the width; a value outside
// doubles it as often as needed, by joining bins in pairs. Zeros are counted apart: every
// quantisation represents them exactly.
class Histogram
{
  public:
    static constexpr int kBins = 2048;

    // Returns false, and takes nothing, if a value is not finite.
    bool add(const float* values, size_t number);

    bool empty() const { return total_ == 0; }
    float least() const { return least_; }
    float greatest() const { return greatest_; }
    double width() const { return width_; }
    uint64_t zeros() const { return zeros_; }
    uint64_t total() const { return total_; }  // with zeros

    // Bin of the values from `bin` x width to (`bin` + 1) x width, -kBins <= bin < kBins.
    uint64_t count(int bin) const { return counts_[static_cast<size_t>(bin + kBins)]; }

  private:
    void widen(double magnitude);

    Vector<uint64_t> counts_ = Vector<uint64_t>(size_t{2} * kBins, 0);
    double width_ = 0;
    uint64_t zeros_ = 0;
    uint64_t total_ = 0;
    float least_ = 0;
    float greatest_ = 0;
};

}  // namespace tengine::calibration

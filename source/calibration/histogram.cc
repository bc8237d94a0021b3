// SPDX-License-Identifier: Apache-2.0
// Counts values. The contract is in histogram.h.
#include "calibration/histogram.h"

#include <algorithm>
#include <cmath>

namespace tengine::calibration {

bool Histogram::add(const float* values, size_t number)
{
    float least = empty() && number > 0 ? values[0] : least_;
    float greatest = empty() && number > 0 ? values[0] : greatest_;
    for (size_t i = 0; i < number; ++i) {
        if (!std::isfinite(values[i])) return false;
        least = std::min(least, values[i]);
        greatest = std::max(greatest, values[i]);
    }
    least_ = least;
    greatest_ = greatest;
    total_ += number;
    widen(
        std::max(std::fabs(static_cast<double>(least)), std::fabs(static_cast<double>(greatest))));
    for (size_t i = 0; i < number; ++i) {
        if (values[i] == 0.0f) {
            ++zeros_;
            continue;
        }
        const int bin = static_cast<int>(std::floor(values[i] / width_));
        ++counts_[static_cast<size_t>(std::clamp(bin, -kBins, kBins - 1) + kBins)];
    }
    return true;
}

void Histogram::widen(double magnitude)
{
    if (magnitude == 0) return;
    if (width_ == 0) width_ = magnitude / kBins;
    for (; width_ * kBins < magnitude; width_ *= 2) {
        Vector<uint64_t> joined(counts_.size(), 0);
        for (size_t i = 0; i < counts_.size(); ++i)
            joined[(i + kBins) / 2] += counts_[i];
        counts_ = std::move(joined);
    }
}

}  // namespace tengine::calibration

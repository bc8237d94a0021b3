// SPDX-License-Identifier: Apache-2.0
// The range that int8 covers, from the distribution of a tensor. The library makes a scale and a
// zero point of it.
#pragma once

#include "calibration/histogram.h"
#include "tengine/export.h"

namespace tengine::calibration {

enum class RangeMethod
{
    kMinMax,
    kPercentile,
    kEntropy,
    kSquaredError
};

constexpr double kDefaultPercentile = 99.99;

struct Range
{
    double low = 0;
    double high = 0;
};

// "minmax", "percentile", "kl" or "mse"; TENGINE_EINVAL for any other.
TENGINE_MUST_USE int parse_range_method(const char* name, RangeMethod* out_method);
const char* name_of(RangeMethod method);

// The range that the method finds best; values outside will saturate.
//   minmax      all values.
//   percentile  the values without an equal share at both ends, so that `percentile` % stay.
//   kl          where the values' distribution loses the least information (Kullback-Leibler
//               divergence) when it is represented by 256 levels; S. Migacz, "8-bit Inference with
//               TensorRT", GPU Technology Conference 2017. At most a thousandth of the values other
//               than zero is cut off.
//   mse         where the expected squared error is least: scale² / 12 for a value inside (rounding
//               error of even distribution; B. Widrow, I. Kollár, "Quantization Noise", 2008), its
//               square for one nearer to zero than scale / 2, the squared distance to the range for
//               one outside.
// The last two cut both ends at one magnitude.
Range choose_range(const Histogram& histogram, RangeMethod method, double percentile);

}  // namespace tengine::calibration

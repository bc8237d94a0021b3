// SPDX-License-Identifier: Apache-2.0
// Statistics of measured times.
#pragma once

#include <vector>

namespace tengine::tools {

struct Summary
{
    double min = 0;
    double median = 0;
    double mean = 0;
    double deviation = 0;  // standard deviation of the sample; 0 of one value
    double p90 = 0;        // nearest rank: the smallest value that 90 % of the values do not exceed
    double p99 = 0;
};

// All zero for no values.
Summary summarise(std::vector<double> values);

}  // namespace tengine::tools

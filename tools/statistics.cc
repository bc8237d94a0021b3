// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tengine::tools {
namespace {

// `values` are in ascending order.
double nearest_rank(const std::vector<double>& values, double share)
{
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double middle_of(const std::vector<double>& values)
{
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double deviation_of(const std::vector<double>& values, double mean)
{
    if (values.size() < 2) return 0;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

Summary summarise(std::vector<double> values)
{
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    Summary summary;
    summary.min = values.front();
    summary.median = middle_of(values);
    summary.mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    summary.deviation = deviation_of(values, summary.mean);
    summary.p90 = nearest_rank(values, 0.90);
    summary.p99 = nearest_rank(values, 0.99);
    return summary;
}

}  // namespace tengine::tools

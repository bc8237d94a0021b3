// SPDX-License-Identifier: Apache-2.0
// Ranges and scales. The contract is in range.h.
#include "calibration/range.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "calibration/failure.h"
#include "tengine/error.h"

namespace tengine::calibration {
namespace {

constexpr int kBins = Histogram::kBins;
constexpr int kLevels = 256;
constexpr int kCandidateStep = 16;       // bins between two candidates
constexpr double kToldOfNothing = 1e-4;  // a share instead of 0 keeps divergences finite
// A divergence ignores the distance of a value. A larger share than this is not outliers.
constexpr double kMostCut = 1e-3;

struct MethodName
{
    const char* name;
    RangeMethod method;
};

constexpr MethodName kMethodNames[] = {
    {"minmax", RangeMethod::kMinMax},
    {"percentile", RangeMethod::kPercentile},
    {"kl", RangeMethod::kEntropy},
    {"mse", RangeMethod::kSquaredError},
};

Range full_range(const Histogram& histogram)
{
    return {histogram.least(), histogram.greatest()};
}

Range clip(const Histogram& histogram, double magnitude)
{
    return {std::max<double>(histogram.least(), -magnitude),
            std::min<double>(histogram.greatest(), magnitude)};
}

// The value below which `share` of all values lie.
double quantile(const Histogram& histogram, double share)
{
    const double wanted = share * static_cast<double>(histogram.total());
    double below = 0;
    for (int bin = -kBins; bin < kBins; ++bin) {
        if (bin == 0) {
            below += static_cast<double>(histogram.zeros());
            if (below >= wanted) return 0;
        }
        const double here = static_cast<double>(histogram.count(bin));
        if (here > 0 && below + here >= wanted)
            return (bin + std::max(0.0, wanted - below) / here) * histogram.width();
        below += here;
    }
    return histogram.greatest();
}

Range percentile_range(const Histogram& histogram, double percentile)
{
    const double tail = (1 - percentile / 100) / 2;
    const Range full = full_range(histogram);
    // Positions within a bin may exceed all values.
    return {std::clamp(quantile(histogram, tail), full.low, full.high),
            std::clamp(quantile(histogram, 1 - tail), full.low, full.high)};
}

// The count of a bin for a divergence. The two beside zero hold values that hardly differ from it,
// in a sigmoid's results nearly everything, and any range represents them well enough; they count
// as their neighbours do, as in TensorRT. Otherwise only those values would determine the range,
// which would cut off all others.
double count_beside_zero(const Histogram& histogram, int bin)
{
    return static_cast<double>(histogram.count(bin == 0 ? 1 : bin == -1 ? -2 : bin));
}

// Kullback-Leibler divergence between the counts and their representation by kLevels levels: each
// level spreads its count evenly over those of its bins that are not empty. Values outside the
// range count in its first and last bin, as they saturate.
double divergence(const Histogram& histogram, int first, int last)
{
    const int bins = last - first;
    Vector<double> clipped(static_cast<size_t>(bins));
    for (int bin = -kBins; bin < kBins; ++bin)
        clipped[static_cast<size_t>(std::clamp(bin, first, last - 1) - first)] +=
            count_beside_zero(histogram, bin);
    double total_divergence = 0;
    double told_total = 0;
    double total = 0;
    for (const double count : clipped)
        total += count;
    for (int bin = first; bin < last; ++bin)
        told_total += count_beside_zero(histogram, bin);
    if (told_total == 0) return std::numeric_limits<double>::infinity();
    for (int level = 0; level < kLevels; ++level) {
        const int begin = static_cast<int>(static_cast<int64_t>(level) * bins / kLevels);
        const int end = static_cast<int>(static_cast<int64_t>(level + 1) * bins / kLevels);
        double held = 0;
        int filled = 0;
        for (int i = begin; i < end; ++i) {
            held += count_beside_zero(histogram, first + i);
            filled += clipped[static_cast<size_t>(i)] > 0 ? 1 : 0;
        }
        // A level with saturated values only gives no information about them.
        const double told = held > 0 ? held / filled / told_total : kToldOfNothing;
        for (int i = begin; i < end; ++i) {
            const double share = clipped[static_cast<size_t>(i)] / total;
            if (share > 0) total_divergence += share * std::log(share / told);
        }
    }
    return total_divergence;
}

double squared_error(const Histogram& histogram, const Range& range)
{
    const double scale = (std::max(range.high, 0.0) - std::min(range.low, 0.0)) / (kLevels - 1);
    double error = 0;
    for (int bin = -kBins; bin < kBins; ++bin) {
        if (histogram.count(bin) == 0) continue;
        const double value = (bin + 0.5) * histogram.width();
        const double outside = std::max({range.low - value, value - range.high, 0.0});
        error += static_cast<double>(histogram.count(bin)) *
                 (outside > 0 ? outside * outside : scale * scale / 12);
    }
    return error;
}

double cost(const Histogram& histogram, RangeMethod method, int bins)
{
    const Range range = clip(histogram, bins * histogram.width());
    if (method == RangeMethod::kSquaredError) return squared_error(histogram, range);
    const int first =
        std::max(-bins, static_cast<int>(std::floor(std::min(0.0, range.low) / histogram.width())));
    const int last =
        std::min(bins, static_cast<int>(std::ceil(std::max(0.0, range.high) / histogram.width())));
    return divergence(histogram, first, std::max(last, first + 1));
}

// The share of the values other than zero that lie `bins` or more from it.
double share_outside(const Histogram& histogram, int bins)
{
    uint64_t outside = 0;
    for (int bin = bins; bin < kBins; ++bin)
        outside += histogram.count(bin) + histogram.count(-bin - 1);
    return static_cast<double>(outside) /
           static_cast<double>(std::max<uint64_t>(1, histogram.total() - histogram.zeros()));
}

// The smallest of equally good magnitudes would be arbitrary; the largest is used.
Range search(const Histogram& histogram, RangeMethod method)
{
    const double most_outside = method == RangeMethod::kEntropy ? kMostCut : 1;
    double best_cost = std::numeric_limits<double>::infinity();
    int best = kBins;
    for (int bins = kBins; bins >= kLevels; bins -= kCandidateStep) {
        if (share_outside(histogram, bins) > most_outside) break;
        const double here = cost(histogram, method, bins);
        if (here >= best_cost) continue;
        best_cost = here;
        best = bins;
    }
    return clip(histogram, best * histogram.width());
}

}  // namespace

int parse_range_method(const char* name, RangeMethod* out_method)
{
    String names;
    for (const MethodName& known : kMethodNames) {
        *out_method = known.method;
        if (std::strcmp(name, known.name) == 0) return TENGINE_OK;
        names += (names.empty() ? "" : ", ") + String(known.name);
    }
    return fail(TENGINE_EINVAL, "method: '%.40s': expected one of %s", name, names.c_str());
}

const char* name_of(RangeMethod method)
{
    for (const MethodName& known : kMethodNames)
        if (known.method == method) return known.name;
    return "";
}

Range choose_range(const Histogram& histogram, RangeMethod method, double percentile)
{
    if (histogram.width() == 0 || method == RangeMethod::kMinMax) return full_range(histogram);
    if (method == RangeMethod::kPercentile) return percentile_range(histogram, percentile);
    return search(histogram, method);
}

}  // namespace tengine::calibration

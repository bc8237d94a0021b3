// SPDX-License-Identifier: Apache-2.0
// Times the steps from file to result. The contract is in measurement.h.
#include "measurement.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "peak_memory.h"
#include "tengine/inspect.h"

namespace tengine::tools {
namespace {

using Clock = std::chrono::steady_clock;

template <typename Function>
double milliseconds(const Function& function)
{
    const Clock::time_point start = Clock::now();
    function();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The smallest time that at least `share` of all are not above. `times` are in ascending order.
double nearest_rank(const std::vector<double>& times, double share)
{
    const double rank = std::ceil(share * static_cast<double>(times.size()));
    return times[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double median_of(const std::vector<double>& times)
{
    const size_t middle = times.size() / 2;
    return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

void summarise(std::vector<double> times, Measurement* measurement)
{
    std::sort(times.begin(), times.end());
    measurement->runs = static_cast<int>(times.size());
    measurement->min = times.front();
    measurement->median = median_of(times);
    measurement->p90 = nearest_rank(times, 0.90);
    measurement->p99 = nearest_rank(times, 0.99);
    const double operations = 2.0 * static_cast<double>(measurement->macs);
    measurement->gflops = operations / (measurement->median * 1e6);
}

std::vector<CountedPart> read_counted_parts(graph_t graph, int part_number)
{
    std::vector<CountedPart> counted;
    for (int i = 0; i < part_number; ++i) {
        std::vector<Counter> counters = read_counters(graph, i);
        if (counters.empty()) continue;
        tengine_subgraph part;
        if (tengine_graph_get_subgraph(graph, i, &part) < 0) fail_api("part");
        counted.push_back({i, part.device, std::move(counters)});
    }
    return counted;
}

}  // namespace

Measurement measure(const std::string& path, int threads, const MeasureOptions& options,
                    const std::function<void(int, int)>& on_progress)
{
    Measurement result;
    result.model = path;
    result.threads = threads;
    reset_peak_memory();

    std::unique_ptr<Model> model;
    result.load = milliseconds([&] { model = std::make_unique<Model>(path, options.common); });
    model->set_inputs();
    result.prepare = milliseconds([&] { model->prepare(threads); });
    result.first_run = milliseconds([&] { model->run(); });

    tengine_graph_stats stats;
    if (tengine_graph_get_stats(model->graph(), &stats) < 0) fail_api(path);
    result.macs = stats.mac_number;

    std::vector<double> times;
    const int total = options.warmup + options.runs;
    for (int i = 0; i < total; ++i) {
        const double time = milliseconds([&] { model->run(); });
        if (i >= options.warmup) times.push_back(time);
        on_progress(i + 1, total);
    }
    result.peak_memory = peak_memory();
    result.counted = read_counted_parts(model->graph(), stats.subgraph_number);
    summarise(times, &result);
    return result;
}

}  // namespace tengine::tools

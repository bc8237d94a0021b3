// SPDX-License-Identifier: Apache-2.0
// Measures one model with one number of threads, for bench.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "counters.h"
#include "model.h"

namespace tengine::tools {

struct CountedPart
{
    int part = 0;
    std::string device;
    std::vector<Counter> counters;
};

struct Measurement
{
    std::string model;
    int threads = 0;
    int runs = 0;
    double load = 0;  // milliseconds, as the next ones
    double prepare = 0;
    double first_run = 0;
    double min = 0;  // of the runs after the warm-up
    double median = 0;
    double p90 = 0;  // nearest rank
    double p99 = 0;
    int64_t macs = 0;         // of one run, as the library counts
    double gflops = 0;        // 2 * macs / median
    int64_t peak_memory = 0;  // bytes of the process from load to the last run; 0: not known
    std::vector<CountedPart> counted;  // of the last run, where a device counted something
};

struct MeasureOptions
{
    int runs = 0;
    int warmup = 0;
    ModelOptions common;
};

// `on_progress` gets the number of finished runs, warm-up included, and their total.
Measurement measure(const std::string& path, int threads, const MeasureOptions& options,
                    const std::function<void(int, int)>& on_progress);

}  // namespace tengine::tools

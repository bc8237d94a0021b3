// SPDX-License-Identifier: Apache-2.0
// Measures one model with one number of threads, for bench.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "counters.h"
#include "model.h"
#include "profile.h"
#include "progress.h"
#include "report.h"
#include "statistics.h"

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
    int threads = 0;  // those with which the graph runs
    int frames = 1;
    int runs = 0;
    double load = 0;  // milliseconds, as the next ones
    double prepare = 0;
    double first_run = 0;
    Summary times;               // for the runs after the warm-up, each from its start to its end
    double runs_per_second = 0;  // of these runs
    int64_t macs = 0;            // for one run, as the library counts
    // 10^9 operations a second, two for each of macs: in the median run, or over all runs with
    // several frames. None where a device is simulated.
    std::optional<double> gflops;
    int64_t peak_memory = 0;  // bytes of the process from load to the last run; 0: not known
    std::vector<CountedPart> counted;  // for the last run, where a device counted something
    // The time of simulated devices for a run, by their own clocks. If there are any, the times
    // above are those of the simulator.
    std::map<std::string, double> simulated;
    std::optional<Profile> profile;
    std::optional<Report> report;  // after the last run, if it is requested
};

struct MeasureOptions
{
    int runs = 20;
    int warmup = 3;
    double seconds = 0;  // as many runs as fit, instead of `runs`; 0: not set
    int frames = 1;      // runs in flight at once
    bool profile = false;
    bool report = false;
    ModelOptions common;
};

// None when Ctrl-C was pressed before the end of the first measured run; after that run it ends the
// measurement, which then has fewer runs. Throws Failure.
std::optional<Measurement> measure(const std::string& path, int threads,
                                   const MeasureOptions& options, Progress* progress);

}  // namespace tengine::tools

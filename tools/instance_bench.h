// SPDX-License-Identifier: Apache-2.0
// `tengine bench --instances`: several instances of a model that share its weights, each on a
// thread of its own. measurement.h measures one graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "json_file.h"
#include "measurement.h"
#include "progress.h"

namespace tengine::tools {

struct InstanceMeasurement
{
    std::string model;
    int threads = 0;  // those with which each instance runs
    int instances = 0;
    double prepare = 0;       // milliseconds: prerun_graph of the first
    double prepare_next = 0;  // tengine_graph_share and prerun_graph of another, the mean
    int64_t memory = 0;       // peak of the process with one instance, in bytes; 0: not known
    int64_t memory_next = 0;  // that each other instance adds to it
    Summary alone;            // milliseconds of a run of one instance while the others wait
    Summary together;         // the same while all run
    double scaling = 0;       // runs in a time by all instances, as a multiple of those by one
};

// None when Ctrl-C was pressed before the end of the first round. Throws Failure.
std::optional<InstanceMeasurement> measure_instances(const std::string& path, int threads,
                                                     int instances, const MeasureOptions& options,
                                                     Progress* progress);

void print_instance_measurements(const std::vector<InstanceMeasurement>& measurements);

Json to_json(const std::vector<InstanceMeasurement>& measurements);

}  // namespace tengine::tools

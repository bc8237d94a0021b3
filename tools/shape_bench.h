// SPDX-License-Identifier: Apache-2.0
// `tengine bench --shapes`: a model whose inputs change their shape from run to run. measurement.h
// measures one shape.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json_file.h"
#include "measurement.h"
#include "progress.h"

namespace tengine::tools {

struct ShapeTimes
{
    std::string shape;
    double prepare = 0;  // milliseconds: prerun_graph when the shape was new
    Summary known;       // the same when the shape was known
    Summary run;         // a run after that
};

struct ShapeMeasurement
{
    std::string model;
    int threads = 0;  // those with which the graph runs
    int rounds = 0;   // in which each shape is known
    std::vector<ShapeTimes> shapes;
};

// Gives all inputs one shape after the other, prepares and runs, options.runs + 1 times. None when
// Ctrl-C was pressed before the end of the first round of known shapes; after it there are fewer
// rounds. Throws Failure.
std::optional<ShapeMeasurement> measure_shapes(const std::string& path, int threads,
                                               const std::vector<std::string>& shapes,
                                               const MeasureOptions& options, Progress* progress);

void print_shape_measurements(const std::vector<ShapeMeasurement>& measurements);

Json to_json(const std::vector<ShapeMeasurement>& measurements);

}  // namespace tengine::tools

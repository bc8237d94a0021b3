// SPDX-License-Identifier: Apache-2.0
// The report of `tengine bench` on its measurements, as text and as files. docs/benchmark.md
// describes both.
#pragma once

#include <vector>

#include "json_file.h"
#include "measurement.h"

namespace tengine::tools {

// Prints tables: the times, those of simulated devices in a table of their own; with a profile the
// `top` slowest nodes of each model; counters.
void print_measurements(const std::vector<Measurement>& measurements, int top);

Json to_json(const std::vector<Measurement>& measurements);

}  // namespace tengine::tools

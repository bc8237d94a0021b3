// SPDX-License-Identifier: Apache-2.0
// The trace of a prepared graph for its report.
#pragma once

#include <vector>

#include "json_file.h"
#include "tengine/trace.h"

namespace tengine::tools {

struct Trace
{
    std::vector<tengine_trace_lane> lanes;
    std::vector<tengine_trace_event> events;
};

// Empty without the option run.trace. Throws Failure.
Trace read_trace(graph_t graph);

// Null for an empty trace. Times are microseconds since the first event of their clock.
Json to_json(const Trace& trace);

}  // namespace tengine::tools

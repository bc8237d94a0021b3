// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <algorithm>

#include "model.h"

namespace tengine::tools {
namespace {

double microseconds(int64_t nanoseconds)
{
    return static_cast<double>(nanoseconds) / 1e3;
}

Json event_json(const tengine_trace_event& event, int64_t zero)
{
    return std::vector<Json>{event.lane,
                             microseconds(event.begin_ns - zero),
                             microseconds(event.end_ns - event.begin_ns),
                             tengine_trace_kind_get_name(event.kind),
                             event.node,
                             event.part,
                             event.run,
                             event.bytes,
                             event.status,
                             event.name};
}

}  // namespace

Trace read_trace(graph_t graph)
{
    Trace trace;
    const int lane_num = tengine_graph_get_trace_lane_number(graph);
    const int event_num = tengine_graph_get_trace_event_number(graph);
    if (lane_num < 0 || event_num < 0) fail_api("trace");
    trace.lanes.resize(static_cast<size_t>(lane_num));
    trace.events.resize(static_cast<size_t>(event_num));
    for (int i = 0; i < lane_num; ++i) {
        tengine_trace_lane& lane = trace.lanes[static_cast<size_t>(i)];
        if (tengine_graph_get_trace_lane(graph, i, &lane, sizeof lane) < 0) fail_api("trace");
    }
    for (int i = 0; i < event_num; ++i) {
        tengine_trace_event& event = trace.events[static_cast<size_t>(i)];
        if (tengine_graph_get_trace_event(graph, i, &event, sizeof event) < 0) fail_api("trace");
    }
    return trace;
}

Json to_json(const Trace& trace)
{
    if (trace.events.empty()) return nullptr;
    Json lanes = Json::array(), clocks = Json::array(), events = Json::array();
    for (const tengine_trace_lane& lane : trace.lanes) {
        lanes.push_back(lane.name);
        clocks.push_back(lane.clock);
    }
    // Events of this machine's clock come first, in their order.
    const int64_t zero = trace.events.front().begin_ns;
    for (const tengine_trace_event& event : trace.events) {
        const bool is_simulated = *trace.lanes.at(static_cast<size_t>(event.lane)).clock != 0;
        events.push_back(event_json(event, is_simulated ? 0 : zero));
    }
    return {{"clock", "monotonic"}, {"lanes", lanes}, {"clocks", clocks}, {"events", events}};
}

}  // namespace tengine::tools

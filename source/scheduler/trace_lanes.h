// SPDX-License-Identifier: Apache-2.0
// The trace of a graph as reports show it: all events in one list, each in a lane, in which events
// are disjoint or lie inside each other.
#pragma once

#include "base/trace.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct traced_event
{
    trace_event_t event;
    int lane;
    char cause[24];  // the name of an event of a simulated device
} ir_traced_event_t;

typedef struct trace_lane
{
    char name[64];
    const struct device* clock;  // the simulated device that has the times; NULL: get_time_ns()
    // For the choice of a lane: the key, the track that has it, and the end of its last event.
    const void* key;
    int slot;
    const trace_track_t* owner;
    int64_t end_ns;
} ir_trace_lane_t;

typedef struct trace_lanes
{
    struct vector* events;  // of ir_traced_event_t
    struct vector* lanes;   // of ir_trace_lane_t
} ir_trace_lanes_t;

// Between runs: reads the trace of a prepared graph into two new vectors, empty ones without a
// trace; release_ir_trace_lanes() frees them, also after a failure. ENOMEM, and the failures of
// devices.
TENGINE_MUST_USE int read_ir_trace(const struct graph* execution, ir_trace_lanes_t* out_lanes);
void release_ir_trace_lanes(void* lanes);

TENGINE_EXTERN_C_END

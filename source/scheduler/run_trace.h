// SPDX-License-Identifier: Apache-2.0
// The events of this room in the trace of a graph (base/trace.h), and the life of the trace: a
// preparation makes it if option run.trace is not 0, and the session keeps it. Bodies share that of
// the graph around them. trace_lanes.h reads it.
#pragma once

#include <string.h>

#include "base/trace.h"
#include "scheduler/boundary.h"
#include "scheduler/session.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

// The trace of a preparation that is being made.
typedef struct preparation_trace
{
    trace_t* trace;        // new, or NULL
    trace_track_t* outer;  // the thread's track before
    trace_track_t* track;  // and now
    int64_t begin_ns;
} ir_preparation_trace_t;

// These two enclose a preparation of the source graph. The second one gives the new trace its
// tracks after a success, and returns `status` or its own failure.
TENGINE_MUST_USE int begin_ir_preparation_trace(const struct graph* source,
                                                ir_preparation_trace_t* out_trace);
TENGINE_MUST_USE int end_ir_preparation_trace(struct graph* source,
                                              const ir_preparation_trace_t* trace, int status);

// The trace of a session; NULL: none. A build without traces drops what depends on it.
static inline trace_t* get_ir_trace(const ir_session_t* session)
{
    return IS_MINIMAL ? NULL : session->trace;
}

// The track for events of a run of this execution graph outside its parts; NULL: no trace.
static inline trace_track_t* find_ir_run_track(const struct graph* execution)
{
    trace_t* trace = get_ir_trace(get_ir_session(execution));
    trace_track_t* track = trace ? get_trace_track() : NULL;
    return !trace || (track && track->trace == trace) ? track : &trace->program;
}
// Adds the event of a run of the frame, and that of copies for it which began at `begin_ns`.
void trace_ir_run(const struct graph* execution, const ir_frame_t* frame, int status);
void trace_ir_inputs(const struct graph* execution, const ir_frame_t* frame, int64_t begin_ns);

// The calling thread's track before it works on a part, and the place of the part's track.
typedef struct part_trace
{
    trace_track_t* outer;
    trace_track_t* track;
    trace_place_t place;
} ir_part_trace_t;

// These two enclose the work of a thread on a part, where its session or the thread has a trace.
ir_part_trace_t begin_ir_part_trace(const struct subgraph* part, const ir_frame_t* frame);
void end_ir_part_trace(const ir_part_trace_t* trace);
static inline ir_part_trace_t enter_ir_part_trace(const struct subgraph* part,
                                                  const ir_frame_t* frame)
{
    ir_part_trace_t none;
    memset(&none, 0, sizeof(none));
    const bool is_traced = get_ir_trace(get_ir_session(part->graph)) || get_trace_track();
    return is_traced ? begin_ir_part_trace(part, frame) : none;
}
static inline void leave_ir_part_trace(const ir_part_trace_t* trace)
{
    if (trace->outer || trace->track) end_ir_part_trace(trace);
}

// Inside: names the device of the events that follow.
void set_ir_trace_device(trace_track_t* track, const struct device* device);
// Inside: these two enclose copies of these boundary tensors, and add their event if there are any.
// The first returns the time; 0: no event.
static inline int64_t begin_ir_copies(const trace_track_t* track, const ir_boundary_t* boundaries,
                                      int number)
{
    for (int i = 0; track && i < number; ++i)
        if (boundaries[i].copied) return get_trace_time(track);
    return 0;
}
void add_ir_copies(trace_track_t* track, const ir_boundary_t* boundaries, int number,
                   int64_t begin_ns);
static inline void trace_ir_copies(trace_track_t* track, const ir_boundary_t* boundaries,
                                   int number, int64_t begin_ns)
{
    if (begin_ns != 0) add_ir_copies(track, boundaries, number, begin_ns);
}

TENGINE_EXTERN_C_END

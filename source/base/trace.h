// SPDX-License-Identifier: Apache-2.0
// Traces: the last events of the preparation and the runs of a graph. Each writer has a track, a
// ring of its own, so that nothing is locked, and no run uses the heap. The scheduler room creates
// a trace and reads it (scheduler/trace_lanes.h).
//
// Code that is traced finds the track of its thread, NULL if there is no trace: the thread enters
// the track of a part before it runs it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/minimal.h"
#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// The owner of an event.
typedef struct trace_place
{
    int32_t graph;       // number of the execution graph or body in the trace, from 1; 0: none
    int32_t node;        // index in that graph; -1: none
    int32_t part;        // the same
    int64_t run;         // -1: none
    const char* device;  // that works on it, NULL: none; outlives the trace
} trace_place_t;

typedef struct trace_event
{
    trace_place_t place;
    int64_t begin_ns;  // of get_time_ns()
    int64_t end_ns;
    int64_t bytes;
    const char* name;  // NULL: none; outlives the trace
    int32_t kind;      // TENGINE_TRACE_*, tengine/trace.h
    int32_t status;
} trace_event_t;

// The ring of one writer. Its last events are events[i % capacity], i below `number`.
typedef struct trace_track
{
    struct trace* trace;
    trace_event_t* events;
    trace_event_t* next;  // the one to be written
    int64_t number;       // of events that were ever added
    trace_place_t place;  // of the next event
} trace_track_t;

typedef struct trace
{
    int holder_num;
    int64_t capacity;       // of each track
    int graph_num;          // execution graphs that have a number
    trace_track_t program;  // of the thread that calls the library
    trace_track_t* parts;   // of the parts of the graph around all bodies; NULL until there are any
    int part_num;
    trace_track_t* threads;  // of the workers of the thread pool
    int thread_num;
} trace_t;

// A trace without tracks of parts and threads, which has one holder; and these tracks. ENOMEM.
TENGINE_MUST_USE int create_trace(int64_t capacity, trace_t** out_trace);
TENGINE_MUST_USE int add_trace_tracks(trace_t* trace, int part_num, int thread_num);
trace_t* hold_trace(trace_t* trace);  // NULL is allowed
// The last holder frees it. Any thread may hold and release it; NULL is allowed.
void release_trace(trace_t* trace);
// The number of a new execution graph. Any thread.
int number_trace_graph(trace_t* trace);
// Drops all events.
void clear_trace(trace_t* trace);

// The track of the calling thread. The second function sets it and returns the one before.
trace_track_t* find_trace_track(void);
trace_track_t* enter_trace_track(trace_track_t* track);

// Adds an event at the track's place; NULL: does nothing.
void add_trace_event(trace_track_t* track, int kind, const char* name, int64_t begin_ns,
                     int64_t end_ns, int64_t bytes, int status);

// The track of the calling thread in a library that has traces, and the time if there is one.
static inline trace_track_t* get_trace_track(void)
{
    return IS_MINIMAL ? NULL : find_trace_track();
}
static inline int64_t get_trace_time(const trace_track_t* track)
{
    return track ? (int64_t)get_time_ns() : 0;
}
// Adds an event that ends now.
static inline void end_trace_event(trace_track_t* track, int kind, const char* name,
                                   int64_t begin_ns, int status)
{
    if (track) add_trace_event(track, kind, name, begin_ns, get_trace_time(track), 0, status);
}

TENGINE_EXTERN_C_END

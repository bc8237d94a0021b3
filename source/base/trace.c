// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <stddef.h>

#include "base/alloc.h"
#include "tengine/error.h"

static const trace_place_t nowhere = {.node = -1, .part = -1, .run = -1};

static _Thread_local trace_track_t* thread_track;

trace_track_t* find_trace_track(void)
{
    return thread_track;
}

trace_track_t* enter_trace_track(trace_track_t* track)
{
    trace_track_t* before = thread_track;
    thread_track = track;
    return before;
}

static bool init_track(trace_track_t* track, trace_t* trace)
{
    track->trace = trace;
    track->place = nowhere;
    track->events = alloc_memory(sizeof *track->events * (size_t)trace->capacity);
    track->next = track->events;
    return track->events != NULL;
}

static bool init_tracks(trace_track_t** tracks, int* number, int wanted, trace_t* trace)
{
    *tracks = alloc_memory(sizeof **tracks * (size_t)wanted);
    if (!*tracks) return false;
    for (; *number < wanted; ++*number)
        if (!init_track(&(*tracks)[*number], trace)) return false;
    return true;
}

static int fail_memory(const trace_t* trace)
{
    return tengine_error_set(TENGINE_ENOMEM,
                             "out of memory for a trace of %lld events (option run.trace)",
                             (long long)trace->capacity);
}

int create_trace(int64_t capacity, trace_t** out_trace)
{
    trace_t* trace = alloc_memory(sizeof *trace);
    if (!trace) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a trace");
    trace->holder_num = 1;
    trace->capacity = capacity;
    if (!init_track(&trace->program, trace)) {
        const int status = fail_memory(trace);
        release_trace(trace);
        return status;
    }
    *out_trace = trace;
    return TENGINE_OK;
}

int add_trace_tracks(trace_t* trace, int part_num, int thread_num)
{
    const bool made = init_tracks(&trace->parts, &trace->part_num, part_num, trace) &&
                      init_tracks(&trace->threads, &trace->thread_num, thread_num, trace);
    return made ? TENGINE_OK : fail_memory(trace);
}

trace_t* hold_trace(trace_t* trace)
{
    if (trace) __atomic_add_fetch(&trace->holder_num, 1, __ATOMIC_RELAXED);
    return trace;
}

int number_trace_graph(trace_t* trace)
{
    return __atomic_add_fetch(&trace->graph_num, 1, __ATOMIC_RELAXED);
}

static void free_tracks(trace_track_t* tracks, int number)
{
    for (int i = 0; i < number; ++i)
        free_memory(tracks[i].events);
    free_memory(tracks);
}

void release_trace(trace_t* trace)
{
    if (!trace || __atomic_sub_fetch(&trace->holder_num, 1, __ATOMIC_ACQ_REL) > 0) return;
    free_memory(trace->program.events);
    free_tracks(trace->parts, trace->part_num);
    free_tracks(trace->threads, trace->thread_num);
    free_memory(trace);
}

static void clear_tracks(trace_track_t* tracks, int number)
{
    for (int i = 0; i < number; ++i) {
        tracks[i].number = 0;
        tracks[i].next = tracks[i].events;
        tracks[i].place = nowhere;
    }
}

void clear_trace(trace_t* trace)
{
    clear_tracks(&trace->program, 1);
    clear_tracks(trace->parts, trace->part_num);
    clear_tracks(trace->threads, trace->thread_num);
}

void add_trace_event(trace_track_t* track, int kind, const char* name, int64_t begin_ns,
                     int64_t end_ns, int64_t bytes, int status)
{
    if (!track) return;
    trace_event_t* event = track->next++;
    if (track->next == track->events + track->trace->capacity) track->next = track->events;
    ++track->number;
    event->place = track->place;
    event->begin_ns = begin_ns;
    event->end_ns = end_ns;
    event->bytes = bytes;
    event->name = name;
    event->kind = kind;
    event->status = status;
}

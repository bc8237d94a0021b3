// SPDX-License-Identifier: Apache-2.0
#include "scheduler/trace_lanes.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "graph/graph.h"
#include "scheduler/failure.h"
#include "scheduler/runner.h"
#include "scheduler/session.h"
#include "tengine/trace.h"

// The keys of lanes besides names of devices.
static const char program_key, frame_key, copy_key, thread_key;

static int fail_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for the events of a trace");
}

// ---- the events of all tracks ----

// An event while lanes are chosen.
typedef struct entry
{
    ir_traced_event_t shown;
    const trace_track_t* track;
} entry_t;

static int add_track(const trace_track_t* track, struct vector* entries)
{
    const int64_t capacity = track->trace->capacity;
    const int64_t first = track->number > capacity ? track->number - capacity : 0;
    for (int64_t i = first; i < track->number; ++i) {
        const entry_t entry = {.shown = {.event = track->events[i % capacity]}, .track = track};
        if (push_vector_data(entries, &entry) < 0) return fail_memory();
    }
    return TENGINE_OK;
}

static int add_tracks(const trace_track_t* tracks, int number, struct vector* entries)
{
    for (int i = 0; i < number; ++i)
        TENGINE_RETURN_IF_ERROR(add_track(&tracks[i], entries));
    return TENGINE_OK;
}

// An event comes before those inside it, which its track has after it.
static int compare_entries(const void* left, const void* right)
{
    const trace_event_t* a = &((const entry_t*)left)->shown.event;
    const trace_event_t* b = &((const entry_t*)right)->shown.event;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns) return a->end_ns > b->end_ns ? -1 : 1;
    return a->kind - b->kind;
}

static int list_entries(const trace_t* trace, struct vector* entries)
{
    TENGINE_RETURN_IF_ERROR(add_track(&trace->program, entries));
    TENGINE_RETURN_IF_ERROR(add_tracks(trace->parts, trace->part_num, entries));
    TENGINE_RETURN_IF_ERROR(add_tracks(trace->threads, trace->thread_num, entries));
    if (get_vector_num(entries) > 1)
        sort_items(get_vector_data(entries, 0), (size_t)get_vector_num(entries), sizeof(entry_t),
                   compare_entries);
    return TENGINE_OK;
}

// ---- lanes ----

// The kind of lane that an event is in: its key, and its number among the lanes of this key, -1 for
// the first that is free.
static const void* find_key(const ir_session_t* session, const entry_t* entry, int* out_slot)
{
    const trace_t* trace = session->trace;
    const trace_event_t* event = &entry->shown.event;
    *out_slot = -1;
    if (event->kind == TENGINE_TRACE_COPY) return &copy_key;
    if (event->kind == TENGINE_TRACE_SHARE) {
        *out_slot = (int)(entry->track - trace->threads);
        return &thread_key;
    }
    if (entry->track != &trace->program) return event->place.device;
    *out_slot = 0;
    if (event->kind != TENGINE_TRACE_RUN || session->frame_num == 1) return &program_key;
    *out_slot = (int)(event->place.run % session->frame_num);
    return &frame_key;
}

static void name_lane(ir_trace_lane_t* lane)
{
    const char* cpu = find_default_device()->name;
    if (lane->key == &program_key)
        snprintf(lane->name, sizeof lane->name, "program");
    else if (lane->key == &frame_key)
        snprintf(lane->name, sizeof lane->name, "frame %d", lane->slot);
    else if (lane->key == &thread_key)
        snprintf(lane->name, sizeof lane->name, "%s, thread %d", cpu, lane->slot);
    else {
        const char* name = lane->key == &copy_key ? "copies" : lane->key;
        if (lane->slot == 0)
            snprintf(lane->name, sizeof lane->name, "%s", name);
        else
            snprintf(lane->name, sizeof lane->name, "%.40s (%d)", name, lane->slot + 1);
    }
}

// Whether the event may be in the lane: nothing is there at its time, or only events of its track,
// which it lies in.
static bool fits(const ir_trace_lane_t* lane, const entry_t* entry)
{
    return entry->shown.event.begin_ns >= lane->end_ns || lane->owner == entry->track;
}

static int choose_lane(const ir_session_t* session, struct vector* lanes, entry_t* entry)
{
    const trace_event_t* event = &entry->shown.event;
    int slot;
    const void* key = find_key(session, entry, &slot);
    ir_trace_lane_t* found = NULL;
    int same_num = 0;
    for (int i = 0; i < get_vector_num(lanes) && !found; ++i) {
        ir_trace_lane_t* lane = get_vector_data(lanes, i);
        if (lane->key != key) continue;
        if (slot < 0 ? fits(lane, entry) : lane->slot == slot) {
            found = lane;
            entry->shown.lane = i;
        }
        ++same_num;
    }
    if (!found) {
        ir_trace_lane_t lane = {.key = key, .slot = slot < 0 ? same_num : slot};
        name_lane(&lane);
        if (push_vector_data(lanes, &lane) < 0) return fail_memory();
        entry->shown.lane = get_vector_num(lanes) - 1;
        found = get_vector_data(lanes, entry->shown.lane);
    }
    if (event->end_ns > found->end_ns) {
        found->end_ns = event->end_ns;
        found->owner = entry->track;
    }
    return TENGINE_OK;
}

static int read_tracks(const ir_session_t* session, struct vector* entries, ir_trace_lanes_t* lanes)
{
    TENGINE_RETURN_IF_ERROR(list_entries(session->trace, entries));
    for (int i = 0; i < get_vector_num(entries); ++i) {
        entry_t* entry = get_vector_data(entries, i);
        TENGINE_RETURN_IF_ERROR(choose_lane(session, lanes->lanes, entry));
        if (push_vector_data(lanes->events, &entry->shown) < 0) return fail_memory();
    }
    return TENGINE_OK;
}

// ---- units of simulated devices ----

static int find_unit_lane(const struct device* device, const char* unit, struct vector* lanes)
{
    ir_trace_lane_t lane = {.clock = device, .key = device};
    snprintf(lane.name, sizeof lane.name, "%.36s, %.24s", device->name, unit);
    for (int i = 0; i < get_vector_num(lanes); ++i)
        if (strcmp(((ir_trace_lane_t*)get_vector_data(lanes, i))->name, lane.name) == 0) return i;
    return push_vector_data(lanes, &lane) < 0 ? fail_memory() : get_vector_num(lanes) - 1;
}

// Parts of a device follow one another by its clock, from `*begin_ns` on.
static int add_interval(const struct subgraph* part, const struct device* device,
                        const ir_interval_t* interval, int64_t begin_ns, ir_trace_lanes_t* lanes)
{
    char unit[sizeof interval->unit];
    ir_traced_event_t traced = {
        .event = {.kind = TENGINE_TRACE_UNIT,
                  .place = {.graph = get_ir_session(part->graph)->trace_graph,
                            .node = -1,
                            .part = part->index,
                            .run = get_ir_session(part->graph)->started - 1},
                  .begin_ns = begin_ns + interval->begin_ns,
                  .end_ns = begin_ns + interval->end_ns}};
    // A device may have filled the strings to the last byte.
    snprintf(unit, sizeof unit, "%.*s", (int)sizeof unit - 1, interval->unit);
    snprintf(traced.cause, sizeof traced.cause, "%.*s", (int)sizeof traced.cause - 1,
             interval->cause);
    if (interval->node >= 0 && interval->node < part->node_num)
        traced.event.place.node = part->node_list[interval->node];
    const int lane = find_unit_lane(device, unit, lanes->lanes);
    if (lane < 0) return lane;
    traced.lane = lane;
    return push_vector_data(lanes->events, &traced) < 0 ? fail_memory() : TENGINE_OK;
}

static int64_t find_clock(const ir_trace_lanes_t* lanes, const struct device* device)
{
    int64_t end_ns = 0;
    for (int i = 0; i < get_vector_num(lanes->events); ++i) {
        const ir_traced_event_t* traced = get_vector_data(lanes->events, i);
        const ir_trace_lane_t* lane = get_vector_data(lanes->lanes, traced->lane);
        if (lane->clock == device && traced->event.end_ns > end_ns) end_ns = traced->event.end_ns;
    }
    return end_ns;
}

static int add_intervals(const struct subgraph* part, struct subgraph* compiled,
                         struct vector* intervals, ir_trace_lanes_t* lanes)
{
    struct device* device = compiled->device;
    tengine_error_clear();
    const int status = device->interface->timeline(device, compiled, intervals);
    if (status != 0) return fail_ir_entry(device, "timeline", part->index, part->node_num, status);
    const int64_t begin_ns = find_clock(lanes, device);
    const int64_t most = get_ir_session(part->graph)->trace->capacity;
    for (int i = 0; i < get_vector_num(intervals) && i < most; ++i)
        TENGINE_RETURN_IF_ERROR(
            add_interval(part, device, get_vector_data(intervals, i), begin_ns, lanes));
    return TENGINE_OK;
}

static int read_timelines(const struct graph* execution, ir_trace_lanes_t* lanes)
{
    for (int i = 0; i < get_vector_num(execution->subgraph_list); ++i) {
        const struct subgraph* part = get_ir_graph_subgraph(execution, i);
        struct subgraph* compiled = get_ir_compiled_part(part);
        if (part->core->measured_ns < 0 || !compiled || !compiled->device->interface->timeline)
            continue;
        struct vector* intervals = create_vector(sizeof(ir_interval_t), NULL);
        const int status =
            intervals ? add_intervals(part, compiled, intervals, lanes) : fail_memory();
        release_vector(intervals);
        TENGINE_RETURN_IF_ERROR(status);
    }
    return TENGINE_OK;
}

// ---- the whole ----

int read_ir_trace(const struct graph* execution, ir_trace_lanes_t* out_lanes)
{
    const ir_session_t* session = get_ir_session(execution);
    out_lanes->events = create_vector(sizeof(ir_traced_event_t), NULL);
    out_lanes->lanes = create_vector(sizeof(ir_trace_lane_t), NULL);
    if (!out_lanes->events || !out_lanes->lanes) return fail_memory();
    if (!session || !session->trace) return TENGINE_OK;
    struct vector* entries = create_vector(sizeof(entry_t), NULL);
    const int status = entries ? read_tracks(session, entries, out_lanes) : fail_memory();
    release_vector(entries);
    TENGINE_RETURN_IF_ERROR(status);
    return read_timelines(execution, out_lanes);
}

void release_ir_trace_lanes(void* lanes)
{
    ir_trace_lanes_t* released = lanes;
    release_vector(released->events);
    release_vector(released->lanes);
}

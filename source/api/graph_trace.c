// SPDX-License-Identifier: Apache-2.0
// trace.h.
#include <stdio.h>

#include "api/check.h"
#include "api/place.h"
#include "graph/graph.h"
#include "scheduler/session.h"
#include "scheduler/trace_lanes.h"
#include "tengine/trace.h"

static int fail_memory(void)
{
    return tengine_error_set(TENGINE_ENOMEM, "out of memory for a trace");
}

static int list_lanes(const struct graph* execution, ir_session_t* session)
{
    ir_trace_lanes_t lanes = {0};
    release_vector(session->lanes);
    session->lanes = create_vector(sizeof lanes, release_ir_trace_lanes);
    int status = session->lanes ? read_ir_trace(execution, &lanes) : fail_memory();
    if (status == TENGINE_OK && push_vector_data(session->lanes, &lanes) < 0)
        status = fail_memory();
    if (status == TENGINE_OK) {
        session->lanes_run = session->started;
        return TENGINE_OK;
    }
    release_ir_trace_lanes(&lanes);
    release_vector(session->lanes);
    session->lanes = NULL;
    return status;
}

// Finds the trace, which is kept until the next run. *out_lanes is NULL for a graph that is only
// placed. `out_execution` may be NULL.
static int find_lanes(graph_t graph, const char* function, const struct graph** out_execution,
                      const ir_trace_lanes_t** out_lanes)
{
    *out_lanes = NULL;
    const struct graph* execution = find_execution(graph, function, NULL);
    if (!execution) return tengine_error_code();
    if (out_execution) *out_execution = execution;
    ir_session_t* session = get_ir_session(execution);
    if (!session) return TENGINE_OK;
    if (!session->lanes || session->lanes_run != session->started)
        TENGINE_RETURN_IF_ERROR(list_lanes(execution, session));
    *out_lanes = get_vector_data(session->lanes, 0);
    return TENGINE_OK;
}

int tengine_graph_get_trace_event_number(graph_t graph)
{
    const ir_trace_lanes_t* lanes;
    if (find_lanes(graph, __func__, NULL, &lanes) < 0) return api_failure();
    return lanes ? get_vector_num(lanes->events) : 0;
}

int tengine_graph_get_trace_lane_number(graph_t graph)
{
    const ir_trace_lanes_t* lanes;
    if (find_lanes(graph, __func__, NULL, &lanes) < 0) return api_failure();
    return lanes ? get_vector_num(lanes->lanes) : 0;
}

int tengine_graph_get_trace_lane(graph_t graph, int index, struct tengine_trace_lane* out_lane,
                                 size_t size)
{
    const ir_trace_lanes_t* lanes;
    if (find_lanes(graph, __func__, NULL, &lanes) < 0 ||
        check_struct(out_lane, size, __func__, "out_lane") < 0 ||
        check_index(index, lanes ? get_vector_num(lanes->lanes) : 0, __func__, "lanes") < 0)
        return api_failure();
    const ir_trace_lane_t* lane = get_vector_data(lanes->lanes, index);
    struct tengine_trace_lane made = {.name = ""};
    snprintf(made.name, sizeof made.name, "%s", lane->name);
    snprintf(made.clock, sizeof made.clock, "%s", lane->clock ? lane->clock->name : "");
    give_struct(&made, sizeof made, out_lane, size);
    return 0;
}

// The numbers of an event's node and part in all graphs.
typedef struct numbering
{
    const trace_place_t* place;
    int node;
    int part;
} numbering_t;

// A body that has been prepared again since the event has another number.
static int number_event(const place_t* place, void* argument)
{
    numbering_t* numbering = argument;
    const ir_session_t* session = get_ir_session(place->graph);
    const trace_place_t* wanted = numbering->place;
    if (!session || session->trace_graph != wanted->graph) return TENGINE_OK;
    if (wanted->node >= 0) numbering->node = place->first_node + wanted->node;
    if (wanted->part >= 0) numbering->part = place->first_part + wanted->part;
    return TENGINE_OK;
}

int tengine_graph_get_trace_event(graph_t graph, int index, struct tengine_trace_event* out_event,
                                  size_t size)
{
    const ir_trace_lanes_t* lanes;
    const struct graph* execution;
    if (find_lanes(graph, __func__, &execution, &lanes) < 0 ||
        check_struct(out_event, size, __func__, "out_event") < 0 ||
        check_index(index, lanes ? get_vector_num(lanes->events) : 0, __func__, "events") < 0)
        return api_failure();
    const ir_traced_event_t* traced = get_vector_data(lanes->events, index);
    const trace_event_t* event = &traced->event;
    numbering_t numbering = {&event->place, -1, -1};
    if (event->place.graph > 0 && visit_places(execution, number_event, &numbering) < 0)
        return api_failure();
    struct tengine_trace_event made = {
        .lane = traced->lane,
        .kind = event->kind,
        .begin_ns = event->begin_ns,
        .end_ns = event->end_ns,
        .node = numbering.node,
        .part = numbering.part,
        .run = event->place.run,
        .bytes = event->bytes,
        .status = event->status,
    };
    snprintf(made.name, sizeof made.name, "%s", event->name ? event->name : traced->cause);
    give_struct(&made, sizeof made, out_event, size);
    return 0;
}

const char* tengine_trace_kind_get_name(int kind)
{
    switch (kind) {
#define KIND_NAME(name, value, word) \
    case name:                       \
        return word;
        TENGINE_TRACE_KINDS(KIND_NAME)
#undef KIND_NAME
        default:
            tengine_error_set(TENGINE_ERANGE, "%s: there is no kind %d of events", __func__, kind);
            return api_pointer(NULL);
    }
}

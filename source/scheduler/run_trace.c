// SPDX-License-Identifier: Apache-2.0
#include "scheduler/run_trace.h"

#include "graph/graph.h"
#include "graph/option.h"
#include "tengine/trace.h"

// ---- the preparation ----

int begin_ir_preparation_trace(const struct graph* source, ir_preparation_trace_t* out_trace)
{
    *out_trace = (ir_preparation_trace_t){.outer = get_trace_track()};
    if (IS_MINIMAL) return TENGINE_OK;
    if (source->core->outer) {
        out_trace->track = out_trace->outer;
    } else {
        const double capacity = get_ir_context_number(source->attribute->context, "run.trace");
        if (capacity > 0)
            TENGINE_RETURN_IF_ERROR(create_trace((int64_t)capacity, &out_trace->trace));
        out_trace->track = out_trace->trace ? &out_trace->trace->program : NULL;
        // A program may prepare one graph in a custom operator of another.
        enter_trace_track(out_trace->track);
    }
    out_trace->begin_ns = get_trace_time(out_trace->track);
    return TENGINE_OK;
}

int end_ir_preparation_trace(struct graph* source, const ir_preparation_trace_t* trace, int status)
{
    if (IS_MINIMAL) return status;
    end_trace_event(trace->track, TENGINE_TRACE_PREPARE, "prerun_graph", trace->begin_ns, status);
    if (!source->core->outer) enter_trace_track(trace->outer);
    if (!trace->trace) return status;
    const struct graph* execution = source->core->execution;
    if (status == TENGINE_OK)
        status = add_trace_tracks(trace->trace, get_vector_num(execution->subgraph_list),
                                  execution->run_options->num_thread);
    release_trace(trace->trace);  // the session holds it
    return status;
}

// ---- runs ----

static void add_run_event(const struct graph* execution, const ir_frame_t* frame,
                          const trace_event_t* event)
{
    trace_track_t* track = find_ir_run_track(execution);
    if (!track) return;
    const trace_place_t before = track->place;
    track->place.graph = get_ir_session(execution)->trace_graph;
    if (track == &track->trace->program) track->place.run = frame->number;
    add_trace_event(track, event->kind, NULL, event->begin_ns, get_trace_time(track), event->bytes,
                    event->status);
    track->place = before;
}

void trace_ir_run(const struct graph* execution, const ir_frame_t* frame, int status)
{
    const trace_event_t event = {
        .kind = TENGINE_TRACE_RUN, .begin_ns = frame->begin_ns, .status = status < 0 ? status : 0};
    add_run_event(execution, frame, &event);
}

void trace_ir_inputs(const struct graph* execution, const ir_frame_t* frame, int64_t begin_ns)
{
    trace_event_t event = {.kind = TENGINE_TRACE_COPY, .begin_ns = begin_ns};
    if (!find_ir_run_track(execution) || !frame->memory) return;
    for (int i = 0; i < execution->input_tensor_num; ++i)
        event.bytes +=
            (int64_t)get_ir_tensor_bytes(execution->tensor_list[execution->input_tensors[i]]);
    add_run_event(execution, frame, &event);
}

// ---- parts ----

ir_part_trace_t begin_ir_part_trace(const struct subgraph* part, const ir_frame_t* frame)
{
    const ir_session_t* session = get_ir_session(part->graph);
    trace_t* own = get_ir_trace(session);
    ir_part_trace_t trace = {.outer = get_trace_track()};
    // A part of a body is in the track of the part around it.
    const bool is_inner = own && trace.outer && trace.outer->trace == own;
    if (own) trace.track = is_inner ? trace.outer : &own->parts[part->index];
    enter_trace_track(trace.track);
    if (!trace.track) return trace;
    trace.place = trace.track->place;
    trace.track->place.graph = session->trace_graph;
    trace.track->place.part = part->index;
    trace.track->place.node = -1;
    if (!is_inner) trace.track->place.device = find_default_device()->name;
    if (!is_inner) trace.track->place.run = frame->number;
    return trace;
}

void end_ir_part_trace(const ir_part_trace_t* trace)
{
    if (trace->track) trace->track->place = trace->place;
    enter_trace_track(trace->outer);
}

void set_ir_trace_device(trace_track_t* track, const struct device* device)
{
    if (track) track->place.device = device->name;
}

void add_ir_copies(trace_track_t* track, const ir_boundary_t* boundaries, int number,
                   int64_t begin_ns)
{
    int64_t bytes = 0;
    for (int i = 0; i < number; ++i)
        if (boundaries[i].copied) bytes += (int64_t)get_ir_tensor_bytes(boundaries[i].tensor);
    if (bytes > 0)
        add_trace_event(track, TENGINE_TRACE_COPY, NULL, begin_ns, get_trace_time(track), bytes, 0);
}

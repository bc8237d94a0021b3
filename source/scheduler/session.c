// SPDX-License-Identifier: Apache-2.0
#include "scheduler/session.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/trace.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/preparation.h"
#include "graph/state.h"
#include "graph/use.h"
#include "operator/affinity.h"

ir_session_t* get_ir_session(const struct graph* execution)
{
    return execution->core->session;
}

// Returns the MACs of a node, 0 if the user assigned it to the default device.
static double count_macs(const struct node* node)
{
    const char* affinity = find_ir_execution_affinity(node);
    if (affinity && names_ir_affinity(affinity, find_default_device()->name)) return 0;
    return (double)get_ir_node_macs(node);
}

// Affinities may change after prerun, so they are read once.
static int read_limits(ir_session_t* session, const struct graph* graph)
{
    const struct context* context = graph->attribute->context;
    session->may_fall_back = get_ir_context_number(context, "split.fail_on_fallback") == 0;
    session->fallback_percent = get_ir_context_number(context, "split.max_fallback_macs");
    const int part_num = get_vector_num(graph->subgraph_list);
    session->part_macs = alloc_memory(sizeof *session->part_macs * (size_t)part_num);
    if (!session->part_macs)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while running a graph");
    for (int i = 0; i < graph->node_num; ++i) {
        const struct node* node = graph->node_list[i];
        const double macs = count_macs(node);
        session->all_macs += (double)get_ir_node_macs(node);
        session->part_macs[node->subgraph_idx] += macs;
        if (node->device == find_default_device()) session->fallback_macs += macs;
    }
    return TENGINE_OK;
}

static bool needs_threads(const struct graph* execution, const ir_session_t* session)
{
    return execution->run_options->num_thread > 1 || session->scheduler->concurrent ||
           session->deadline_ms > 0 ||
           get_ir_context_number(execution->attribute->context, "run.watchdog_ms") > 0;
}

// Runs of bodies have the deadline of the run that they are part of.
static int read_deadline(const struct graph* execution)
{
    return execution->core->source->core->outer
               ? 0
               : (int)get_ir_context_number(execution->attribute->context, "run.deadline_ms");
}

static int create_session(struct scheduler* scheduler, ir_session_t** out_session)
{
    TENGINE_RETURN_IF_ERROR(begin_ir_use(scheduler, scheduler->name, IR_USER_GRAPH));
    ir_session_t* session = alloc_memory(sizeof *session);
    if (!session || pthread_mutex_init(&session->mutex, NULL) != 0) {
        free_memory(session);
        end_ir_use(scheduler, IR_USER_GRAPH);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory while running a graph");
    }
    session->scheduler = scheduler;
    *out_session = session;
    return TENGINE_OK;
}

int open_ir_session(struct graph* execution, struct scheduler* scheduler)
{
    ir_session_t* session = NULL;
    TENGINE_RETURN_IF_ERROR(create_session(scheduler, &session));
    session->deadline_ms = read_deadline(execution);
    session->keeps_states = count_ir_states(execution->core->source) > 0;
    if (needs_threads(execution, session)) session->process = getpid();
    execution->core->session = session;
    const trace_track_t* track = get_trace_track();
    if (track) {
        session->trace = hold_trace(track->trace);
        session->trace_graph = number_trace_graph(track->trace);
    }
    TENGINE_RETURN_IF_ERROR(read_limits(session, execution));
    return session->deadline_ms == 0
               ? TENGINE_OK
               : create_ir_deadline((struct graph*)execution->core->source, &session->deadline);
}

static void release_frames(ir_session_t* session)
{
    for (int i = 0; i < session->frame_num; ++i)
        release_ir_frame(&session->frames[i]);
    free_memory(session->frames);
    session->frames = NULL;
    session->frame_num = 0;
}

void close_ir_session(struct graph* execution)
{
    ir_session_t* session = execution->core->session;
    if (!session) return;
    destroy_ir_deadline(session->deadline);
    if (has_lost_ir_threads(session)) lose_ir_runs((struct graph*)execution->core->source);
    release_frames(session);
    free_memory(session->part_macs);
    release_vector(session->places);
    release_vector(session->plan);
    release_vector(session->lanes);
    if (!IS_MINIMAL) release_trace(session->trace);
    pthread_mutex_destroy(&session->mutex);
    end_ir_use(session->scheduler, IR_USER_GRAPH);
    free_memory(session);
    execution->core->session = NULL;
}

static int add_frame(struct graph* execution, bool own_memory)
{
    ir_session_t* session = execution->core->session;
    ir_frame_t* frame = &session->frames[session->frame_num];
    TENGINE_RETURN_IF_ERROR(create_ir_frame(execution, own_memory, frame));
    const int status =
        claim_ir_memory(execution, (int64_t)frame->memory_bytes, "tensors of another run");
    if (status < 0) release_ir_frame(frame);
    return status;
}

int make_ir_frames(struct graph* execution, int frame_num, bool own_memory)
{
    ir_session_t* session = execution->core->session;
    release_frames(session);
    session->frames = alloc_memory(sizeof *session->frames * (size_t)frame_num);
    if (!session->frames)
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for %d frames", frame_num);
    for (; session->frame_num < frame_num; ++session->frame_num)
        TENGINE_RETURN_IF_ERROR(add_frame(execution, own_memory));
    return TENGINE_OK;
}

void rewind_ir_session(struct graph* execution)
{
    ir_session_t* session = execution->core->session;
    session->started = session->finished = 0;
    release_vector(session->places);
    release_vector(session->plan);
    release_vector(session->lanes);
    session->places = session->plan = session->lanes = NULL;
    // The trace of a body is that of a graph that is running.
    if (!IS_MINIMAL && session->trace && !execution->core->source->core->outer)
        clear_trace(session->trace);
    for (int i = 0; i < session->frame_num; ++i)
        reset_ir_frame(&session->frames[i], execution);
}

bool has_lost_ir_threads(const ir_session_t* session)
{
    return session->process != 0 && session->process != getpid();
}

int count_ir_runs(const ir_session_t* session)
{
    return (int)(session->started - session->finished);
}

int limit_ir_runs(const ir_session_t* session)
{
    return session->frames[0].memory ? session->frame_num - 1 : 1;
}

ir_frame_t* get_ir_run_frame(const ir_session_t* session, int64_t run)
{
    return &session->frames[run % session->frame_num];
}

bool allow_ir_fallback(ir_session_t* session, const struct subgraph* part)
{
    const double macs = session->part_macs[part->index];
    pthread_mutex_lock(&session->mutex);
    const bool allowed =
        session->may_fall_back &&
        100 * (session->fallback_macs + macs) <= session->fallback_percent * session->all_macs;
    if (allowed) session->fallback_macs += macs;
    pthread_mutex_unlock(&session->mutex);
    return allowed;
}

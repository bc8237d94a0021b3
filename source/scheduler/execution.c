// SPDX-License-Identifier: Apache-2.0
// The way from source graph to execution graph and back: states, and the order of steps. The steps
// themselves are in prepare.c (parts), exchange.c (inputs and outputs) and the schedulers.
#include <stdio.h>

#include "base/alloc.h"
#include "base/minimal.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/preparation.h"
#include "graph/state.h"
#include "graph/string_pool.h"
#include "operator/row.h"
#include "optimizer/optimizer.h"
#include "scheduler/body.h"
#include "scheduler/bucket.h"
#include "scheduler/exchange.h"
#include "scheduler/failure.h"
#include "scheduler/lane.h"
#include "scheduler/part_store.h"
#include "scheduler/prepare.h"
#include "scheduler/run_trace.h"
#include "scheduler/scheduler.h"
#include "scheduler/session.h"
#include "scheduler/shape_cache.h"
#include "scheduler/value_shape.h"
#include "tengine/trace.h"

// ---- bodies ----

static int run_body(struct graph* body, const ir_run_options_t* options)
{
    if (!is_ir_execution_current(body)) TENGINE_RETURN_IF_ERROR(prerun_ir_graph(body, options));
    return run_ir_graph(body, 1);
}

static const ir_body_entries_t prepared_bodies = {prerun_ir_graph, run_body, postrun_ir_graph};
static const ir_body_entries_t placed_bodies = {place_ir_graph, run_body, postrun_ir_graph};

// ---- prerun ----

static int compile(struct graph* execution, struct scheduler* scheduler)
{
    TENGINE_RETURN_IF_ERROR(prepare_ir_parts(execution));
    if (OP_HAS_BODIES)
        TENGINE_RETURN_IF_ERROR(
            prepare_ir_bodies(execution, execution->run_options, &prepared_bodies));
    // Boundary tensors have what parts leave of the memories of a board.
    if (!execution->run_options->concurrent) TENGINE_RETURN_IF_ERROR(fit_ir_lanes(execution));
    TENGINE_RETURN_IF_ERROR(begin_ir_boundary_memories(execution));
    TENGINE_RETURN_IF_ERROR(plan_ir_boundary_memory(execution));
    TENGINE_RETURN_IF_ERROR(open_ir_session(execution, scheduler));
    TENGINE_RETURN_IF_ERROR(make_ir_frames(execution, 1, false));
    if (scheduler->prerun) {
        TENGINE_RETURN_IF_ERROR(scheduler->prerun(scheduler, execution));
        get_ir_session(execution)->scheduler_ready = true;
    }
    return fit_ir_lanes(execution);
}

// Results are published in the last frame, which is the last one that runs use.
static int show_outputs(struct graph* source)
{
    const ir_session_t* session = get_ir_session(source->core->execution);
    const ir_frame_t* frame = &session->frames[session->frame_num - 1];
    TENGINE_RETURN_IF_ERROR(publish_ir_shapes(source, source->core->execution, frame));
    if (get_ir_present_request(get_ir_buckets(source)))
        TENGINE_RETURN_IF_ERROR(hold_ir_request_memory(get_ir_buckets(source), source));
    if (count_ir_states(source) > 0) TENGINE_RETURN_IF_ERROR(settle_ir_states(source));
    show_ir_outputs(source, source->core->execution, frame);
    return TENGINE_OK;
}

// `made`: the execution graph, which is the source graph's from here on; NULL: it is made.
static int make_execution(struct graph* source, const ir_terms_t* terms, struct graph* made)
{
    source->core->execution = made;
    ir_preparation_trace_t trace;
    TENGINE_RETURN_IF_ERROR(begin_ir_preparation_trace(source, &trace));
    begin_ir_preparation(source);
    int status = TENGINE_OK;
    if (!made) status = create_execution_graph(source, &terms->options, &source->core->execution);
    if (status == TENGINE_OK) {
        source->core->execution->core->spare = get_ir_spare(source);
        status = compile(source->core->execution, terms->scheduler);
        source->core->execution->core->spare = NULL;
    }
    if (status == TENGINE_OK) keep_ir_preparation(source->core->execution, &terms->options);
    end_ir_preparation(source);
    if (status == TENGINE_OK) drop_ir_spare(source);
    return end_ir_preparation_trace(source, &trace, status);
}

static void drop_execution(struct graph* source)
{
    if (source->core->execution) close_ir_execution(source->core->execution);
    source->core->execution = NULL;
}

// Other graphs that are prepared on other threads may take a memory of the board that this one has
// planned to use. Each time one of them succeeds, so that the attempts end.
static int make_execution_beside(struct graph* source, const ir_terms_t* terms, struct graph* made)
{
    int status = make_execution(source, terms, made);
    while (!IS_MINIMAL && status == TENGINE_ENOMEM && get_ir_lanes(source)->is_crowded) {
        get_ir_lanes(source)->is_crowded = false;
        drop_execution(source);
        status = make_execution(source, terms, NULL);
    }
    return status;
}

// Preparations for other shapes are dropped when the new one runs out of memory.
static int make_execution_or_room(struct graph* source, const ir_terms_t* terms, struct graph* made)
{
    const int status = make_execution_beside(source, terms, made);
    if (status != TENGINE_ENOMEM) return status;
    ir_failure_t failure;
    int kept_num;
    keep_ir_failure(&failure);
    TENGINE_RETURN_IF_ERROR(drop_ir_kept_executions(source, &kept_num));
    if (kept_num == 0) return raise_ir_failure(&failure);
    drop_execution(source);
    return make_execution(source, terms, NULL);
}

// ---- buckets ----

// Makes the execution graph for the shapes that the inputs have now; nothing is compiled.
static int create_unprepared(struct graph* source, const ir_terms_t* terms,
                             struct graph** out_graph)
{
    begin_ir_preparation(source);
    const int status = create_execution_graph(source, &terms->options, out_graph);
    end_ir_preparation(source);
    return status;
}

// Two execution graphs that no part was compiled of yet; NULL: not made.
typedef struct unprepared
{
    struct graph* own;     // for the request's shapes
    struct graph* larger;  // for those of a bucket
} unprepared_t;

// Compares the request with the bucket whose shapes the inputs have now. *out_reason: "" if it can
// run there.
static int compare_with_bucket(struct graph* source, const ir_terms_t* terms, unprepared_t* made,
                               char out_reason[], size_t capacity)
{
    const struct graph* larger = find_ir_kept_execution(source);
    if (!larger) {
        TENGINE_RETURN_IF_ERROR(create_unprepared(source, terms, &made->larger));
        larger = made->larger;
    }
    const char* obstacle = find_ir_padding_obstacle(larger, made->own);
    if (!obstacle) return judge_ir_padding(larger, made->own, out_reason, capacity);
    snprintf(out_reason, capacity, "%s", obstacle);
    return TENGINE_OK;
}

// Whether a failure belongs to the bucket: a model may not have its shapes.
static bool is_fault_of_bucket(int status, char out_reason[], size_t capacity)
{
    if (status == TENGINE_OK || status == TENGINE_ENOMEM || status == TENGINE_ECANCELED)
        return false;
    snprintf(out_reason, capacity, "%s", tengine_error_message());
    tengine_error_clear();
    return true;
}

static int judge_bucket(struct graph* source, const ir_terms_t* terms, int bucket,
                        unprepared_t* made, char out_reason[], size_t capacity)
{
    ir_buckets_t* buckets = get_ir_buckets(source);
    int status = take_ir_bucket_shapes(buckets, source, bucket);
    if (status == TENGINE_OK) {
        status = compare_with_bucket(source, terms, made, out_reason, capacity);
        return_ir_own_shapes(buckets, source);
    }
    if (is_fault_of_bucket(status, out_reason, capacity)) status = TENGINE_OK;
    if (status == TENGINE_OK && !out_reason[0]) return TENGINE_OK;
    destroy_ir_graph(made->larger);
    made->larger = NULL;
    return status;
}

// Finds the answer for the present input shapes, and keeps it. The graphs that it needed stay.
static int judge_request(struct graph* source, const ir_terms_t* terms, const int list[],
                         int number, unprepared_t* made)
{
    ir_buckets_t* buckets = get_ir_buckets(source);
    char message[640] = "", reason[512];
    if (number == 0)
        describe_ir_misfit(buckets, source, message, sizeof message);
    else
        TENGINE_RETURN_IF_ERROR(create_unprepared(source, terms, &made->own));
    for (int i = 0; i < number; ++i) {
        TENGINE_RETURN_IF_ERROR(judge_bucket(source, terms, list[i], made, reason, sizeof reason));
        if (!reason[0]) {
            describe_ir_padding(buckets, source, list[i], message, sizeof message);
            return add_ir_request(buckets, source, made->own, list[i], message);
        }
        if (!message[0]) snprintf(message, sizeof message, "no bucket: %s", reason);
    }
    return add_ir_request(buckets, source, made->own, -1, message);
}

// Prepares the bucket, unless it is. The inputs have the request's shapes before and afterwards.
static int prepare_bucket(struct graph* source, const ir_terms_t* terms,
                          const ir_request_t* request, struct graph* larger)
{
    ir_buckets_t* buckets = get_ir_buckets(source);
    int status = take_ir_bucket_shapes(buckets, source, request->bucket);
    if (status == TENGINE_OK && resume_ir_execution(source)) {
        destroy_ir_graph(larger);
        larger = NULL;
    } else if (status == TENGINE_OK) {
        status = limit_ir_executions(source);
        if (status == TENGINE_OK) {
            status = make_execution_or_room(source, terms, larger);
            larger = NULL;
        }
    }
    destroy_ir_graph(larger);
    return_ir_own_shapes(buckets, source);
    TENGINE_RETURN_IF_ERROR(status);
    enter_ir_request(buckets, request);
    TLOG_INFO("graph '%s': %s", source->name, request->message);
    return TENGINE_OK;
}

static int use_bucket(struct graph* source, const ir_terms_t* terms, const int list[], int number,
                      unprepared_t* made)
{
    ir_buckets_t* buckets = get_ir_buckets(source);
    if (!find_ir_request(buckets, source))
        TENGINE_RETURN_IF_ERROR(judge_request(source, terms, list, number, made));
    const ir_request_t* request = find_ir_request(buckets, source);
    if (request->bucket < 0) return TENGINE_OK;
    struct graph* larger = made->larger;
    made->larger = NULL;
    return prepare_bucket(source, terms, request, larger);
}

// Makes the preparation of a bucket the present one, if the request can run there. *out_own: else
// the execution graph for its own shapes, if that was made.
static int find_bucket(struct graph* source, const ir_terms_t* terms, struct graph** out_own)
{
    const ir_buckets_t* buckets = get_ir_buckets(source);
    unprepared_t made = {NULL, NULL};
    int* list;
    int number;
    if (!buckets || find_ir_exact_bucket(buckets, source) >= 0) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(list_ir_fitting_buckets(buckets, source, &list, &number));
    const int status = use_bucket(source, terms, list, number, &made);
    free_memory(list);
    destroy_ir_graph(made.larger);
    if (status == TENGINE_OK && !source->core->execution)
        *out_own = made.own;
    else
        destroy_ir_graph(made.own);
    return status;
}

static int find_or_make_execution(struct graph* source, const ir_run_options_t* options)
{
    ir_terms_t terms;
    TENGINE_RETURN_IF_ERROR(read_ir_terms(source, options, &terms));
    TENGINE_RETURN_IF_ERROR(leave_ir_execution(source, &terms));
    if (resume_ir_execution(source)) return show_outputs(source);
    struct graph* own = NULL;
    if (!IS_MINIMAL) TENGINE_RETURN_IF_ERROR(find_bucket(source, &terms, &own));
    if (source->core->execution) return show_outputs(source);
    const int limited = limit_ir_executions(source);
    if (limited < 0) destroy_ir_graph(own);
    TENGINE_RETURN_IF_ERROR(limited);
    TENGINE_RETURN_IF_ERROR(make_execution_or_room(source, &terms, own));
    TENGINE_RETURN_IF_ERROR(show_outputs(source));
    report_ir_split(source->core->execution);
    return TENGINE_OK;
}

static int check_not_running(const struct graph* source)
{
    if (source->status != GRAPH_STAT_RUNNING) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "graph '%s' is running", source->name);
}

static int fail_preparation(struct graph* source)
{
    ir_failure_t failure;
    keep_ir_failure(&failure);
    postrun_ir_graph(source);
    return raise_ir_failure(&failure);
}

int prerun_ir_graph(struct graph* source, const ir_run_options_t* options)
{
    TENGINE_RETURN_IF_ERROR(check_not_running(source));
    if (find_or_make_execution(source, options) < 0) return fail_preparation(source);
    source->status = GRAPH_STAT_READY;
    return TENGINE_OK;
}

static int make_placement(struct graph* source, const ir_run_options_t* options)
{
    ir_terms_t terms;
    TENGINE_RETURN_IF_ERROR(read_ir_terms(source, options, &terms));
    TENGINE_RETURN_IF_ERROR(leave_ir_execution(source, &terms));
    begin_ir_preparation(source);
    const int status = create_execution_graph(source, &terms.options, &source->core->execution);
    end_ir_preparation(source);
    TENGINE_RETURN_IF_ERROR(status);
    if (OP_HAS_BODIES)
        TENGINE_RETURN_IF_ERROR(
            prepare_ir_bodies(source->core->execution, &terms.options, &placed_bodies));
    forget_ir_times(source->core->execution);
    report_ir_split(source->core->execution);
    return TENGINE_OK;
}

int place_ir_graph(struct graph* source, const ir_run_options_t* options)
{
    TENGINE_RETURN_IF_ERROR(check_not_running(source));
    TENGINE_RETURN_IF_ERROR(postrun_ir_graph(source));
    return make_placement(source, options) < 0 ? fail_preparation(source) : TENGINE_OK;
}

// ---- run and wait ----

// NULL when the graph is not prepared, or only placed.
static ir_session_t* find_session(const struct graph* source)
{
    return !source->core->execution ? NULL : get_ir_session(source->core->execution);
}

static int fail_unprepared(const struct graph* source)
{
    return tengine_error_set(TENGINE_ESTATE, "graph '%s' is not prepared; call prerun_graph",
                             source->name);
}

static int fail_lost(const struct graph* source)
{
    return tengine_error_set(TENGINE_ESTATE,
                             "graph '%s' was prepared before fork(), and its threads stayed in the "
                             "parent process; call prerun_graph again",
                             source->name);
}

int check_ir_graph_run(const struct graph* source, int block)
{
    const ir_session_t* session = find_session(source);
    if (!session) return fail_unprepared(source);
    if (has_lost_ir_threads(session)) return fail_lost(source);
    const int number = count_ir_runs(session);
    if (number > 0 && block)
        return tengine_error_set(TENGINE_ESTATE,
                                 "graph '%s' is running; call wait_graph for the %d runs in flight",
                                 source->name, number);
    if (number > 0 && session->keeps_states)
        return tengine_error_set(TENGINE_ELIMIT,
                                 "graph '%s' keeps states, which the next run needs, and a run is "
                                 "in flight; call wait_graph",
                                 source->name);
    if (number >= limit_ir_runs(session))
        return tengine_error_set(TENGINE_ELIMIT,
                                 "graph '%s': %d runs are in flight; call wait_graph", source->name,
                                 number);
    return TENGINE_OK;
}

static void settle_status(struct graph* source, int status)
{
    ir_session_t* session = get_ir_session(source->core->execution);
    session->cancelled = status == TENGINE_ECANCELED;
    // A body that is cancelled runs again as it is.
    const bool is_sound = status >= 0 || (source->core->outer && session->cancelled);
    source->status = count_ir_runs(session) > 0 ? GRAPH_STAT_RUNNING
                     : is_sound                 ? GRAPH_STAT_READY
                                                : GRAPH_STAT_ERROR;
}

// The oldest run in flight has ended with `status`, whose failure has been recorded.
static int end_run(struct graph* source, int status)
{
    struct graph* execution = source->core->execution;
    ir_session_t* session = get_ir_session(execution);
    ir_frame_t* frame = get_ir_run_frame(session, session->finished++);
    ir_failure_t failure = {0};
    if (frame->run == &frame->own_run) end_ir_run(frame->run);
    if (status >= 0) status = collect_ir_outputs(source, execution, frame);
    if (status < 0) {
        keep_ir_failure(&failure);
        show_ir_outputs(source, execution, frame);
    }
    trace_ir_run(execution, frame, status);
    const int published = publish_ir_parts(execution);
    if (status >= 0) status = published;
    if (count_ir_states(source) > 0) release_ir_states(source, status >= 0);
    settle_status(source, status);
    return failure.code != 0 ? raise_ir_failure(&failure) : status;
}

// In a child process the oldest run in flight is over here; the parent process continues it.
static int lose_run(struct graph* source)
{
    get_ir_session(source->core->execution)->finished++;
    lose_ir_runs(source);
    if (count_ir_states(source) > 0) release_ir_states(source, false);
    settle_status(source, TENGINE_ESTATE);
    return fail_lost(source);
}

// The run of a body is a part of that of the graph around it.
static void enter_run(struct graph* source, ir_frame_t* frame)
{
    const ir_session_t* session = get_ir_session(source->core->execution);
    frame->run = source->core->run;
    frame->told = false;
    if (source->core->outer) return;
    frame->run = &frame->own_run;
    begin_ir_run(source, session->deadline_ms, frame->run);
    note_ir_deadline(session->deadline);
}

static int begin_run(struct graph* source, int block)
{
    struct graph* execution = source->core->execution;
    ir_session_t* session = get_ir_session(execution);
    ir_frame_t* frame = get_ir_run_frame(session, session->started);
    // The strings of a body are those of the graph around it.
    if (!source->core->outer && count_ir_runs(session) == 0) forget_ir_strings(source);
    frame->number = session->started;
    frame->begin_ns = get_trace_time(find_ir_run_track(execution));
    TENGINE_RETURN_IF_ERROR(bind_ir_inputs(source, execution, frame));
    trace_ir_inputs(execution, frame, frame->begin_ns);
    if (!frame->memory) show_ir_outputs(source, execution, frame);
    clear_ir_frame(frame);
    bind_ir_outputs(source, execution, frame);
    ++session->started;
    source->status = GRAPH_STAT_RUNNING;
    enter_run(source, frame);
    return session->scheduler->run(session->scheduler, execution, block);
}

int run_ir_graph(struct graph* source, int block)
{
    TENGINE_RETURN_IF_ERROR(check_ir_graph_run(source, block));
    ir_session_t* session = get_ir_session(source->core->execution);
    const int64_t started = session->started;
    const bool has_states = count_ir_states(source) > 0;
    if (has_states)
        TENGINE_RETURN_IF_ERROR(claim_ir_states(source, block ? TENGINE_ESTATE : TENGINE_ELIMIT));
    const int status = begin_run(source, block);
    if (session->started == started) {  // the run has not begun
        if (has_states) release_ir_states(source, false);
        return status;
    }
    // A scheduler without a queue has ended the run; it is the only one.
    if (status >= 0 && !block && session->scheduler->try_wait) return TENGINE_OK;
    return end_run(source, status);
}

int wait_ir_graph(struct graph* source, int try_wait)
{
    ir_session_t* session = find_session(source);
    if (!session) return fail_unprepared(source);
    struct scheduler* scheduler = session->scheduler;
    if (count_ir_runs(session) == 0) return 1;
    if (has_lost_ir_threads(session)) return lose_run(source);
    const bool trying = try_wait && scheduler->try_wait;
    trace_track_t* track = trying ? NULL : find_ir_run_track(source->core->execution);
    const int64_t begin_ns = get_trace_time(track);
    const int status = trying ? scheduler->try_wait(scheduler, source->core->execution)
                              : scheduler->wait(scheduler, source->core->execution);
    end_trace_event(track, TENGINE_TRACE_WAIT, NULL, begin_ns, status < 0 ? status : 0);
    if (trying && status == 0) return 0;
    const bool told = get_ir_run_frame(session, session->finished)->told;
    const int ended = end_run(source, status);
    if (!told) tell_ir_completion(source, ended < 0 ? ended : TENGINE_OK);
    return ended < 0 ? ended : 1;
}

bool await_ir_values(struct graph* source, int status)
{
    int kept_num;
    if (IS_MINIMAL || !has_ir_assumed_shapes(source, status)) return false;
    leave_ir_shapes_to_runs(source);
    if (drop_ir_kept_executions(source, &kept_num) < 0) tengine_error_clear();
    return true;
}

bool may_feed_ir_graph(const struct graph* source)
{
    const ir_session_t* session = find_session(source);
    return !session || count_ir_runs(session) == 0 || session->frames[0].memory;
}

// ---- postrun ----

int postrun_ir_graph(struct graph* source)
{
    struct graph* execution = source->core->execution;
    if (!execution && !source->core->shape_cache) return TENGINE_OK;
    while (find_session(source) && count_ir_runs(find_session(source)) > 0)
        wait_ir_graph(source, 0);
    return close_ir_executions(source);
}

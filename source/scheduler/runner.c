// SPDX-License-Identifier: Apache-2.0
#include "scheduler/runner.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "operator/custom/custom_kernel.h"
#include "scheduler/boundary.h"
#include "scheduler/compiled.h"
#include "scheduler/failure.h"
#include "scheduler/run_trace.h"
#include "scheduler/session.h"
#include "tengine/trace.h"

struct runner
{
    struct subgraph* part;    // in the execution graph
    ir_compiled_t* compiled;  // NULL: both the device and the default device failed
    ir_watch_t* watch;        // NULL: runs on the calling thread
    bool started;             // async_run has been called, and finish has not;
    int start_status;         // the status that it returned
    ir_failure_t start_failure;
    bool given_up;  // the default device runs the part in its place
    ir_failure_t cause;
    // Guards the state that publish_ir_runner() reads while the next run may be in flight.
    pthread_mutex_t mutex;
    bool has_news;  // given_up has not been published yet
    int64_t run_ns;
    int64_t redo_num;
    int64_t* node_ns;  // NULL: no profile
    int explained;     // the place of the node that explain_ir_node() found last
    ir_boundary_t boundaries[];
};

// ---- a device for the runner ----

static void use_compiled(ir_runner_t* runner, ir_compiled_t* compiled)
{
    runner->compiled = compiled;
    set_ir_boundaries(compiled->subgraph, compiled->isolated, runner->boundaries);
}

static int find_timeout(const struct subgraph* part)
{
    // A custom operator belongs to the program, so a thread that may be abandoned must not call it.
    if (part->device == find_default_device() || has_custom_kernels(part)) return 0;
    return (int)get_ir_context_number(part->graph->attribute->context, "run.watchdog_ms");
}

static int fill_runner(ir_runner_t* runner, ir_blame_t* out_blame)
{
    struct subgraph* part = runner->part;
    const int timeout = find_timeout(part);
    ir_compiled_t* compiled;
    TENGINE_RETURN_IF_ERROR(compile_ir_part(part, part->device, timeout > 0, &compiled, out_blame));
    use_compiled(runner, compiled);
    part->plan_bytes = compiled->subgraph->plan_bytes;
    if (timeout > 0) {
        const ir_watched_t watched = get_ir_watched_run(compiled);
        TENGINE_RETURN_IF_ERROR(create_ir_watch(&watched, timeout, &runner->watch));
    }
    if (!compiled->node_ns) return TENGINE_OK;
    runner->node_ns = alloc_memory(sizeof *runner->node_ns * (size_t)part->node_num);
    if (!runner->node_ns) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a profile");
    memset(runner->node_ns, 0xff, sizeof *runner->node_ns * (size_t)part->node_num);  // all -1
    return TENGINE_OK;
}

static int release_runner(ir_runner_t* runner, void** out_device_graph)
{
    destroy_ir_watch(runner->watch);
    const int status = end_ir_compiled(runner->compiled, out_device_graph);
    pthread_mutex_destroy(&runner->mutex);
    free_memory(runner->node_ns);
    free_memory(runner);
    return status;
}

int open_ir_runner(struct subgraph* part, ir_blame_t* out_blame)
{
    *out_blame = IR_BLAME_CORE;
    const size_t boundary_num = (size_t)part->input_num + (size_t)part->output_num;
    ir_runner_t* runner = alloc_memory(sizeof *runner + sizeof(ir_boundary_t) * boundary_num);
    if (!runner || pthread_mutex_init(&runner->mutex, NULL) != 0) {
        free_memory(runner);
        return tengine_error_set(TENGINE_ENOMEM, "part %d: out of memory for a run", part->index);
    }
    runner->part = part;
    runner->run_ns = -1;
    const int status = fill_runner(runner, out_blame);
    if (status < 0) {
        ir_failure_t failure;
        keep_ir_failure(&failure);
        release_runner(runner, NULL);
        return raise_ir_failure(&failure);
    }
    part->core->runner = runner;
    return TENGINE_OK;
}

int close_ir_runner(struct subgraph* part)
{
    ir_runner_t* runner = part->core->runner;
    if (!runner) return TENGINE_OK;
    part->core->runner = NULL;
    return release_runner(runner, NULL);
}

int retire_ir_runner(struct subgraph* part)
{
    ir_runner_t* runner = part->core->runner;
    if (!runner) return TENGINE_OK;
    part->core->runner = NULL;
    return release_runner(runner, &part->device_graph);
}

bool may_abandon_ir_part(const struct subgraph* part)
{
    const ir_runner_t* runner = part->core->runner;
    return runner->compiled->isolated;
}

static void forget_times(ir_runner_t* runner)
{
    runner->run_ns = -1;
    runner->redo_num = 0;
    if (runner->node_ns)  // all -1
        memset(runner->node_ns, 0xff, sizeof *runner->node_ns * (size_t)runner->part->node_num);
}

void forget_ir_runner_runs(struct subgraph* part)
{
    forget_times(part->core->runner);
    part->core->measured_ns = -1;
    part->core->redo_num = 0;
}

// ---- one run ----

// Several nodes of the compiled part may stand for one of the part.
static void add_times(ir_runner_t* runner, const ir_compiled_t* compiled)
{
    const struct subgraph* part = runner->part;
    memset(runner->node_ns, 0xff, sizeof *runner->node_ns * (size_t)part->node_num);  // all -1
    for (int i = 0; i < compiled->subgraph->node_num; ++i) {
        if (compiled->node_ns[i] < 0) continue;
        int64_t* sum = &runner->node_ns[find_ir_part_place(part, compiled->subgraph, i)];
        *sum = (*sum < 0 ? 0 : *sum) + compiled->node_ns[i];
    }
}

static void note_times(ir_runner_t* runner)
{
    const ir_compiled_t* compiled = runner->compiled;
    pthread_mutex_lock(&runner->mutex);
    runner->run_ns = compiled->run_ns;
    if (runner->given_up) ++runner->redo_num;
    if (runner->node_ns && compiled->node_ns) add_times(runner, compiled);
    pthread_mutex_unlock(&runner->mutex);
}

static int fail_run(const ir_runner_t* runner, const struct device* device, int status)
{
    return fail_ir_entry(device, "run", runner->part->index, runner->part->node_num, status);
}

// Finishes a call that the device has returned from with `status`. The results of a call that was
// told to return soon may be anything.
static int end_attempt(ir_runner_t* runner, ir_frame_t* frame, const struct device* device,
                       int status)
{
    TENGINE_RETURN_IF_ERROR(check_ir_run(frame->run));
    if (status == 0) {
        const struct subgraph* part = runner->compiled->subgraph;
        trace_track_t* track = get_trace_track();
        const ir_boundary_t* outputs = runner->boundaries + part->input_num;
        const int64_t begin_ns = begin_ir_copies(track, outputs, part->output_num);
        tengine_error_clear();
        status = take_ir_values(part, runner->boundaries, frame);
        trace_ir_copies(track, outputs, part->output_num, begin_ns);
    }
    if (status != 0) return fail_run(runner, device, status);
    note_times(runner);
    return TENGINE_OK;
}

static int put_values(const ir_runner_t* runner, const ir_frame_t* frame)
{
    const struct subgraph* part = runner->compiled->subgraph;
    trace_track_t* track = get_trace_track();
    set_ir_trace_device(track, part->device);
    const int64_t begin_ns = begin_ir_copies(track, runner->boundaries, part->input_num);
    TENGINE_RETURN_IF_ERROR(put_ir_values(part, runner->boundaries, frame));
    trace_ir_copies(track, runner->boundaries, part->input_num, begin_ns);
    return TENGINE_OK;
}

// The time of a run that succeeds has been measured.
static void trace_call(trace_track_t* track, const ir_compiled_t* compiled, int status)
{
    if (!track) return;
    const int64_t end_ns =
        status == 0 ? compiled->begin_ns + compiled->run_ns : get_trace_time(track);
    add_trace_event(track, TENGINE_TRACE_PART, compiled->device->name, compiled->begin_ns, end_ns,
                    0, status);
}

static int call_device(const ir_runner_t* runner, bool* out_hung)
{
    const ir_compiled_t* compiled = runner->compiled;
    trace_track_t* track = get_trace_track();
    *out_hung = false;
    if (!runner->watch) {
        const int status = run_ir_compiled(runner->compiled);
        trace_call(track, compiled, status);
        return status;
    }
    const char* device = compiled->device->name;  // after a call that hangs, there is no `compiled`
    const int64_t begin_ns = get_trace_time(track);
    const int status = call_ir_watch(runner->watch, out_hung);
    end_trace_event(track, TENGINE_TRACE_PART, device, begin_ns, status);
    return status;
}

static int attempt(ir_runner_t* runner, ir_frame_t* frame)
{
    const struct device* device = runner->compiled->subgraph->device;
    TENGINE_RETURN_IF_ERROR(put_values(runner, frame));
    TENGINE_RETURN_IF_ERROR(lend_ir_scratch(runner->compiled->subgraph));
    TENGINE_RETURN_IF_ERROR(enter_ir_run(runner->compiled, frame->run));
    bool hung;
    const int status = call_device(runner, &hung);
    if (!hung) {
        leave_ir_run(runner->compiled);
        return end_attempt(runner, frame, device, status);
    }
    runner->watch = NULL;
    runner->compiled = NULL;
    return fail_run(runner, device, status);
}

// ---- the default device in the device's place ----

static int compile_for_default(ir_runner_t* runner)
{
    ir_session_t* session = get_ir_session(runner->part->graph);
    ir_compiled_t* compiled;
    ir_blame_t blame;
    pthread_mutex_lock(&session->mutex);
    const int status =
        compile_ir_part(runner->part, find_default_device(), false, &compiled, &blame);
    pthread_mutex_unlock(&session->mutex);
    if (status == TENGINE_OK) use_compiled(runner, compiled);
    return status;
}

static void give_up_device(ir_runner_t* runner)
{
    destroy_ir_watch(runner->watch);
    close_ir_compiled(runner->compiled);
    runner->watch = NULL;
    runner->compiled = NULL;
    pthread_mutex_lock(&runner->mutex);
    runner->given_up = true;
    runner->has_news = true;
    pthread_mutex_unlock(&runner->mutex);
}

// The runner keeps the message: after a call that hangs, the part can no longer run.
static int fail_for_good(ir_runner_t* runner)
{
    tengine_error_set(
        tengine_error_code(),
        "%s; falling back to %s is not allowed (split.fail_on_fallback, split.max_fallback_macs)",
        tengine_error_message(), find_default_device()->name);
    keep_ir_failure(&runner->cause);
    return runner->cause.code;
}

// Runs the part on the default device in place of a device that was given up. The default device
// may lack memory now and have it in a later run.
static int run_on_default(ir_runner_t* runner, ir_frame_t* frame)
{
    if (compile_for_default(runner) < 0)
        return tengine_error_set(runner->cause.code, "%s; then: %s", runner->cause.message,
                                 tengine_error_message());
    return attempt(runner, frame);
}

// Called after a failure that has been recorded: the default device makes this run and all later
// ones. The failure of a call in a run that should end does not count, unless the call hangs.
static int take_over(ir_runner_t* runner, ir_frame_t* frame)
{
    if (runner->compiled) TENGINE_RETURN_IF_ERROR(check_ir_run(frame->run));
    ir_session_t* session = get_ir_session(runner->part->graph);
    if (runner->given_up || runner->part->device == find_default_device())
        return tengine_error_code();
    if (!allow_ir_fallback(session, runner->part)) {
        const int status = fail_for_good(runner);
        TENGINE_RETURN_IF_ERROR(check_ir_run(frame->run));
        return status;
    }
    keep_ir_failure(&runner->cause);
    TLOG_WARNING("%s; %s runs the part from now on", runner->cause.message,
                 find_default_device()->name);
    give_up_device(runner);
    TENGINE_RETURN_IF_ERROR(check_ir_run(frame->run));
    return run_on_default(runner, frame);
}

static int run_part(ir_runner_t* runner, ir_frame_t* frame)
{
    TENGINE_RETURN_IF_ERROR(check_ir_run(frame->run));
    if (!runner->compiled)
        return runner->given_up ? run_on_default(runner, frame) : raise_ir_failure(&runner->cause);
    return attempt(runner, frame) < 0 ? take_over(runner, frame) : TENGINE_OK;
}

int run_ir_part(struct subgraph* part, ir_frame_t* frame)
{
    const ir_part_trace_t trace = enter_ir_part_trace(part, frame);
    const int status = run_part(part->core->runner, frame);
    leave_ir_part_trace(&trace);
    return status;
}

void start_ir_part(struct subgraph* part, ir_frame_t* frame)
{
    ir_runner_t* runner = part->core->runner;
    runner->started = false;
    if (!runner->compiled || runner->watch || !can_start_ir_compiled(runner->compiled)) return;
    runner->started = true;
    const ir_part_trace_t trace = enter_ir_part_trace(part, frame);
    runner->start_status = put_values(runner, frame);
    if (runner->start_status == 0)
        runner->start_status = lend_ir_scratch(runner->compiled->subgraph);
    if (runner->start_status == 0)
        runner->start_status = enter_ir_run(runner->compiled, frame->run);
    if (runner->start_status == 0) runner->start_status = start_ir_compiled(runner->compiled);
    keep_ir_failure(&runner->start_failure);
    leave_ir_part_trace(&trace);
}

// Records the error of async_run again, since another part may have been started since.
static int wait_for_end(ir_runner_t* runner)
{
    if (runner->start_status == 0) return finish_ir_compiled(runner->compiled);
    tengine_error_clear();
    if (runner->start_failure.code != 0) raise_ir_failure(&runner->start_failure);
    return runner->start_status;
}

static int finish_part(ir_runner_t* runner, ir_frame_t* frame)
{
    const struct device* device = runner->compiled->subgraph->device;
    trace_track_t* track = get_trace_track();
    set_ir_trace_device(track, device);
    const int status = wait_for_end(runner);
    leave_ir_run(runner->compiled);
    trace_call(track, runner->compiled, status);
    return end_attempt(runner, frame, device, status) < 0 ? take_over(runner, frame) : TENGINE_OK;
}

int finish_ir_part(struct subgraph* part, ir_frame_t* frame)
{
    ir_runner_t* runner = part->core->runner;
    if (!runner->started) return run_ir_part(part, frame);
    runner->started = false;
    const ir_part_trace_t trace = enter_ir_part_trace(part, frame);
    const int status = finish_part(runner, frame);
    leave_ir_part_trace(&trace);
    return status;
}

int run_ir_subgraph(struct subgraph* part)
{
    const ir_session_t* session = get_ir_session(part->graph);
    if (!session || !part->core->runner)
        return tengine_error_set(TENGINE_ESTATE, "part %d is not prepared", part->index);
    return run_ir_part(part, get_ir_run_frame(session, session->started - 1));
}

// ---- results for the user ----

static int publish_device(struct subgraph* part, const ir_failure_t* cause)
{
    struct device* device = part->device;
    part->device = find_default_device();
    ir_verdict_t verdict = {0};
    refuse_ir_node(&verdict, IR_REASON_RUN, "", "", "%s", cause->message);
    for (int i = 0; i < part->node_num; ++i) {
        struct node* node = part->graph->node_list[part->node_list[i]];
        node->device = part->device;
        node->core->predicted_ns = -1;
        TENGINE_RETURN_IF_ERROR(add_ir_node_refusal(node, device, &verdict));
    }
    return TENGINE_OK;
}

struct subgraph* get_ir_compiled_part(const struct subgraph* part)
{
    const ir_runner_t* runner = part->core->runner;
    return runner && runner->compiled ? runner->compiled->subgraph : NULL;
}

int count_ir_part(struct subgraph* part, struct vector* out_counters)
{
    const ir_runner_t* runner = part->core->runner;
    if (part->core->measured_ns < 0 || !runner || !runner->compiled) return TENGINE_OK;
    return count_ir_compiled(runner->compiled, out_counters);
}

int explain_ir_node(const struct node* node, ir_node_kernel_t* out_kernel)
{
    const struct subgraph* part = get_ir_graph_subgraph(node->graph, node->subgraph_idx);
    ir_runner_t* runner = part->core->runner;
    if (!runner || !runner->compiled) return TENGINE_OK;
    // Callers read all nodes in their order, which is the order of the part.
    for (int i = 0; i < part->node_num; ++i) {
        const int place = (runner->explained + i) % part->node_num;
        if (part->node_list[place] != node->index) continue;
        runner->explained = place;
        const int compiled = find_ir_compiled_place(part, runner->compiled->subgraph, place);
        return compiled < 0 ? TENGINE_OK
                            : explain_ir_compiled(runner->compiled, compiled, out_kernel);
    }
    return TENGINE_OK;
}

int publish_ir_runner(struct subgraph* part)
{
    ir_runner_t* runner = part->core->runner;
    pthread_mutex_lock(&runner->mutex);
    const bool has_news = runner->has_news;
    runner->has_news = false;
    part->core->measured_ns = runner->run_ns;
    part->core->redo_num = runner->redo_num;
    for (int i = 0; runner->node_ns && i < part->node_num; ++i)
        part->graph->node_list[part->node_list[i]]->core->measured_ns = runner->node_ns[i];
    pthread_mutex_unlock(&runner->mutex);
    return has_news ? publish_device(part, &runner->cause) : TENGINE_OK;
}

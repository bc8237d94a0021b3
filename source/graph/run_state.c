// SPDX-License-Identifier: Apache-2.0
#include "graph/run_state.h"

#include "base/clock.h"
#include "graph/core.h"
#include "tengine/device.h"

static ir_runs_t* runs_of(const ir_run_t* run)
{
    return &run->source->core->runs;
}

static int load_end(const ir_run_t* run)
{
    return __atomic_load_n(&run->end, __ATOMIC_ACQUIRE);
}

void set_ir_run_end(ir_run_t* run, ir_run_end_t end)
{
    __atomic_store_n(&run->end, (int)end, __ATOMIC_RELEASE);
}

bool is_ir_run_ending(const ir_run_t* run)
{
    return run && load_end(run) != IR_RUN_GOES_ON;
}

int is_ir_part_cancelled(const struct subgraph* subgraph)
{
    return is_ir_run_ending(subgraph->graph->core->run);
}

int check_ir_run(const ir_run_t* run)
{
    if (!is_ir_run_ending(run)) return TENGINE_OK;
    if (!run->source) return tengine_error_set(TENGINE_ECANCELED, "the call was cancelled");
    if (load_end(run) == IR_RUN_LATE)
        return tengine_error_set(TENGINE_ECANCELED,
                                 "the run of graph '%s' has not ended within %d ms "
                                 "(run.deadline_ms)",
                                 run->source->name, run->limit_ms);
    return tengine_error_set(TENGINE_ECANCELED, "the run of graph '%s' was cancelled",
                             run->source->name);
}

// ---- runs ----

void begin_ir_run(struct graph* source, int limit_ms, ir_run_t* out_run)
{
    *out_run = (ir_run_t){.source = source, .limit_ms = limit_ms};
    if (limit_ms > 0) out_run->deadline_ns = (int64_t)get_time_ns() + (int64_t)limit_ms * 1000000;
    ir_runs_t* runs = runs_of(out_run);
    pthread_mutex_lock(&runs->mutex);
    out_run->next = runs->first;
    runs->first = out_run;
    pthread_mutex_unlock(&runs->mutex);
}

void end_ir_run(ir_run_t* run)
{
    ir_runs_t* runs = runs_of(run);
    pthread_mutex_lock(&runs->mutex);
    ir_run_t** link = &runs->first;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    pthread_mutex_unlock(&runs->mutex);
}

void lose_ir_runs(struct graph* source)
{
    // A thread that does not exist here may hold the mutex.
    pthread_mutex_init(&source->core->runs.mutex, NULL);
    source->core->runs.first = NULL;
}

// Called with the lock held. The first reason counts.
static void request_end(ir_run_t* run, ir_run_end_t end)
{
    if (!is_ir_run_ending(run)) set_ir_run_end(run, end);
    for (const ir_call_t* call = run->calls; call; call = call->next)
        call->cancel(call->subject);
}

bool cancel_ir_runs(struct graph* source)
{
    ir_runs_t* runs = &source->core->runs;
    pthread_mutex_lock(&runs->mutex);
    const bool are_there = runs->first;
    for (ir_run_t* run = runs->first; run; run = run->next)
        request_end(run, IR_RUN_CANCELLED);
    pthread_mutex_unlock(&runs->mutex);
    return are_there;
}

int64_t end_late_ir_runs(struct graph* source)
{
    const int64_t now = (int64_t)get_time_ns();
    int64_t next = INT64_MAX;
    ir_runs_t* runs = &source->core->runs;
    pthread_mutex_lock(&runs->mutex);
    for (ir_run_t* run = runs->first; run; run = run->next) {
        if (run->limit_ms == 0 || is_ir_run_ending(run)) continue;
        if (run->deadline_ns <= now)
            request_end(run, IR_RUN_LATE);
        else if (run->deadline_ns < next)
            next = run->deadline_ns;
    }
    pthread_mutex_unlock(&runs->mutex);
    return next;
}

// ---- calls ----

int begin_ir_call(ir_run_t* run, void (*cancel)(void* subject), void* subject, ir_call_t* out_call)
{
    *out_call = (ir_call_t){.cancel = cancel, .subject = subject};
    if (!run || !run->source) return check_ir_run(run);
    ir_runs_t* runs = runs_of(run);
    pthread_mutex_lock(&runs->mutex);
    const int status = check_ir_run(run);
    if (status == TENGINE_OK) {
        out_call->run = run;
        out_call->next = run->calls;
        run->calls = out_call;
    }
    pthread_mutex_unlock(&runs->mutex);
    return status;
}

void end_ir_call(ir_call_t* call)
{
    if (!call->run) return;
    ir_runs_t* runs = runs_of(call->run);
    pthread_mutex_lock(&runs->mutex);
    ir_call_t** link = &call->run->calls;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
    pthread_mutex_unlock(&runs->mutex);
    call->run = NULL;
}

// ---- completion ----

void tell_ir_completion(const struct graph* source, int status)
{
    const ir_completion_hook_t* hook = &source->core->completion;
    if (hook->function) hook->function((void*)source, status, hook->user_data);
}

// SPDX-License-Identifier: Apache-2.0
#include "scheduler/deadline.h"

#include <pthread.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/condition.h"
#include "graph/run_state.h"
#include "tengine/error.h"

struct deadline
{
    pid_t process;  // the one that has the thread
    pthread_t thread;
    struct graph* source;
    pthread_mutex_t mutex;  // guards the members that follow
    pthread_cond_t changed;
    bool is_idle;    // the thread knows of no run
    bool has_begun;  // a run has, since the thread has looked
    bool stopping;
};

// All runs have the same time, so later runs have later deadlines, and the thread sleeps until the
// first one. It is woken only when it knows of no run.
static void* serve(void* argument)
{
    ir_deadline_t* deadline = argument;
    pthread_mutex_lock(&deadline->mutex);
    while (!deadline->stopping) {
        deadline->has_begun = false;
        pthread_mutex_unlock(&deadline->mutex);
        const int64_t next = end_late_ir_runs(deadline->source);
        pthread_mutex_lock(&deadline->mutex);
        if (deadline->stopping || (next == INT64_MAX && deadline->has_begun)) continue;
        deadline->is_idle = next == INT64_MAX;
        if (deadline->is_idle)
            pthread_cond_wait(&deadline->changed, &deadline->mutex);
        else
            wait_condition_until(&deadline->changed, &deadline->mutex, next);
    }
    pthread_mutex_unlock(&deadline->mutex);
    return NULL;
}

static void free_deadline(ir_deadline_t* deadline)
{
    pthread_cond_destroy(&deadline->changed);
    pthread_mutex_destroy(&deadline->mutex);
    free_memory(deadline);
}

static int start_thread(ir_deadline_t* deadline)
{
    if (pthread_mutex_init(&deadline->mutex, NULL) != 0) {
        free_memory(deadline);
        return TENGINE_ENOMEM;
    }
    if (init_condition(&deadline->changed) != 0) {
        pthread_mutex_destroy(&deadline->mutex);
        free_memory(deadline);
        return TENGINE_ENOMEM;
    }
    if (pthread_create(&deadline->thread, NULL, serve, deadline) == 0) return TENGINE_OK;
    free_deadline(deadline);
    return TENGINE_ENOMEM;
}

int create_ir_deadline(struct graph* source, ir_deadline_t** out_deadline)
{
    ir_deadline_t* deadline = alloc_memory(sizeof *deadline);
    if (deadline) {
        deadline->process = getpid();
        deadline->source = source;
    }
    if (!deadline || start_thread(deadline) < 0)
        return tengine_error_set(TENGINE_ENOMEM,
                                 "cannot start the thread of option run.deadline_ms");
    *out_deadline = deadline;
    return TENGINE_OK;
}

void destroy_ir_deadline(ir_deadline_t* deadline)
{
    if (!deadline) return;
    if (deadline->process != getpid()) {
        // This is a child process: the thread does not exist, and may hold the mutex.
        free_memory(deadline);
        return;
    }
    pthread_mutex_lock(&deadline->mutex);
    deadline->stopping = true;
    pthread_cond_signal(&deadline->changed);
    pthread_mutex_unlock(&deadline->mutex);
    pthread_join(deadline->thread, NULL);
    free_deadline(deadline);
}

void note_ir_deadline(ir_deadline_t* deadline)
{
    if (!deadline) return;
    pthread_mutex_lock(&deadline->mutex);
    deadline->has_begun = true;
    if (deadline->is_idle) pthread_cond_signal(&deadline->changed);
    deadline->is_idle = false;
    pthread_mutex_unlock(&deadline->mutex);
}

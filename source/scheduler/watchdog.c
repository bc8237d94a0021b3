// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "scheduler/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/condition.h"
#include "scheduler/failure.h"
#include "tengine/error.h"

typedef enum watch_state
{
    WATCH_IDLE,
    WATCH_CALLING,
    WATCH_STOPPED,   // the thread ends
    WATCH_ABANDONED  // the thread ends after the call and frees everything
} watch_state_t;

struct watch
{
    pid_t process;  // the one that has the thread
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    watch_state_t state;
    ir_watched_t watched;
    int timeout_ms;
    int status;  // of the last call
    ir_failure_t failure;
};

static atomic_int hung_calls;

static void free_watch(ir_watch_t* watch)
{
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    free_memory(watch);
}

static void make_call(ir_watch_t* watch)
{
    watch->status = watch->watched.call(watch->watched.subject);
    keep_ir_failure(&watch->failure);
}

static void* serve(void* argument)
{
    ir_watch_t* watch = argument;
    pthread_mutex_lock(&watch->mutex);
    for (;;) {
        while (watch->state == WATCH_IDLE)
            pthread_cond_wait(&watch->changed, &watch->mutex);
        if (watch->state == WATCH_STOPPED) break;
        pthread_mutex_unlock(&watch->mutex);
        make_call(watch);
        pthread_mutex_lock(&watch->mutex);
        if (watch->state == WATCH_ABANDONED) break;
        watch->state = WATCH_IDLE;
        pthread_cond_broadcast(&watch->changed);
    }
    const bool abandoned = watch->state == WATCH_ABANDONED;
    pthread_mutex_unlock(&watch->mutex);
    if (abandoned) {
        watch->watched.close(watch->watched.subject);
        free_watch(watch);
        atomic_fetch_sub(&hung_calls, 1);
    }
    return NULL;
}

int create_ir_watch(const ir_watched_t* watched, int timeout_ms, ir_watch_t** out_watch)
{
    ir_watch_t* watch = alloc_memory(sizeof *watch);
    if (!watch) goto out_of_memory;
    watch->process = getpid();
    watch->watched = *watched;
    watch->timeout_ms = timeout_ms;
    if (pthread_mutex_init(&watch->mutex, NULL) != 0) {
        free_memory(watch);
        goto out_of_memory;
    }
    if (init_condition(&watch->changed) != 0) {
        pthread_mutex_destroy(&watch->mutex);
        free_memory(watch);
        goto out_of_memory;
    }
    if (pthread_create(&watch->thread, NULL, serve, watch) != 0) {
        free_watch(watch);
        goto out_of_memory;
    }
    *out_watch = watch;
    return TENGINE_OK;

out_of_memory:
    return tengine_error_set(TENGINE_ENOMEM, "part %d: cannot start the watchdog's thread",
                             watched->part_index);
}

int call_ir_watch(ir_watch_t* watch, bool* out_hung)
{
    const int timeout_ms = watch->timeout_ms;
    const int64_t deadline = (int64_t)get_time_ns() + (int64_t)timeout_ms * 1000000;
    pthread_mutex_lock(&watch->mutex);
    watch->state = WATCH_CALLING;
    pthread_cond_broadcast(&watch->changed);
    int waited = 0;
    while (watch->state == WATCH_CALLING && waited != ETIMEDOUT)
        waited = wait_condition_until(&watch->changed, &watch->mutex, deadline);
    *out_hung = watch->state == WATCH_CALLING;
    if (*out_hung) {
        atomic_fetch_add(&hung_calls, 1);
        watch->state = WATCH_ABANDONED;
        pthread_detach(watch->thread);
        watch->watched.cancel(watch->watched.subject);
        // From now on the thread may free the watch.
        pthread_mutex_unlock(&watch->mutex);
        return tengine_error_set(TENGINE_EDEVICE, "no return within %d ms", timeout_ms);
    }
    const int status = watch->status;
    if (status != 0 && watch->failure.code != 0) raise_ir_failure(&watch->failure);
    if (watch->failure.code == 0) tengine_error_clear();
    pthread_mutex_unlock(&watch->mutex);
    return status;
}

void destroy_ir_watch(ir_watch_t* watch)
{
    if (!watch) return;
    if (watch->process != getpid()) {
        // This is a child process: the thread does not exist, and the condition has a waiter that
        // never leaves.
        free_memory(watch);
        return;
    }
    pthread_mutex_lock(&watch->mutex);
    watch->state = WATCH_STOPPED;
    pthread_cond_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    free_watch(watch);
}

int wait_hung_calls(int timeout_ms)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const uint64_t end = get_time_ns() + (uint64_t)timeout_ms * 1000000;
    while (atomic_load(&hung_calls) > 0 && get_time_ns() < end)
        nanosleep(&pause, NULL);
    return atomic_load(&hung_calls);
}

// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "base/condition.h"

#include <time.h>

int init_condition(pthread_cond_t* out_condition)
{
    pthread_condattr_t attributes;
    int status = pthread_condattr_init(&attributes);
    if (status != 0) return status;
    status = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (status == 0) status = pthread_cond_init(out_condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return status;
}

int wait_condition_until(pthread_cond_t* condition, pthread_mutex_t* mutex, int64_t time_ns)
{
    const struct timespec time = {.tv_sec = (time_t)(time_ns / 1000000000),
                                  .tv_nsec = (long)(time_ns % 1000000000)};
    return pthread_cond_timedwait(condition, mutex, &time);
}

// SPDX-License-Identifier: Apache-2.0
// Conditions whose timed waits use the clock of clock.h.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

// As pthread_cond_init().
int init_condition(pthread_cond_t* out_condition);

// Waits as pthread_cond_timedwait() until a time of get_time_ns().
int wait_condition_until(pthread_cond_t* condition, pthread_mutex_t* mutex, int64_t time_ns);

TENGINE_EXTERN_C_END

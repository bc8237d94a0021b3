// SPDX-License-Identifier: Apache-2.0
// Calls of a device's pre_run() and run() that may hang: a thread makes them, and the caller gives
// up after a time. The thread then owns the part and frees it when the call finally returns.
#pragma once

#include <stdbool.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

typedef struct watch ir_watch_t;

// The subject of a watch, such as a compiled part, and the functions on it.
typedef struct ir_watched
{
    void* subject;
    int part_index;                 // for messages
    int (*call)(void* subject);     // may hang
    void (*cancel)(void* subject);  // the call is given up; it may return early
    int (*close)(void* subject);    // frees the subject after a call that was given up has returned
} ir_watched_t;

// Starts a thread that makes the calls of `watched`; its subject stays the caller's.
// TENGINE_ENOMEM: the thread could not be started.
int create_ir_watch(const ir_watched_t* watched, int timeout_ms, ir_watch_t** out_watch);

// Makes the call on that thread; a failure that it has recorded is recorded for the caller. After
// the time limit *out_hung is true, EDEVICE is recorded and returned, and the watch and its subject
// no longer belong to the caller.
int call_ir_watch(ir_watch_t* watch, bool* out_hung);

// Ends the thread; no call is in flight. NULL is allowed.
void destroy_ir_watch(ir_watch_t* watch);

// Waits up to `timeout_ms` for calls that were given up and have not returned yet. Returns how many
// are left. A device must not be unregistered before it is 0.
int wait_hung_calls(int timeout_ms);

TENGINE_EXTERN_C_END

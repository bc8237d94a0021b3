// SPDX-License-Identifier: Apache-2.0
// Calls of a device's pre_run() and run() that may hang: a thread makes them, and its waiter gives
// up after a time. The thread then owns the part and frees it when the call returns at
// last.
#pragma once

#include "scheduler/compiled.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct watch ir_watch_t;

// A thread that makes `call`, such as run_ir_compiled, for `compiled`, which must be isolated
// (compiled.h) and stays the caller's.
int create_ir_watch(ir_compiled_t* compiled, int timeout_ms, int (*call)(ir_compiled_t* compiled),
                    ir_watch_t** out_watch);

// The call on that thread; a failure it has recorded is recorded for the caller. When the
// time is over *out_hung is true, EDEVICE is recorded and returned, and neither the watch nor the
// part it watches is the caller's any more.
int call_ir_watch(ir_watch_t* watch, bool* out_hung);

// Ends the thread; no call is under way. NULL is allowed.
void destroy_ir_watch(ir_watch_t* watch);

// Calls that were given up and have not returned yet; waits up to `timeout_ms` for them. Returns
// how many are left. A device must not be unregistered before it is 0.
int wait_hung_calls(int timeout_ms);

#ifdef __cplusplus
}
#endif

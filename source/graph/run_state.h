// SPDX-License-Identifier: Apache-2.0
// Runs in flight: the program may cancel them, and they may have a deadline. A run ends before its
// next node; calls in it that take long, those of devices and of custom operators, are told.
//
// A run belongs to a source graph without a graph around it. The graphs of its parts, and bodies it
// runs, refer to it (graph/core.h, run).
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

struct ir_call;

typedef enum ir_run_end
{
    IR_RUN_GOES_ON,
    IR_RUN_CANCELLED,
    IR_RUN_LATE  // the deadline is over
} ir_run_end_t;

typedef struct ir_run
{
    int end;               // ir_run_end_t; read and written atomically
    struct graph* source;  // NULL: the run of a part that may outlive the graph; it has no calls
    int limit_ms;          // 0: no deadline
    int64_t deadline_ns;   // of get_time_ns()
    struct ir_call* calls;
    struct ir_run* next;
} ir_run_t;

// A call in a run that can be told that the run should end.
typedef struct ir_call
{
    void (*cancel)(void* subject);
    void* subject;
    ir_run_t* run;  // NULL: the call is not in flight
    struct ir_call* next;
} ir_call_t;

// The runs of a source graph that are in flight. The mutex guards the lists, and is held while
// calls are told.
typedef struct ir_runs
{
    pthread_mutex_t mutex;
    ir_run_t* first;
} ir_runs_t;

// The function of tengine_graph_set_completion().
typedef struct ir_completion_hook
{
    void (*function)(void* graph, int status, void* user_data);  // NULL: none
    void* user_data;
} ir_completion_hook_t;

// These two enclose a run; `limit_ms` 0: it has no deadline. The run lives until its end.
void begin_ir_run(struct graph* source, int limit_ms, ir_run_t* out_run);
void end_ir_run(ir_run_t* run);
// After fork(), in the child: the runs in flight stay in the parent.
void lose_ir_runs(struct graph* source);

// Requests the end of all runs in flight; false when there are none. Any thread.
bool cancel_ir_runs(struct graph* source);
// Requests the end of runs whose deadline is over. Returns the next deadline, INT64_MAX when no run
// has one.
int64_t end_late_ir_runs(struct graph* source);

// Resets or requests the end of a run that is in no list. Any thread.
void set_ir_run_end(ir_run_t* run, ir_run_end_t end);
// Whether the run has been asked to end; NULL is allowed. Any thread.
bool is_ir_run_ending(const ir_run_t* run);
// TENGINE_ECANCELED, with the reason, when it has; NULL is allowed.
TENGINE_MUST_USE int check_ir_run(const ir_run_t* run);

// These two enclose a call in a run, which may be NULL. Until the second returns, other threads may
// call cancel(subject), several times; it returns soon and calls none of these functions.
// TENGINE_ECANCELED: the run should end, and the call does not begin.
TENGINE_MUST_USE int begin_ir_call(ir_run_t* run, void (*cancel)(void* subject), void* subject,
                                   ir_call_t* out_call);
void end_ir_call(ir_call_t* call);

// Tells the program that a run in flight has ended with `status`.
void tell_ir_completion(const struct graph* source, int status);

TENGINE_EXTERN_C_END

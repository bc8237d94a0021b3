// SPDX-License-Identifier: Apache-2.0
// The state of an execution graph from prerun to postrun: its scheduler, its frames and which of
// them are in use, and the fallbacks of its parts (graph->session).
#pragma once

#include <pthread.h>

#include <sys/types.h>

#include "scheduler/deadline.h"
#include "scheduler/frame.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct session
{
    struct scheduler* scheduler;  // it uses the scheduler (graph/use.h)
    bool scheduler_ready;         // its prerun has been called
    pid_t process;                // the process that has its threads; 0: there are none
    int deadline_ms;              // of each run; 0: none
    ir_deadline_t* deadline;      // NULL: there is none
    // Runs are numbered from 0; run i uses frame i % frame_num. started - finished of them are
    // in flight. These belong to the user's thread.
    ir_frame_t* frames;
    int frame_num;
    int64_t started;
    int64_t finished;
    bool keeps_states;  // a run reads what the one before it has written
    bool cancelled;     // the run that ended last was, which leaves the preparation as it is
    // Held while the execution graph is changed (publish_ir_parts) and while a part of it is copied
    // on another thread, and for the members below.
    pthread_mutex_t mutex;
    bool may_fall_back;
    double fallback_percent;  // share of all MACs that may fall back to the default device
    double fallback_macs;     // share of the MACs that has fallen back
    double all_macs;
    double* part_macs;  // MACs of each part that count for the limit
    // The execution graphs, also of bodies, that reports describe and that runs may prepare again.
    // The list belongs to the inspecting room and describes the graph before run `places_run`;
    // NULL: not listed.
    struct vector* places;
    int64_t places_run;
    struct vector* plan;   // the same for the memory plan, as old as the list
    struct trace* trace;   // see run_trace.h; NULL: none
    int trace_graph;       // number of the execution graph in it
    struct vector* lanes;  // the trace as reports show it, before run `lanes_run`; NULL: not made
    int64_t lanes_run;
} ir_session_t;

// Opens a session; `execution` has been split. After a failure close_ir_session() frees the rest.
int open_ir_session(struct graph* execution, struct scheduler* scheduler);
void close_ir_session(struct graph* execution);

// Returns NULL for a graph that is not prepared.
ir_session_t* get_ir_session(const struct graph* execution);

// Replaces the frames. With memory of their own there is one frame more than runs that may be in
// flight, so that the results of the last finished run stay valid; else there is one frame, which
// works in place.
int make_ir_frames(struct graph* execution, int frame_num, bool own_memory);

// Resets the session to its state before the first run; no run is in flight. Results are dropped.
void rewind_ir_session(struct graph* execution);

// Whether this process is a child of the one that has the session's threads.
bool has_lost_ir_threads(const ir_session_t* session);

// Return the number of runs in flight, and how many there may be.
int count_ir_runs(const ir_session_t* session);
int limit_ir_runs(const ir_session_t* session);
ir_frame_t* get_ir_run_frame(const ir_session_t* session, int64_t run);

// Whether a part may fall back to the default device now; if so, it is counted. Any thread.
bool allow_ir_fallback(ir_session_t* session, const struct subgraph* part);

TENGINE_EXTERN_C_END

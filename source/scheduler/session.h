// SPDX-License-Identifier: Apache-2.0
// The belongings of an execution graph from prerun to postrun: its scheduler, its frames and which
// of them are in use, and the fallbacks of its parts (graph->session).
#pragma once

#include <pthread.h>

#include <sys/types.h>

#include "scheduler/frame.h"
#include "tengine/device.h"

TENGINE_EXTERN_C_BEGIN

typedef struct session
{
    struct scheduler* scheduler;
    bool scheduler_ready;  // its prerun has been called
    pid_t process;         // that has the threads it runs on; 0: it runs without
    // Runs are numbered from 0; run i uses frame i % frame_num. started - finished of them are
    // under way. These belong to the user's thread.
    ir_frame_t* frames;
    int frame_num;
    int64_t started;
    int64_t finished;
    // Held while the execution graph is changed (publish_ir_parts) and while a part of it is copied
    // on another thread, and for the members below.
    pthread_mutex_t mutex;
    bool may_fall_back;
    double fallback_percent;  // share of all MACs that may fall back to the default device
    double fallback_macs;     // those that do
    double all_macs;
    double* part_macs;  // each part's, as far as they would count
    // The execution graphs that reports tell of, bodies' too, which runs may prepare again: the
    // inspecting room's own list, as it was before run `places_run`; NULL: not listed.
    struct vector* places;
    int64_t places_run;
} ir_session_t;

// `execution` is split for good. close_ir_session() frees the rest after a failure.
int open_ir_session(struct graph* execution, struct scheduler* scheduler);
void close_ir_session(struct graph* execution);

// NULL for a graph that is not prepared.
ir_session_t* get_ir_session(const struct graph* execution);

// Replaces the frames. With memory of their own one more than runs that may be under way, so that
// the results of the last finished run stay where they are; else one, which works in place.
int make_ir_frames(struct graph* execution, int frame_num, bool own_memory);

// No run is under way: the session is as before the first one, and results of runs are gone.
void rewind_ir_session(struct graph* execution);

// Whether this is a child of the process that has the threads it runs on.
bool has_lost_ir_threads(const ir_session_t* session);

// Runs under way, and how many there may be.
int count_ir_runs(const ir_session_t* session);
int limit_ir_runs(const ir_session_t* session);
ir_frame_t* get_ir_run_frame(const ir_session_t* session, int64_t run);

// Whether a part may go over to the default device now; if so it is counted. Any thread.
bool allow_ir_fallback(ir_session_t* session, const struct subgraph* part);

TENGINE_EXTERN_C_END

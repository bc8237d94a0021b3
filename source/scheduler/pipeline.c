// SPDX-License-Identifier: Apache-2.0
// The pipeline scheduler: a thread for each device, and several runs in flight, so that while one
// device works on a run another works on the run before. A part of the default device that waits
// for an asynchronous custom operator has a thread of its own. Each thread takes a part of its
// device whose inputs are ready, of the oldest run first. It follows that every part sees the runs
// in their order. Results are handed out in that order too; a run that fails ends with the parts
// that it has begun, and does not touch the runs after it.
#include <pthread.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/option.h"
#include "graph/run_state.h"
#include "operator/custom/custom_kernel.h"
#include "scheduler/failure.h"
#include "scheduler/lane.h"
#include "scheduler/runner.h"
#include "scheduler/scheduler.h"
#include "scheduler/session.h"

enum
{
    // Parts that a thread has begun on a device with async_run. The second waits in the device's
    // own queue until the first ends.
    MOST_BEGUN = 2
};

typedef enum part_state
{
    PART_WAITING,
    PART_BEGUN,
    PART_DONE
} part_state_t;

// One run; it uses the session's frame of the same index.
typedef struct slot
{
    struct pipeline* pipeline;
    int part_left;  // parts that are not done yet
    int begun_num;
    uint8_t* states;  // part_state_t of each part
    ir_failure_t failure;
    bool cancelled;  // before it was over
    ir_call_t call;  // sets that
    bool is_told;    // when it is over, a thread tells the program, and then it ends
} slot_t;

typedef struct worker
{
    struct pipeline* pipeline;
    struct device* device;
    bool is_for_one_part;
    pthread_t thread;
} worker_t;

typedef struct pipeline
{
    struct graph* execution;
    pthread_mutex_t mutex;  // guards the members that follow, except the workers' own
    pthread_cond_t work_there;
    pthread_cond_t part_done;
    bool stopping;
    int64_t first;  // runs first..last-1 may have parts that are not done
    int64_t last;
    int64_t untold;   // the oldest run whose end no thread has handled
    bool is_telling;  // a thread is
    int slot_num;
    slot_t* slots;
    int part_num;
    worker_t** part_workers;  // the worker of each part
    bool* busy;               // parts that a thread has begun, of any run
    uint8_t* states;          // states of all slots
    int worker_num;
    int thread_num;  // workers that have been started
    worker_t* workers;
} pipeline_t;

typedef struct job
{
    int64_t run;
    int part;
} job_t;

static slot_t* slot_of(const pipeline_t* pipeline, int64_t run)
{
    return &pipeline->slots[run % pipeline->slot_num];
}

static bool has_failed(const slot_t* slot)
{
    return slot->cancelled || slot->failure.code != 0;
}

static bool is_over(const slot_t* slot)
{
    return has_failed(slot) ? slot->begun_num == 0 : slot->part_left == 0;
}

static void wake_all(pipeline_t* pipeline)
{
    pthread_cond_broadcast(&pipeline->work_there);
    pthread_cond_broadcast(&pipeline->part_done);
}

// Any thread.
static void cancel_slot(void* subject)
{
    slot_t* slot = subject;
    pthread_mutex_lock(&slot->pipeline->mutex);
    if (!is_over(slot)) slot->cancelled = true;
    wake_all(slot->pipeline);
    pthread_mutex_unlock(&slot->pipeline->mutex);
}

// ---- a device's thread ----

// Whether the parts that write the inputs of this one are done.
static bool has_inputs(const pipeline_t* pipeline, const slot_t* slot, int index)
{
    const struct graph* graph = pipeline->execution;
    const struct subgraph* part = get_ir_graph_subgraph(graph, index);
    for (int i = 0; i < part->input_num; ++i) {
        const int producer = graph->tensor_list[part->input_tensor_list[i]]->producer;
        if (producer >= 0 && slot->states[graph->node_list[producer]->subgraph_idx] != PART_DONE)
            return false;
    }
    return true;
}

static bool pick_part(const worker_t* worker, int64_t run, int* out_part)
{
    const pipeline_t* pipeline = worker->pipeline;
    const slot_t* slot = slot_of(pipeline, run);
    if (has_failed(slot)) return false;
    for (int i = 0; i < pipeline->part_num; ++i)
        if (pipeline->part_workers[i] == worker && slot->states[i] == PART_WAITING &&
            !pipeline->busy[i] && has_inputs(pipeline, slot, i)) {
            *out_part = i;
            return true;
        }
    return false;
}

static bool pick_job(const worker_t* worker, job_t* out_job)
{
    const pipeline_t* pipeline = worker->pipeline;
    for (int64_t run = pipeline->first; run < pipeline->last; ++run)
        if (pick_part(worker, run, &out_job->part)) {
            out_job->run = run;
            return true;
        }
    return false;
}

static void begin_job(pipeline_t* pipeline, const job_t* job)
{
    slot_t* slot = slot_of(pipeline, job->run);
    slot->states[job->part] = PART_BEGUN;
    ++slot->begun_num;
    pipeline->busy[job->part] = true;
    pthread_mutex_unlock(&pipeline->mutex);
    start_ir_part(get_ir_graph_subgraph(pipeline->execution, job->part),
                  get_ir_run_frame(get_ir_session(pipeline->execution), job->run));
    pthread_mutex_lock(&pipeline->mutex);
}

static void end_job(pipeline_t* pipeline, const job_t* job)
{
    pthread_mutex_unlock(&pipeline->mutex);
    const int status =
        finish_ir_part(get_ir_graph_subgraph(pipeline->execution, job->part),
                       get_ir_run_frame(get_ir_session(pipeline->execution), job->run));
    pthread_mutex_lock(&pipeline->mutex);
    slot_t* slot = slot_of(pipeline, job->run);
    if (status < 0 && slot->failure.code == 0) keep_ir_failure(&slot->failure);
    slot->states[job->part] = PART_DONE;
    --slot->part_left;
    --slot->begun_num;
    pipeline->busy[job->part] = false;
    wake_all(pipeline);
}

static void tell_end(pipeline_t* pipeline, int64_t run)
{
    slot_t* slot = slot_of(pipeline, run);
    const int status = slot->cancelled ? TENGINE_ECANCELED : slot->failure.code;
    pthread_mutex_unlock(&pipeline->mutex);
    tell_ir_completion(pipeline->execution->core->source, status);
    pthread_mutex_lock(&pipeline->mutex);
    get_ir_run_frame(get_ir_session(pipeline->execution), run)->told = true;
}

// Handles the end of the oldest run that is over; false when there is none. One thread at a time,
// so that the program is told in the order of the runs.
static bool handle_end(pipeline_t* pipeline)
{
    const int64_t run = pipeline->untold;
    if (pipeline->is_telling || run == pipeline->last || !is_over(slot_of(pipeline, run)))
        return false;
    if (slot_of(pipeline, run)->is_told) {
        pipeline->is_telling = true;
        tell_end(pipeline, run);
        pipeline->is_telling = false;
    }
    pipeline->untold = run + 1;
    pthread_cond_broadcast(&pipeline->part_done);
    return true;
}

static void* work(void* argument)
{
    const worker_t* worker = argument;
    pipeline_t* pipeline = worker->pipeline;
    const int most = worker->device->interface->async_run ? MOST_BEGUN : 1;
    job_t jobs[MOST_BEGUN];  // begun, in order
    int number = 0;
    pthread_mutex_lock(&pipeline->mutex);
    for (;;) {
        if (handle_end(pipeline)) {
            continue;
        } else if (number < most && pick_job(worker, &jobs[number])) {
            begin_job(pipeline, &jobs[number++]);
        } else if (number > 0) {
            const job_t oldest = jobs[0];
            for (int i = 1; i < number; ++i)
                jobs[i - 1] = jobs[i];
            --number;
            end_job(pipeline, &oldest);
        } else if (pipeline->stopping) {
            break;
        } else {
            pthread_cond_wait(&pipeline->work_there, &pipeline->mutex);
        }
    }
    pthread_mutex_unlock(&pipeline->mutex);
    return NULL;
}

// ---- the user's thread ----

static bool has_ended(const pipeline_t* pipeline, int64_t run)
{
    const slot_t* slot = slot_of(pipeline, run);
    return is_over(slot) && (!slot->is_told || pipeline->untold > run);
}

static bool wait_for_run(pipeline_t* pipeline, int64_t run, bool block)
{
    while (block && !has_ended(pipeline, run))
        pthread_cond_wait(&pipeline->part_done, &pipeline->mutex);
    return has_ended(pipeline, run);
}

// 1: the run has succeeded; 0: it is in flight; else its failure.
static int get_outcome(pipeline_t* pipeline, int64_t run, bool block)
{
    pthread_mutex_lock(&pipeline->mutex);
    const bool over = wait_for_run(pipeline, run, block);
    slot_t* slot = slot_of(pipeline, run);
    int status = over ? 1 : 0;
    if (over && slot->failure.code != 0) status = raise_ir_failure(&slot->failure);
    const bool cancelled = over && slot->cancelled;
    pthread_mutex_unlock(&pipeline->mutex);
    if (!over) return 0;
    end_ir_call(&slot->call);
    return cancelled ? check_ir_run(get_ir_run_frame(get_ir_session(pipeline->execution), run)->run)
                     : status;
}

static pipeline_t* pipeline_of(const struct graph* graph)
{
    return graph->attribute->scheduler_privacy;
}

// Empties the slot of a run that no thread may begin yet. The lock matters: a session in new shapes
// counts its runs from 0, and a thread may still look at the slots of the runs before.
static void open_slot(pipeline_t* pipeline, int64_t run, bool is_told)
{
    slot_t* slot = slot_of(pipeline, run);
    pthread_mutex_lock(&pipeline->mutex);
    slot->part_left = pipeline->part_num;
    slot->begun_num = 0;
    slot->failure.code = 0;
    slot->cancelled = false;
    slot->is_told = is_told;
    for (int i = 0; i < slot->part_left; ++i)
        slot->states[i] = PART_WAITING;
    pipeline->first = get_ir_session(pipeline->execution)->finished;
    pipeline->last = run;
    if (pipeline->first == run) pipeline->untold = run;
    pthread_mutex_unlock(&pipeline->mutex);
}

static int run(struct scheduler* scheduler, struct graph* graph, int block)
{
    (void)scheduler;
    pipeline_t* pipeline = pipeline_of(graph);
    const ir_session_t* session = get_ir_session(graph);
    const int64_t run = session->started - 1;
    slot_t* slot = slot_of(pipeline, run);
    open_slot(pipeline, run, !block && graph->core->source->core->completion.function);
    const int begun =
        begin_ir_call(get_ir_run_frame(session, run)->run, cancel_slot, slot, &slot->call);
    pthread_mutex_lock(&pipeline->mutex);
    if (begun < 0) slot->cancelled = true;
    pipeline->last = run + 1;
    wake_all(pipeline);
    pthread_mutex_unlock(&pipeline->mutex);
    if (!block) return TENGINE_OK;
    TENGINE_RETURN_IF_ERROR(get_outcome(pipeline, run, true));
    return TENGINE_OK;
}

static int wait(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    return get_outcome(pipeline_of(graph), get_ir_session(graph)->finished, true);
}

static int try_wait(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    return get_outcome(pipeline_of(graph), get_ir_session(graph)->finished, false);
}

// ---- prerun and postrun ----

static void release_lists(pipeline_t* pipeline)
{
    free_memory(pipeline->slots);
    free_memory(pipeline->part_workers);
    free_memory(pipeline->busy);
    free_memory(pipeline->states);
    free_memory(pipeline->workers);
}

static void release_pipeline(pipeline_t* pipeline)
{
    release_lists(pipeline);
    free_memory(pipeline);
}

// Ends the threads; after that the locks are unused.
static void stop_workers(pipeline_t* pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    pipeline->stopping = true;
    pthread_cond_broadcast(&pipeline->work_there);
    pthread_mutex_unlock(&pipeline->mutex);
    for (int i = 0; i < pipeline->thread_num; ++i)
        pthread_join(pipeline->workers[i].thread, NULL);
    pthread_cond_destroy(&pipeline->part_done);
    pthread_cond_destroy(&pipeline->work_there);
    pthread_mutex_destroy(&pipeline->mutex);
}

static bool is_async_part(const struct subgraph* part)
{
    if (part->device != find_default_device()) return false;
    for (int i = 0; i < part->node_num; ++i)
        if (is_async_node(part->graph->node_list[part->node_list[i]])) return true;
    return false;
}

static worker_t* find_worker(const pipeline_t* pipeline, const struct device* device)
{
    for (int i = 0; i < pipeline->worker_num; ++i) {
        worker_t* worker = &pipeline->workers[i];
        if (worker->device == device && !worker->is_for_one_part) return worker;
    }
    return NULL;
}

// The threads read the workers of all parts, so they start after every part has a worker.
static void assign_parts(pipeline_t* pipeline)
{
    for (int i = 0; i < pipeline->part_num; ++i) {
        const struct subgraph* part = get_ir_graph_subgraph(pipeline->execution, i);
        const bool is_async = is_async_part(part);
        worker_t* worker = is_async ? NULL : find_worker(pipeline, part->device);
        if (!worker) {
            worker = &pipeline->workers[pipeline->worker_num++];
            *worker = (worker_t){
                .pipeline = pipeline, .device = part->device, .is_for_one_part = is_async};
        }
        pipeline->part_workers[i] = worker;
    }
}

// The parts of a thread run one after the other, except for those that async_run starts.
static int share_scratch(const pipeline_t* pipeline)
{
    for (int i = 0; i < pipeline->part_num; ++i) {
        const worker_t* worker = pipeline->part_workers[i];
        if (worker->device->interface->async_run) continue;
        TENGINE_RETURN_IF_ERROR(put_ir_part_into_lane(get_ir_graph_subgraph(pipeline->execution, i),
                                                      (int)(worker - pipeline->workers)));
    }
    return TENGINE_OK;
}

static int start_workers(pipeline_t* pipeline)
{
    assign_parts(pipeline);
    TENGINE_RETURN_IF_ERROR(share_scratch(pipeline));
    for (; pipeline->thread_num < pipeline->worker_num; ++pipeline->thread_num) {
        worker_t* worker = &pipeline->workers[pipeline->thread_num];
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            return tengine_error_set(TENGINE_ENOMEM, "device '%s': cannot start a thread",
                                     worker->device->name);
    }
    return TENGINE_OK;
}

static bool allocate_lists(pipeline_t* pipeline)
{
    const size_t part_num = (size_t)pipeline->part_num;
    const size_t slot_num = (size_t)pipeline->slot_num;
    pipeline->slots = alloc_memory(sizeof *pipeline->slots * slot_num);
    pipeline->part_workers = alloc_memory(sizeof *pipeline->part_workers * part_num);
    pipeline->busy = alloc_memory(sizeof *pipeline->busy * part_num);
    pipeline->states = alloc_memory(part_num * slot_num);
    pipeline->workers = alloc_memory(sizeof *pipeline->workers * part_num);
    return pipeline->slots && pipeline->part_workers && pipeline->busy && pipeline->states &&
           pipeline->workers;
}

static bool init_locks(pipeline_t* pipeline)
{
    if (pthread_mutex_init(&pipeline->mutex, NULL) != 0) return false;
    if (pthread_cond_init(&pipeline->work_there, NULL) == 0) {
        if (pthread_cond_init(&pipeline->part_done, NULL) == 0) return true;
        pthread_cond_destroy(&pipeline->work_there);
    }
    pthread_mutex_destroy(&pipeline->mutex);
    return false;
}

static pipeline_t* create_pipeline(struct graph* graph, int slot_num)
{
    pipeline_t* pipeline = alloc_memory(sizeof *pipeline);
    if (!pipeline) return NULL;
    pipeline->execution = graph;
    pipeline->slot_num = slot_num;
    pipeline->part_num = get_vector_num(graph->subgraph_list);
    if (!allocate_lists(pipeline) || !init_locks(pipeline)) {
        release_lists(pipeline);
        free_memory(pipeline);
        return NULL;
    }
    for (int i = 0; i < slot_num; ++i) {
        pipeline->slots[i].pipeline = pipeline;
        pipeline->slots[i].states = pipeline->states + (size_t)i * (size_t)pipeline->part_num;
    }
    return pipeline;
}

static int prerun(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    const int frames = (int)get_ir_context_number(graph->attribute->context, "pipeline.frames");
    TENGINE_RETURN_IF_ERROR(make_ir_frames(graph, frames + 1, true));
    pipeline_t* pipeline = create_pipeline(graph, frames + 1);
    if (!pipeline) return tengine_error_set(TENGINE_ENOMEM, "out of memory for a pipeline");
    const int status = start_workers(pipeline);
    if (status < 0) {
        stop_workers(pipeline);
        release_pipeline(pipeline);
        return status;
    }
    graph->attribute->scheduler_privacy = pipeline;
    return TENGINE_OK;
}

static int postrun(struct scheduler* scheduler, struct graph* graph)
{
    (void)scheduler;
    pipeline_t* pipeline = pipeline_of(graph);
    if (!has_lost_ir_threads(get_ir_session(graph))) stop_workers(pipeline);
    release_pipeline(pipeline);
    graph->attribute->scheduler_privacy = NULL;
    return TENGINE_OK;
}

static struct scheduler pipeline_scheduler = {
    .name = "pipeline",
    .prerun = prerun,
    .run = run,
    .wait = wait,
    .postrun = postrun,
    .try_wait = try_wait,
    .concurrent = 1,
};

struct scheduler* get_pipeline_scheduler(void)
{
    return &pipeline_scheduler;
}

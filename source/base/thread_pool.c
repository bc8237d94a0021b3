// SPDX-License-Identifier: Apache-2.0
// The thread pool. The contract is in thread_pool.h.
//
// A loop is cut into chunks, and each worker has the same share of them in every loop: its data of
// one loop is in its cache in the next. A worker that is done takes chunks of the others. No thread
// waits for a worker to arrive: the caller works through all shares itself, and whichever worker is
// awake joins in. At the end the caller closes the loop to newcomers and waits only for those who
// have joined. So a sleeping or descheduled worker costs speed, never progress.
//
// The caller and a worker talk through one cache line, the worker's slot. From core
// to core a line takes 50 to 250 ns; a loop of two workers moves one four times.
#define _GNU_SOURCE
#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/trace.h"
#include "tengine/error.h"
#include "tengine/log.h"
#include "tengine/trace.h"

enum
{
    CHUNKS_PER_WORKER = 4,  // evens out workers of different speed, keeps the counter cool
    SPIN_NS = 5000,         // outside of runs
    RUN_SPIN_NS = 2000000,  // within a run, where waking a thread costs more than polling
    SPIN_BATCH = 16         // polls between two reads of the clock
};

// The states of a worker's slot.
enum
{
    SLOT_CLOSED,  // the worker is not in the loop, and may not join it
    SLOT_OPEN,
    SLOT_INSIDE
};

// The loop as a worker sees it. Written by the caller while all slots are closed.
typedef struct pool_slot
{
    alignas(ALLOC_ALIGNMENT) void (*body)(void* argument, int64_t begin, int64_t end, int worker);
    void* argument;
    int64_t count;
    int32_t chunk_num;
    int32_t share_num;           // the first workers, which have a share
    const trace_track_t* track;  // of the caller; NULL: no trace
    atomic_int next_chunk;       // in this worker's share, for all workers that take chunks of it
    atomic_int state;
} pool_slot_t;

typedef struct pool_worker
{
    struct thread_pool* pool;
    pthread_t thread;
    int number;
} pool_worker_t;

struct thread_pool
{
    int size;
    pid_t process;           // the process that has the threads
    bool spins;              // there is a core for each worker
    uint64_t cpu_mask;       // 0: not pinned
    pool_worker_t* workers;  // size - 1 of them have a thread, workers[0] is the caller
    pool_slot_t* slots;      // the caller's has a share only

    alignas(ALLOC_ALIGNMENT) atomic_flag busy;  // a caller owns the pool
    atomic_bool stopping;
    atomic_int run_num;    // runs in flight
    atomic_int waker_cpu;  // the caller's core when it last woke workers
    atomic_int sleeper_num;
    atomic_int caller_sleeps;  // 0 or 1: exchanges of a byte need a library on RISC-V
    pthread_mutex_t mutex;     // only for sleeping and waking
    pthread_cond_t work_ready;
    pthread_cond_t left;
};

// The loop bodies that this thread is in, innermost first: pools and the worker number in each.
typedef struct pool_frame
{
    const struct pool_frame* outer;
    const thread_pool_t* pool;
    int worker;
} pool_frame_t;

static _Thread_local const pool_frame_t* innermost_frame;

static const pool_frame_t* find_frame(const thread_pool_t* pool)
{
    const pool_frame_t* frame = innermost_frame;
    while (frame && frame->pool != pool)
        frame = frame->outer;
    return frame;
}

static void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
    __asm__ volatile("yield");
#endif
}

// Polls `done` for a while, within a run for longer; returns whether it came true.
static bool spin_until(thread_pool_t* pool, bool (*done)(const thread_pool_t*, int), int worker)
{
    if (done(pool, worker)) return true;
    if (!pool->spins) return false;
    const uint64_t begin = get_time_ns();
    uint64_t limit;
    do {
        for (int i = 0; i < SPIN_BATCH; ++i) {
            if (done(pool, worker)) return true;
            relax_cpu();
        }
        limit =
            atomic_load_explicit(&pool->run_num, memory_order_relaxed) > 0 ? RUN_SPIN_NS : SPIN_NS;
    } while (get_time_ns() - begin < limit);
    return false;
}

// Chunk i of n covers the iterations i*q + min(i, r) and on, where count = n*q + r. All chunks have
// q or q + 1 iterations, and no product overflows.
static void run_chunk(const pool_slot_t* loop, int64_t i, int worker)
{
    const int64_t quotient = loop->count / loop->chunk_num;
    const int64_t remainder = loop->count % loop->chunk_num;
    const int64_t begin = i * quotient + (i < remainder ? i : remainder);
    const int64_t end = begin + quotient + (i < remainder ? 1 : 0);
    loop->body(loop->argument, begin, end, worker);
}

// Returns the first chunk of the share of `worker`, which is the end of the share before it.
static int share_begin(const pool_slot_t* loop, int worker)
{
    return worker * loop->chunk_num / loop->share_num;
}

// Adds the time of a worker in the loop to the worker's own track.
static void trace_share(const trace_track_t* caller, int worker, int64_t begin_ns)
{
    if (worker >= caller->trace->thread_num) return;
    trace_track_t* track = &caller->trace->threads[worker];
    track->place = caller->place;
    end_trace_event(track, TENGINE_TRACE_SHARE, NULL, begin_ns, 0);
}

// Runs the worker's own share, then the rest of the others'.
static void run_chunks(thread_pool_t* pool, int worker)
{
    const pool_frame_t frame = {innermost_frame, pool, worker};
    innermost_frame = &frame;
    const pool_slot_t* loop = &pool->slots[worker];
    const trace_track_t* caller = loop->track;
    const int64_t begin_ns = get_trace_time(caller);
    for (int i = 0; i < loop->share_num; ++i) {
        const int owner = (worker + i) % loop->share_num;
        const int end = share_begin(loop, owner + 1);
        atomic_int* next = &pool->slots[owner].next_chunk;
        // The load before the exchange leaves the cache line of a finished owner where it is.
        while (atomic_load_explicit(next, memory_order_relaxed) < end) {
            const int chunk = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
            if (chunk >= end) break;
            run_chunk(loop, chunk, worker);
        }
    }
    innermost_frame = frame.outer;
    if (caller) trace_share(caller, worker, begin_ns);
}

// Whether there is something to do for a worker: an open loop, or the end of the pool.
static bool has_work(const thread_pool_t* pool, int worker)
{
    return atomic_load(&pool->slots[worker].state) == SLOT_OPEN || atomic_load(&pool->stopping);
}

static bool is_closed(const thread_pool_t* pool, int worker)
{
    return atomic_load(&pool->slots[worker].state) == SLOT_CLOSED;
}

// Schedulers may wake a thread on the core of the one that wakes it. That thread continues its
// work, so the two would alternate there, milliseconds each, with other cores idle. The other cores
// that the thread may use stay.
static void leave_core_of_waker(const thread_pool_t* pool)
{
    const int cpu = atomic_load_explicit(&pool->waker_cpu, memory_order_relaxed);
    cpu_set_t set;
    if (pool->cpu_mask != 0 || !pool->spins || sched_getcpu() != cpu ||
        sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
        return;
    cpu_set_t others = set;
    CPU_CLR(cpu, &others);
    // The scheduler moves the thread at once, and may move it back later.
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof set, &set);
}

static void wait_for_work(thread_pool_t* pool, int worker)
{
    if (spin_until(pool, has_work, worker)) return;
    pthread_mutex_lock(&pool->mutex);
    // The worker announces that it sleeps before it looks again, and open_loop() looks for sleepers
    // after opening; both are sequentially consistent, so that one of the two sees the other.
    atomic_fetch_add(&pool->sleeper_num, 1);
    while (!has_work(pool, worker))
        pthread_cond_wait(&pool->work_ready, &pool->mutex);
    atomic_fetch_sub(&pool->sleeper_num, 1);
    pthread_mutex_unlock(&pool->mutex);
    leave_core_of_waker(pool);
}

// Moves the slot from one state to the other; returns whether it was in the first.
static bool change_slot(pool_slot_t* slot, int from, int to)
{
    return atomic_compare_exchange_strong(&slot->state, &from, to);
}

static void leave_loop(thread_pool_t* pool, int worker)
{
    atomic_exchange(&pool->slots[worker].state, SLOT_CLOSED);
    if (!atomic_load(&pool->caller_sleeps)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->mutex);
}

static bool pin_this_thread(uint64_t cpu_mask)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int core = 0; core < 64; ++core) {
        if (cpu_mask >> core & 1) CPU_SET(core, &set);
    }
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

static void* work(void* argument)
{
    const pool_worker_t* self = argument;
    thread_pool_t* pool = self->pool;
    // The mask fails for all workers alike: one of them reports it.
    if (pool->cpu_mask != 0 && !pin_this_thread(pool->cpu_mask) && self->number == 1) {
        TLOG_WARNING("thread pool: cannot pin threads to core mask 0x%llx; they stay unpinned",
                     (unsigned long long)pool->cpu_mask);
    }
    while (!atomic_load(&pool->stopping)) {
        wait_for_work(pool, self->number);
        if (!change_slot(&pool->slots[self->number], SLOT_OPEN, SLOT_INSIDE)) continue;
        run_chunks(pool, self->number);
        leave_loop(pool, self->number);
    }
    return NULL;
}

static void open_loop(thread_pool_t* pool, const pool_slot_t* loop)
{
    for (int worker = 0; worker < loop->share_num; ++worker) {
        pool_slot_t* slot = &pool->slots[worker];
        slot->body = loop->body;
        slot->argument = loop->argument;
        slot->count = loop->count;
        slot->chunk_num = loop->chunk_num;
        slot->share_num = loop->share_num;
        slot->track = loop->track;
        atomic_store_explicit(&slot->next_chunk, share_begin(loop, worker), memory_order_relaxed);
    }
    // A worker that joins may take chunks of all shares.
    for (int worker = 1; worker < loop->share_num; ++worker)
        atomic_store(&pool->slots[worker].state, SLOT_OPEN);
    if (atomic_load(&pool->sleeper_num) == 0) return;
    atomic_store_explicit(&pool->waker_cpu, sched_getcpu(), memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->work_ready);
    pthread_mutex_unlock(&pool->mutex);
    // A worker that waits for this core moves to another, see leave_core_of_waker().
    sched_yield();
}

// Waits for a worker that has joined the loop.
static void wait_for_worker(thread_pool_t* pool, int worker)
{
    if (spin_until(pool, is_closed, worker)) return;
    pthread_mutex_lock(&pool->mutex);
    // The caller announces that it sleeps before it looks again, and leave_loop() looks for it
    // after leaving. An exchange, not a store: under qemu 7.2 on x86 a sequentially consistent load
    // of Arm overtakes such a store.
    atomic_exchange(&pool->caller_sleeps, 1);
    while (!is_closed(pool, worker))
        pthread_cond_wait(&pool->left, &pool->mutex);
    atomic_store(&pool->caller_sleeps, 0);
    pthread_mutex_unlock(&pool->mutex);
}

static void close_loop(thread_pool_t* pool, int share_num)
{
    for (int worker = 1; worker < share_num; ++worker) {
        // A worker that has left has closed its slot itself: reading the slot moves the cache line
        // once.
        if (is_closed(pool, worker)) continue;
        if (!change_slot(&pool->slots[worker], SLOT_OPEN, SLOT_CLOSED))
            wait_for_worker(pool, worker);
    }
}

void run_parallel(thread_pool_t* pool, int64_t count, int64_t grain,
                  void (*body)(void* argument, int64_t begin, int64_t end, int worker),
                  void* argument)
{
    if (count <= 0) return;
    const pool_frame_t* frame = find_frame(pool);
    const int64_t most = grain > 1 ? count / grain : count;
    if (!pool || pool->size == 1 || most < 2 || frame ||
        atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire)) {
        body(argument, 0, count, frame ? frame->worker : 0);
        return;
    }
    const int enough = pool->size * CHUNKS_PER_WORKER;
    pool_slot_t loop = {
        .body = body, .argument = argument, .count = count, .track = get_trace_track()};
    loop.chunk_num = most < enough ? (int)most : enough;
    loop.share_num = loop.chunk_num < pool->size ? loop.chunk_num : pool->size;
    open_loop(pool, &loop);
    run_chunks(pool, 0);
    close_loop(pool, loop.share_num);
    atomic_flag_clear_explicit(&pool->busy, memory_order_release);
}

void begin_parallel_run(thread_pool_t* pool)
{
    if (!pool || pool->size == 1) return;
    atomic_fetch_add(&pool->run_num, 1);
}

void end_parallel_run(thread_pool_t* pool)
{
    if (pool && pool->size > 1) atomic_fetch_sub(&pool->run_num, 1);
}

// Starts the thread of a worker, with signals blocked: the program's handlers run on its own
// threads. A signal that the thread itself raises cannot wait: SIGBUS is for mapping_guard.h.
static int start_worker(thread_pool_t* pool, int number)
{
    pool_worker_t* worker = &pool->workers[number];
    worker->pool = pool;
    worker->number = number;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_ENOMEM, "thread pool: cannot start thread %d of %d: %s",
                             number, pool->size - 1, strerror(error));
}

// Ends the threads of workers 1..last.
static void stop_workers(thread_pool_t* pool, int last)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->work_ready);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 1; i <= last; ++i)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->work_ready);
    pthread_mutex_destroy(&pool->mutex);
}

static void free_pool(thread_pool_t* pool)
{
    free_memory(pool->slots);
    free_memory(pool->workers);
    free_memory(pool);
}

// After fork() the child has neither the threads nor a mutex and conditions that no thread uses.
static void stop_pool(thread_pool_t* pool, int last)
{
    if (pool->process == getpid()) stop_workers(pool, last);
    free_pool(pool);
}

static thread_pool_t* alloc_pool(int thread_num, uint64_t cpu_mask)
{
    thread_pool_t* pool = alloc_memory(sizeof *pool);
    if (!pool) return NULL;
    pool->workers = alloc_memory((size_t)thread_num * sizeof *pool->workers);
    pool->slots = alloc_memory((size_t)thread_num * sizeof *pool->slots);
    if (!pool->workers || !pool->slots) {
        free_pool(pool);
        return NULL;
    }
    const bool pinned = cpu_mask != 0 && cpu_mask != UINT64_MAX;
    pool->size = thread_num;
    pool->process = getpid();
    pool->cpu_mask = pinned ? cpu_mask : 0;
    pool->spins =
        thread_num <= (pinned ? __builtin_popcountll(cpu_mask & get_cluster_mask(CPU_CLUSTER_ALL))
                              : get_cpu_count());
    atomic_flag_clear(&pool->busy);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work_ready, NULL);
    pthread_cond_init(&pool->left, NULL);
    return pool;
}

int create_thread_pool(int thread_num, uint64_t cpu_mask, thread_pool_t** out_pool)
{
    if (!out_pool) return tengine_error_set(TENGINE_EINVAL, "thread pool: out_pool is NULL");
    *out_pool = NULL;
    if (thread_num < 1 || thread_num > THREAD_POOL_LIMIT) {
        return tengine_error_set(TENGINE_ERANGE, "thread pool: %d threads, expected 1 to %d",
                                 thread_num, THREAD_POOL_LIMIT);
    }
    thread_pool_t* pool = alloc_pool(thread_num, cpu_mask);
    if (!pool) return tengine_error_set(TENGINE_ENOMEM, "thread pool: out of memory");
    for (int i = 1; i < thread_num; ++i) {
        const int status = start_worker(pool, i);
        if (status < 0) {
            stop_pool(pool, i - 1);
            return status;
        }
    }
    *out_pool = pool;
    return TENGINE_OK;
}

void destroy_thread_pool(thread_pool_t* pool)
{
    if (pool) stop_pool(pool, pool->size - 1);
}

int get_thread_pool_size(const thread_pool_t* pool)
{
    return pool ? pool->size : 1;
}

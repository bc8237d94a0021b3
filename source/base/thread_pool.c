// SPDX-License-Identifier: Apache-2.0
// The thread pool. The contract is in thread_pool.h.
//
// A loop is cut into chunks that an atomic counter hands out. No thread waits for a worker to
// arrive: the caller works through the chunks itself, and whichever worker is awake joins in. At
// the end the caller closes the loop to newcomers and waits only for those who have joined. So a
// sleeping or descheduled worker costs speed, never progress.
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
#include "tengine/error.h"
#include "tengine/log.h"

enum
{
    CHUNKS_PER_WORKER = 4,  // evens out workers of different speed, keeps the counter cool
    SPIN_NS = 5000,         // outside of runs
    RUN_SPIN_NS = 2000000,  // within a run, where waking a thread costs more than polling
    SPIN_BATCH = 16         // polls between two looks at the clock
};

// pool->state: the low 16 bits count the workers inside the loop, then comes the open bit, then the
// number of the loop.
#define STATE_INSIDE UINT64_C(0xffff)
#define STATE_OPEN (UINT64_C(1) << 16)
#define STATE_LOOP_ONE (UINT64_C(1) << 17)
#define STATE_LOOP (~(STATE_LOOP_ONE - 1))

typedef struct pool_worker
{
    struct thread_pool* pool;
    pthread_t thread;
    int number;
} pool_worker_t;

struct thread_pool
{
    int size;
    pid_t process;           // that has the threads
    bool spins;              // there is a core for each worker
    uint64_t cpu_mask;       // 0: not pinned
    pool_worker_t* workers;  // size - 1 of them have a thread, workers[0] is the caller

    // The loop. Written while it is closed and empty, read by those who joined.
    void (*body)(void* argument, int64_t begin, int64_t end, int worker);
    void* argument;
    int64_t count;
    int64_t chunk_num;

    alignas(ALLOC_ALIGNMENT) atomic_int_fast64_t next_chunk;
    alignas(ALLOC_ALIGNMENT) _Atomic uint64_t state;
    alignas(ALLOC_ALIGNMENT) atomic_flag busy;  // a caller owns the pool
    atomic_bool stopping;
    atomic_int run_num;    // runs under way
    atomic_int waker_cpu;  // where the caller was when it last woke workers
    atomic_int sleeper_num;
    atomic_int caller_sleeps;  // 0 or 1: exchanges of a byte need a library on RISC-V
    pthread_mutex_t mutex;     // only for sleeping and waking
    pthread_cond_t work_ready;
    pthread_cond_t all_left;
};

// What this thread is in the middle of, innermost first: pools and the worker number it has there.
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

// Polls `done` for a while, in a run for longer; whether it came true.
static bool spin_until(thread_pool_t* pool, bool (*done)(const thread_pool_t*, uint64_t),
                       uint64_t value)
{
    if (done(pool, value)) return true;
    if (!pool->spins) return false;
    const uint64_t begin = get_time_ns();
    uint64_t limit;
    do {
        for (int i = 0; i < SPIN_BATCH; ++i) {
            if (done(pool, value)) return true;
            relax_cpu();
        }
        limit =
            atomic_load_explicit(&pool->run_num, memory_order_relaxed) > 0 ? RUN_SPIN_NS : SPIN_NS;
    } while (get_time_ns() - begin < limit);
    return false;
}

// Chunk i of n covers the iterations i*q + min(i, r) and on, where count = n*q + r. All chunks have
// q or q + 1 iterations, and no product overflows.
static void run_chunks(thread_pool_t* pool, int worker)
{
    const pool_frame_t frame = {innermost_frame, pool, worker};
    innermost_frame = &frame;
    const int64_t quotient = pool->count / pool->chunk_num;
    const int64_t remainder = pool->count % pool->chunk_num;
    for (;;) {
        const int64_t i = atomic_fetch_add_explicit(&pool->next_chunk, 1, memory_order_relaxed);
        if (i >= pool->chunk_num) break;
        const int64_t begin = i * quotient + (i < remainder ? i : remainder);
        const int64_t end = begin + quotient + (i < remainder ? 1 : 0);
        pool->body(pool->argument, begin, end, worker);
    }
    innermost_frame = frame.outer;
}

// Something for a worker that has seen loop `seen`: a newer open loop, or the end of the pool.
static bool has_work(const thread_pool_t* pool, uint64_t seen)
{
    const uint64_t state = atomic_load(&pool->state);
    return atomic_load(&pool->stopping) || ((state & STATE_OPEN) && (state & STATE_LOOP) != seen);
}

static bool is_empty(const thread_pool_t* pool, uint64_t unused)
{
    (void)unused;
    return (atomic_load(&pool->state) & STATE_INSIDE) == 0;
}

// Schedulers may wake a thread on the core of the one that wakes it. That one goes on working, so
// the two would take turns there, milliseconds each, with other cores idle. What the thread is
// allowed otherwise stays.
static void leave_core_of_waker(const thread_pool_t* pool)
{
    const int cpu = atomic_load_explicit(&pool->waker_cpu, memory_order_relaxed);
    cpu_set_t set;
    if (pool->cpu_mask != 0 || !pool->spins || sched_getcpu() != cpu ||
        sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2)
        return;
    cpu_set_t others = set;
    CPU_CLR(cpu, &others);
    // The scheduler moves it at once, and may move it back later.
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof set, &set);
}

static void wait_for_work(thread_pool_t* pool, uint64_t seen)
{
    if (spin_until(pool, has_work, seen)) return;
    pthread_mutex_lock(&pool->mutex);
    // Announced before looking again, and open_loop() looks for sleepers after opening, both in the
    // one order of sequentially consistent operations: one of the two sees the other.
    atomic_fetch_add(&pool->sleeper_num, 1);
    while (!has_work(pool, seen))
        pthread_cond_wait(&pool->work_ready, &pool->mutex);
    atomic_fetch_sub(&pool->sleeper_num, 1);
    pthread_mutex_unlock(&pool->mutex);
    leave_core_of_waker(pool);
}

// Joins the loop if it is still open; *seen becomes its number.
static bool join_loop(thread_pool_t* pool, uint64_t* seen)
{
    uint64_t state = atomic_load(&pool->state);
    while ((state & STATE_OPEN) && (state & STATE_LOOP) != *seen) {
        if (atomic_compare_exchange_weak(&pool->state, &state, state + 1)) {
            *seen = state & STATE_LOOP;
            return true;
        }
    }
    return false;
}

static void leave_loop(thread_pool_t* pool)
{
    const uint64_t before = atomic_fetch_sub(&pool->state, 1);
    if ((before & STATE_INSIDE) != 1 || !atomic_load(&pool->caller_sleeps)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->all_left);
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
    uint64_t seen = 0;
    // The same mask fails for all workers alike: one of them reports it.
    if (pool->cpu_mask != 0 && !pin_this_thread(pool->cpu_mask) && self->number == 1) {
        TLOG_WARNING("thread pool: cannot pin threads to core mask 0x%llx; they stay unpinned",
                     (unsigned long long)pool->cpu_mask);
    }
    while (!atomic_load(&pool->stopping)) {
        wait_for_work(pool, seen);
        if (!join_loop(pool, &seen)) continue;
        run_chunks(pool, self->number);
        leave_loop(pool);
    }
    return NULL;
}

static void open_loop(thread_pool_t* pool)
{
    const uint64_t loop = (atomic_load(&pool->state) & STATE_LOOP) + STATE_LOOP_ONE;
    atomic_store(&pool->state, loop | STATE_OPEN);
    if (atomic_load(&pool->sleeper_num) == 0) return;
    atomic_store_explicit(&pool->waker_cpu, sched_getcpu(), memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    // The caller takes chunks too, so one chunk needs no one else.
    const int64_t wanted = pool->chunk_num - 1;
    if (wanted < atomic_load(&pool->sleeper_num)) {
        for (int64_t i = 0; i < wanted; ++i)
            pthread_cond_signal(&pool->work_ready);
    } else {
        pthread_cond_broadcast(&pool->work_ready);
    }
    pthread_mutex_unlock(&pool->mutex);
    // A worker that waits for this core goes on to another, see leave_core_of_waker().
    sched_yield();
}

static void close_loop(thread_pool_t* pool)
{
    atomic_fetch_and(&pool->state, ~STATE_OPEN);
    if (spin_until(pool, is_empty, 0)) return;
    pthread_mutex_lock(&pool->mutex);
    // Announced before looking again, and leave_loop() looks for it after leaving. An exchange, not
    // a store: under qemu 7.2 on x86 a sequentially consistent load of Arm overtakes such a store.
    atomic_exchange(&pool->caller_sleeps, 1);
    while (!is_empty(pool, 0))
        pthread_cond_wait(&pool->all_left, &pool->mutex);
    atomic_store(&pool->caller_sleeps, 0);
    pthread_mutex_unlock(&pool->mutex);
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
    const int64_t enough = (int64_t)pool->size * CHUNKS_PER_WORKER;
    pool->body = body;
    pool->argument = argument;
    pool->count = count;
    pool->chunk_num = most < enough ? most : enough;
    atomic_store_explicit(&pool->next_chunk, 0, memory_order_relaxed);
    open_loop(pool);
    run_chunks(pool, 0);
    close_loop(pool);
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

// Starts the thread of a worker, with all signals blocked: the program's handlers run on its own
// threads.
static int start_worker(thread_pool_t* pool, int number)
{
    pool_worker_t* worker = &pool->workers[number];
    worker->pool = pool;
    worker->number = number;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
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
    pthread_cond_destroy(&pool->all_left);
    pthread_cond_destroy(&pool->work_ready);
    pthread_mutex_destroy(&pool->mutex);
}

// After fork() the child has neither the threads nor a mutex and conditions that no thread uses.
static void stop_pool(thread_pool_t* pool, int last)
{
    if (pool->process == getpid()) stop_workers(pool, last);
    free_memory(pool->workers);
    free_memory(pool);
}

static thread_pool_t* alloc_pool(int thread_num, uint64_t cpu_mask)
{
    thread_pool_t* pool = alloc_memory(sizeof *pool);
    pool_worker_t* workers = alloc_memory((size_t)thread_num * sizeof *workers);
    if (!pool || !workers) {
        free_memory(workers);
        free_memory(pool);
        return NULL;
    }
    const bool pinned = cpu_mask != 0 && cpu_mask != UINT64_MAX;
    pool->size = thread_num;
    pool->process = getpid();
    pool->cpu_mask = pinned ? cpu_mask : 0;
    pool->spins =
        thread_num <= (pinned ? __builtin_popcountll(cpu_mask & get_cluster_mask(CPU_CLUSTER_ALL))
                              : get_cpu_count());
    pool->workers = workers;
    atomic_flag_clear(&pool->busy);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work_ready, NULL);
    pthread_cond_init(&pool->all_left, NULL);
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
    if (!pool) return tengine_error_set(TENGINE_ENOMEM, "thread pool: no memory");
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

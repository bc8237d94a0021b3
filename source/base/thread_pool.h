// SPDX-License-Identifier: Apache-2.0
// A pool of threads that share the iterations of one loop. A graph has one: graph/graph_pool.h.
#pragma once

#include <stdint.h>

#include "tengine/export.h"

TENGINE_EXTERN_C_BEGIN

enum
{
    THREAD_POOL_LIMIT = 256  // largest thread_num
};

typedef struct thread_pool thread_pool_t;

// Creates a pool of `thread_num` workers. Worker 0 is the caller of run_parallel(), so thread_num -
// 1 threads are started. Their affinity becomes `cpu_mask` (bit i: core i); 0 or all ones leaves it
// as it is, and a mask that the system refuses is logged and ignored. The calling thread is not
// pinned. TENGINE_ERANGE: thread_num outside 1..THREAD_POOL_LIMIT; TENGINE_ENOMEM: out of memory or
// threads.
TENGINE_MUST_USE int create_thread_pool(int thread_num, uint64_t cpu_mask,
                                        thread_pool_t** out_pool);

// Ends the threads. No run_parallel() may be in flight. NULL is allowed. In the child of a fork(),
// which has none of the threads, no other call for the pool is allowed.
void destroy_thread_pool(thread_pool_t* pool);

// Returns the number of workers of the pool; 1 for NULL.
int get_thread_pool_size(const thread_pool_t* pool);

// Calls body(argument, begin, end, worker) for disjoint ranges that together are 0..count-1, and
// returns when all are done; the writes of the bodies are then visible to the caller. Ranges have
// at least `grain` iterations (less only when count has) and are handed out as workers become free,
// so which worker gets which is not fixed. 0 <= worker < size, and no two ranges run at once under
// the same worker number *within one call*: use it to pick scratch memory that belongs to the
// caller.
//
// Runs inline, as one range, when the pool is NULL or has one worker, when there is not enough work
// for two, when another thread uses the pool at that moment, or within a body of the same
// pool (there the worker number is that of the surrounding body). Never deadlocks, uses no heap.
// `body` must return: no exception, no longjmp().
void run_parallel(thread_pool_t* pool, int64_t count, int64_t grain,
                  void (*body)(void* argument, int64_t begin, int64_t end, int worker),
                  void* argument);

// Between begin_parallel_run() and end_parallel_run(), workers poll for the next loop for a while
// (2 ms) before they sleep, which they do soon (5 us) after the last run has ended. Runs may
// overlap. NULL is allowed.
void begin_parallel_run(thread_pool_t* pool);
void end_parallel_run(thread_pool_t* pool);

TENGINE_EXTERN_C_END

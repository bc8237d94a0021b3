// SPDX-License-Identifier: Apache-2.0
// run_parallel() of base/thread_pool.h for lambdas.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"

namespace tengine::cpu {

// Calls body(begin, end, worker) for disjoint ranges that together are 0..count-1.
template <class Body>
void parallel_for(thread_pool_t* pool, int64_t count, int64_t grain, const Body& body)
{
    run_parallel(
        pool, count, grain,
        [](void* argument, int64_t begin, int64_t end, int worker) {
            (*static_cast<const Body*>(argument))(begin, end, worker);
        },
        const_cast<Body*>(&body));
}

// A run for the lifetime of an instance: see begin_parallel_run().
class ParallelRun
{
  public:
    explicit ParallelRun(thread_pool_t* pool) : pool_(pool) { begin_parallel_run(pool); }
    ~ParallelRun() { end_parallel_run(pool_); }
    ParallelRun(const ParallelRun&) = delete;
    ParallelRun& operator=(const ParallelRun&) = delete;

  private:
    thread_pool_t* pool_;
};

}  // namespace tengine::cpu

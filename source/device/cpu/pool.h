// SPDX-License-Identifier: Apache-2.0
// The thread pool of an execution graph, shared by all parts of it that run here.
#pragma once

#include "base/thread_pool.h"
#include "tengine/ir.h"

namespace tengine::cpu {

// A part's hold on a pool, whose threads end with the last one. Empty at first.
class PoolOwner
{
  public:
    PoolOwner() = default;
    ~PoolOwner() { reset(); }
    PoolOwner(const PoolOwner&) = delete;
    PoolOwner& operator=(const PoolOwner&) = delete;

    thread_pool_t* get() const { return pool_; }
    void reset();

  private:
    friend int share_pool(const graph& graph, PoolOwner* out_pool);
    const graph* whole_ = nullptr;  // the execution graph
    thread_pool_t* pool_ = nullptr;
};

// The pool of the execution graph that `graph` is a part of, with as many threads as its run
// options ask for; empty for one thread. Made when the first part asks. Any thread.
int share_pool(const graph& graph, PoolOwner* out_pool);

}  // namespace tengine::cpu

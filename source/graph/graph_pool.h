// SPDX-License-Identifier: Apache-2.0
// The thread pool of an execution graph, shared by all parts of it whose devices compute with the
// processor's cores.
#pragma once

#include "base/thread_pool.h"
#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// The pool of the execution graph that `graph` is a part of, with as many threads as its run
// options ask for; *out_pool is NULL for one thread. Made when the first part asks. TENGINE_ENOMEM,
// and what create_thread_pool() fails with. Any thread.
TENGINE_MUST_USE int share_graph_pool(const struct graph* graph, thread_pool_t** out_pool);

// A part needs it no longer; the threads end with the last part. NULL is allowed. Any thread.
void leave_graph_pool(thread_pool_t* pool);

#ifdef __cplusplus
}

#include <memory>

namespace tengine {

struct GraphPoolLeaver
{
    void operator()(thread_pool_t* pool) const { leave_graph_pool(pool); }
};
// What a part holds.
using GraphPool = std::unique_ptr<thread_pool_t, GraphPoolLeaver>;

TENGINE_MUST_USE inline int share_graph_pool(const graph& graph, GraphPool* out_pool)
{
    thread_pool_t* pool = nullptr;
    const int status = share_graph_pool(&graph, &pool);
    out_pool->reset(pool);
    return status;
}

}  // namespace tengine
#endif

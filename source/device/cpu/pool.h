// SPDX-License-Identifier: Apache-2.0
// The thread pool of an execution graph, shared by all parts of it that run here.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "tengine/ir.h"

namespace tengine::cpu {

// Ends its threads with the last part that holds it.
using PoolOwner = std::shared_ptr<thread_pool_t>;

// The pool of the execution graph that `graph` is a part of, with as many threads as its run
// options ask for; empty for one thread. Made when the first part asks. Any thread.
int share_pool(const graph& graph, PoolOwner* out_pool);

}  // namespace tengine::cpu

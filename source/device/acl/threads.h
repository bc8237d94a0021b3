// SPDX-License-Identifier: Apache-2.0
// The threads of an execution graph, shared by all parts of it that run here.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "tengine/ir.h"

namespace tengine::acl {

// Ends its threads with the last part that holds it.
using PoolOwner = std::shared_ptr<thread_pool_t>;

// A pool with as many threads as the graph's run options ask for; empty for one thread.
int make_pool(const graph& graph, PoolOwner* out_pool);

}  // namespace tengine::acl

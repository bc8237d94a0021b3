// SPDX-License-Identifier: Apache-2.0
// The threads of a part; parts of one graph do not share them.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "tengine/ir.h"

namespace tengine::acl {

// Ends its threads with the part.
using PoolOwner = std::shared_ptr<thread_pool_t>;

// A pool with as many threads as the graph's run options ask for; empty for one thread.
int make_pool(const graph& graph, PoolOwner* out_pool);

}  // namespace tengine::acl

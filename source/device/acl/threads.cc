// SPDX-License-Identifier: Apache-2.0
#include "device/acl/threads.h"

namespace tengine::acl {

int make_pool(const graph& graph, PoolOwner* out_pool)
{
    out_pool->reset();
    if (graph.run_options.num_thread <= 1) return TENGINE_OK;
    thread_pool_t* pool = nullptr;
    TENGINE_RETURN_IF_ERROR(
        create_thread_pool(graph.run_options.num_thread, graph.run_options.affinity, &pool));
    *out_pool = PoolOwner(pool, destroy_thread_pool);
    return TENGINE_OK;
}

}  // namespace tengine::acl

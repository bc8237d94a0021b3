// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/pool.h"

#include <iterator>
#include <map>
#include <mutex>

namespace tengine::cpu {
namespace {

// Pools by execution graph. An entry does not keep its pool alive; those of graphs that are gone
// are dropped at the next look.
struct PoolTable
{
    std::mutex mutex;
    std::map<const graph*, std::weak_ptr<thread_pool_t>> pools;
};

PoolTable& table()
{
    static PoolTable instance;
    return instance;
}

void forget_dead_pools(PoolTable& table)
{
    for (auto entry = table.pools.begin(); entry != table.pools.end();)
        entry = entry->second.expired() ? table.pools.erase(entry) : std::next(entry);
}

}  // namespace

int share_pool(const graph& graph, PoolOwner* out_pool)
{
    out_pool->reset();
    if (graph.run_options.num_thread <= 1) return TENGINE_OK;
    PoolTable& pools = table();
    const std::lock_guard<std::mutex> lock(pools.mutex);
    forget_dead_pools(pools);
    std::weak_ptr<thread_pool_t>& entry = pools.pools[graph.whole ? graph.whole : &graph];
    *out_pool = entry.lock();
    if (*out_pool) return TENGINE_OK;
    thread_pool_t* pool = nullptr;
    TENGINE_RETURN_IF_ERROR(
        create_thread_pool(graph.run_options.num_thread, graph.run_options.affinity, &pool));
    *out_pool = PoolOwner(pool, destroy_thread_pool);
    entry = *out_pool;
    return TENGINE_OK;
}

}  // namespace tengine::cpu

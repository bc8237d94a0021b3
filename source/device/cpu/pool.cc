// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/pool.h"

#include <mutex>

#include "base/containers.hpp"

namespace tengine::cpu {
namespace {

struct SharedPool
{
    thread_pool_t* pool = nullptr;
    int owner_num = 0;
};

// The pools in use, by execution graph. Without any it holds no memory.
struct PoolTable
{
    std::mutex mutex;
    Map<const graph*, SharedPool> pools;
};

PoolTable& table()
{
    static PoolTable instance;
    return instance;
}

}  // namespace

int share_pool(const graph& graph, PoolOwner* out_pool)
{
    out_pool->reset();
    if (graph.run_options.num_thread <= 1) return TENGINE_OK;
    PoolTable& shared = table();
    const std::lock_guard<std::mutex> lock(shared.mutex);
    const auto entry = shared.pools.try_emplace(graph.whole ? graph.whole : &graph).first;
    if (entry->second.owner_num == 0) {
        const int status = create_thread_pool(graph.run_options.num_thread,
                                              graph.run_options.affinity, &entry->second.pool);
        if (status < 0) {
            shared.pools.erase(entry);
            return status;
        }
    }
    entry->second.owner_num++;
    out_pool->whole_ = entry->first;
    out_pool->pool_ = entry->second.pool;
    return TENGINE_OK;
}

void PoolOwner::reset()
{
    if (!pool_) return;
    PoolTable& shared = table();
    const std::lock_guard<std::mutex> lock(shared.mutex);
    const auto entry = shared.pools.find(whole_);
    if (--entry->second.owner_num == 0) {
        destroy_thread_pool(pool_);
        shared.pools.erase(entry);
    }
    pool_ = nullptr;
}

}  // namespace tengine::cpu

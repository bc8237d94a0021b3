// SPDX-License-Identifier: Apache-2.0
// base/thread_pool.h: every iteration exactly once, inline cases, no deadlock, affinity.
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "tengine/error.h"

namespace tengine {
namespace {

using Body = std::function<void(int64_t begin, int64_t end, int worker)>;

void parallel(thread_pool_t* pool, int64_t count, int64_t grain, Body body)
{
    run_parallel(
        pool, count, grain,
        [](void* argument, int64_t begin, int64_t end, int worker) {
            (*static_cast<Body*>(argument))(begin, end, worker);
        },
        &body);
}

struct PoolDeleter
{
    void operator()(thread_pool_t* pool) const { destroy_thread_pool(pool); }
};
using Pool = std::unique_ptr<thread_pool_t, PoolDeleter>;

Pool make_pool(int thread_num, uint64_t cpu_mask = 0)
{
    thread_pool_t* pool = nullptr;
    EXPECT_EQ(TENGINE_OK, create_thread_pool(thread_num, cpu_mask, &pool));
    return Pool(pool);
}

TEST(ThreadPool, BadArguments)
{
    thread_pool_t* pool = nullptr;
    EXPECT_EQ(TENGINE_ERANGE, create_thread_pool(0, 0, &pool));
    EXPECT_EQ(TENGINE_ERANGE, create_thread_pool(-1, 0, &pool));
    EXPECT_EQ(TENGINE_ERANGE, create_thread_pool(THREAD_POOL_LIMIT + 1, 0, &pool));
    EXPECT_EQ(TENGINE_EINVAL, create_thread_pool(1, 0, nullptr));
    EXPECT_EQ(nullptr, pool);
    destroy_thread_pool(nullptr);
    EXPECT_EQ(1, get_thread_pool_size(nullptr));
}

TEST(ThreadPool, EveryIterationOnceInChunksOfTheGrain)
{
    for (int thread_num : {1, 2, 3, 8}) {
        const Pool pool = make_pool(thread_num);
        ASSERT_EQ(thread_num, get_thread_pool_size(pool.get()));
        for (int64_t count : {0, 1, 2, 7, 13, 17, 100, 1000}) {
            for (int64_t grain : {-1, 0, 1, 2, 5, 64, 5000}) {
                std::vector<int> hits(static_cast<size_t>(count));
                std::atomic<bool> good{true};
                parallel(pool.get(), count, grain, [&](int64_t begin, int64_t end, int worker) {
                    if (end - begin < std::min(grain, count)) good = false;
                    if (worker < 0 || worker >= thread_num) good = false;
                    for (int64_t i = begin; i < end; ++i)
                        ++hits[static_cast<size_t>(i)];
                });
                ASSERT_TRUE(good) << thread_num << " " << count << " " << grain;
                ASSERT_EQ(std::vector<int>(static_cast<size_t>(count), 1), hits);
            }
        }
    }
}

TEST(ThreadPool, HugeCountsDoNotOverflow)
{
    const Pool pool = make_pool(4);
    std::atomic<uint64_t> sum{0};
    parallel(pool.get(), INT64_MAX, 1,
             [&](int64_t begin, int64_t end, int) { sum += static_cast<uint64_t>(end - begin); });
    EXPECT_EQ(static_cast<uint64_t>(INT64_MAX), sum);
    sum = 0;
    parallel(pool.get(), INT64_MAX, INT64_MAX,
             [&](int64_t begin, int64_t end, int) { sum += static_cast<uint64_t>(end - begin); });
    EXPECT_EQ(static_cast<uint64_t>(INT64_MAX), sum);
    parallel(pool.get(), -5, 1, [&](int64_t, int64_t, int) { ADD_FAILURE(); });
}

TEST(ThreadPool, NullPoolAndOneWorkerRunInline)
{
    const Pool pool = make_pool(1);
    for (thread_pool_t* each : {static_cast<thread_pool_t*>(nullptr), pool.get()}) {
        int calls = 0;
        parallel(each, 100, 1, [&](int64_t begin, int64_t end, int worker) {
            ++calls;
            EXPECT_EQ(0, begin);
            EXPECT_EQ(100, end);
            EXPECT_EQ(0, worker);
        });
        EXPECT_EQ(1, calls);
    }
}

// Bodies wait for each other: the test passes only if all workers run at the same time.
TEST(ThreadPool, AllWorkersTakePart)
{
    const int thread_num = 4;
    const Pool pool = make_pool(thread_num);
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> inside{0};
        std::mutex mutex;
        std::set<int> workers;
        std::set<std::thread::id> threads;
        parallel(pool.get(), thread_num, 1, [&](int64_t, int64_t, int worker) {
            ++inside;
            while (inside < thread_num)
                std::this_thread::yield();
            const std::lock_guard<std::mutex> lock(mutex);
            workers.insert(worker);
            threads.insert(std::this_thread::get_id());
        });
        ASSERT_EQ(4u, workers.size());
        ASSERT_EQ(4u, threads.size());
    }
}

TEST(ThreadPool, ManySmallLoopsSeeEachOthersWrites)
{
    const Pool pool = make_pool(3);
    std::vector<int64_t> data(97, 0);
    for (int round = 0; round < 5000; ++round) {
        parallel(pool.get(), 97, 1, [&](int64_t begin, int64_t end, int) {
            for (int64_t i = begin; i < end; ++i)
                data[static_cast<size_t>(96 - i)] += i;
        });
        // Sleeping workers as well as spinning ones must wake.
        if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (int64_t i = 0; i < 97; ++i)
        ASSERT_EQ(5000 * i, data[static_cast<size_t>(96 - i)]);
}

TEST(ThreadPool, NestedCallRunsInlineUnderTheSameWorker)
{
    const Pool pool = make_pool(3);
    std::atomic<int> total{0};
    parallel(pool.get(), 12, 1, [&](int64_t outer_begin, int64_t outer_end, int outer) {
        for (int64_t i = outer_begin; i < outer_end; ++i) {
            int calls = 0;
            parallel(pool.get(), 50, 1, [&](int64_t begin, int64_t end, int inner) {
                ++calls;
                EXPECT_EQ(outer, inner);
                total += static_cast<int>(end - begin);
            });
            EXPECT_EQ(1, calls);
        }
    });
    EXPECT_EQ(600, total);
}

TEST(ThreadPool, NestedThroughAnotherPoolKeepsTheWorker)
{
    const Pool first = make_pool(2);
    const Pool second = make_pool(2);
    std::atomic<int> total{0};
    parallel(first.get(), 4, 1, [&](int64_t, int64_t, int outer) {
        const std::thread::id self = std::this_thread::get_id();
        parallel(second.get(), 4, 1, [&](int64_t, int64_t, int) {
            parallel(first.get(), 10, 1, [&](int64_t begin, int64_t end, int inner) {
                EXPECT_TRUE(std::this_thread::get_id() != self || inner == outer);
                total += static_cast<int>(end - begin);
            });
        });
    });
    EXPECT_GE(total, 4 * 10);
}

TEST(ThreadPool, ManyCallersShareAPool)
{
    const Pool pool = make_pool(3);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&pool] {
            std::vector<int> hits(64, 0);
            for (int round = 0; round < 1000; ++round) {
                parallel(pool.get(), 64, 3, [&](int64_t begin, int64_t end, int) {
                    for (int64_t i = begin; i < end; ++i)
                        ++hits[static_cast<size_t>(i)];
                });
            }
            EXPECT_EQ(std::vector<int>(64, 1000), hits);
        });
    }
    for (std::thread& caller : callers)
        caller.join();
}

TEST(ThreadPool, WorkerNumbersDoNotMeet)
{
    const Pool pool = make_pool(4);
    std::atomic<int> busy[4] = {};
    std::atomic<bool> met{false};
    for (int round = 0; round < 200; ++round) {
        parallel(pool.get(), 100, 1, [&](int64_t, int64_t, int worker) {
            if (busy[worker].fetch_add(1) != 0) met = true;
            busy[worker].fetch_sub(1);
        });
    }
    EXPECT_FALSE(met);
}

TEST(ThreadPool, CreateAndDestroyAtOnce)
{
    for (int round = 0; round < 100; ++round) {
        const Pool pool = make_pool(4);
        if (round % 2 == 0) parallel(pool.get(), 4, 1, [](int64_t, int64_t, int) {});
    }
}

TEST(ThreadPool, LargestPool)
{
    const Pool pool = make_pool(THREAD_POOL_LIMIT);
    std::atomic<int64_t> sum{0};
    parallel(pool.get(), 100000, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
    EXPECT_EQ(100000, sum);
}

// Sanitizers reserve more address space than any limit would leave.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TENGINE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TENGINE_TEST_SANITIZED 1
#endif
#endif

#ifndef TENGINE_TEST_SANITIZED
// qemu's user mode ignores memory limits, as its own memory would be part of them.
bool memory_can_be_limited()
{
    rlimit before;
    getrlimit(RLIMIT_AS, &before);
    rlimit limit = before;
    limit.rlim_cur = size_t{1} << (8 * sizeof(size_t) - 2);
    setrlimit(RLIMIT_AS, &limit);
    rlimit after;
    getrlimit(RLIMIT_AS, &after);
    setrlimit(RLIMIT_AS, &before);
    return after.rlim_cur == limit.rlim_cur;
}

// Leaves room for a few stacks and requests hundreds: the threads already started must end again.
void create_with_little_memory()
{
    rlimit limit = {size_t{256} << 20, size_t{256} << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0) exit(2);
    thread_pool_t* pool = nullptr;
    const bool refused = create_thread_pool(THREAD_POOL_LIMIT, 0, &pool) == TENGINE_ENOMEM;
    const bool small_works = create_thread_pool(2, 0, &pool) == TENGINE_OK;
    destroy_thread_pool(pool);
    exit(refused && small_works ? 0 : 1);
}

TEST(ThreadPoolDeathTest, NotEnoughMemoryForTheThreads)
{
    if (!memory_can_be_limited()) GTEST_SKIP() << "setrlimit(RLIMIT_AS) has no effect here";
    EXPECT_EXIT(create_with_little_memory(), ::testing::ExitedWithCode(0), "");
}
#endif

// Returns the mask of each started thread, gathered by holding all of them in a body at once.
std::vector<uint64_t> worker_masks(thread_pool_t* pool)
{
    const int size = get_thread_pool_size(pool);
    std::vector<uint64_t> masks(static_cast<size_t>(size));
    std::atomic<int> inside{0};
    parallel(pool, size, 1, [&](int64_t, int64_t, int worker) {
        masks[static_cast<size_t>(worker)] = get_cluster_mask(CPU_CLUSTER_ALL);
        ++inside;
        while (inside < size)
            std::this_thread::yield();
    });
    return masks;
}

TEST(ThreadPool, WorkersArePinnedToTheMaskAndTheCallerIsNot)
{
    const uint64_t all = get_cluster_mask(CPU_CLUSTER_ALL);
    const uint64_t lowest = all & (~all + 1);
    const Pool pinned = make_pool(3, lowest);
    EXPECT_EQ((std::vector<uint64_t>{all, lowest, lowest}), worker_masks(pinned.get()));
    for (uint64_t mask : {UINT64_C(0), UINT64_MAX}) {
        const Pool loose = make_pool(2, mask);
        EXPECT_EQ((std::vector<uint64_t>{all, all}), worker_masks(loose.get()));
    }
}

TEST(ThreadPool, RefusedMaskLeavesTheWorkersUnpinned)
{
    const uint64_t all = get_cluster_mask(CPU_CLUSTER_ALL);
    if (all >> 63 & 1) GTEST_SKIP() << "this machine has a core 63";
    const Pool pool = make_pool(2, UINT64_C(1) << 63);
    EXPECT_EQ((std::vector<uint64_t>{all, all}), worker_masks(pool.get()));
}

}  // namespace
}  // namespace tengine

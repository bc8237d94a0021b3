// SPDX-License-Identifier: Apache-2.0
// graph/graph_pool.h: parts of one execution graph have one pool, others another.
#include "graph/graph_pool.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <thread>

#include "graph/core.h"

namespace tengine {
namespace {

struct GraphDeleter
{
    void operator()(graph* graph) const { destroy_ir_graph(graph); }
};
using OwnedGraph = std::unique_ptr<graph, GraphDeleter>;

OwnedGraph make_graph(int thread_num, graph* whole = nullptr)
{
    OwnedGraph made(create_ir_graph(nullptr));
    made->core->run_options.num_thread = thread_num;
    if (whole) join_graph_pool(made.get(), whole);
    return made;
}

GraphPool share(const OwnedGraph& graph)
{
    GraphPool pool;
    EXPECT_EQ(share_graph_pool(*graph, &pool), TENGINE_OK) << tengine_error_message();
    return pool;
}

// The thread sanitizer starts a thread of its own with a program's first, so that one is started
// before threads are counted; joined threads may be listed for a moment longer.
class GraphPoolThreads : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::filesystem::path first = "/proc/self/task";
        std::thread([&first] { first /= std::to_string(gettid()); }).join();
        while (std::filesystem::exists(first))
            wait();
        before = count();
    }

    // Whether there are `added` more threads than before the test, within a second.
    testing::AssertionResult are_more_by(long added) const
    {
        for (int i = 0; i < 1000 && count() != before + added; ++i)
            wait();
        const long now = count();
        if (now == before + added) return testing::AssertionSuccess();
        return testing::AssertionFailure() << now << " threads, " << before << " before the test";
    }

  private:
    static long count()
    {
        return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    }

    static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

    long before = 0;
};

TEST_F(GraphPoolThreads, AreThoseOfTheExecutionGraph)
{
    const OwnedGraph whole = make_graph(3), first = make_graph(3, whole.get()),
                     second = make_graph(3, whole.get()), other = make_graph(3);
    GraphPool pool = share(whole);
    EXPECT_EQ(get_thread_pool_size(pool.get()), 3);
    GraphPool of_first = share(first), of_second = share(second);
    EXPECT_EQ(of_first.get(), pool.get());
    EXPECT_EQ(of_second.get(), pool.get());
    EXPECT_TRUE(are_more_by(2));
    const GraphPool of_other = share(other);
    EXPECT_NE(of_other.get(), pool.get());
    EXPECT_TRUE(are_more_by(4));
    pool.reset();
    of_first.reset();
    EXPECT_TRUE(are_more_by(4)) << "the second part has it still";
    of_second.reset();
    EXPECT_TRUE(are_more_by(2));
    EXPECT_NE(share(first), nullptr) << "made again";
}

// A device's call may return after the graph was destroyed.
TEST_F(GraphPoolThreads, LiveAsLongAsAPartOfAGraphThatIsGone)
{
    OwnedGraph whole = make_graph(3), part = make_graph(3, whole.get());
    GraphPool pool = share(part);
    whole.reset();
    part.reset();
    EXPECT_EQ(get_thread_pool_size(pool.get()), 3);
    EXPECT_TRUE(are_more_by(2));
    pool.reset();
    EXPECT_TRUE(are_more_by(0));
}

TEST(GraphPool, IsNoneForOneThread)
{
    const OwnedGraph alone = make_graph(1);
    EXPECT_EQ(share(alone), nullptr);
}

TEST(GraphPool, FailsAsAPoolDoes)
{
    const OwnedGraph graph = make_graph(THREAD_POOL_LIMIT + 1);
    thread_pool_t* pool = nullptr;
    EXPECT_EQ(share_graph_pool(graph.get(), &pool), TENGINE_ERANGE);
    EXPECT_EQ(pool, nullptr);
}

}  // namespace
}  // namespace tengine

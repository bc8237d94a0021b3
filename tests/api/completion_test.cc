// SPDX-License-Identifier: Apache-2.0
// run.h: the function that is told the end of runs in flight.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "fixture.h"
#include "support/test_device.h"
#include "tengine/run.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

struct Call
{
    graph_t graph;
    int status;
    std::thread::id thread;
};

// Keeps the calls.
class Listener
{
  public:
    void listen(graph_t graph)
    {
        ASSERT_EQ(tengine_graph_set_completion(graph, note, this), 0) << get_tengine_error();
    }
    // Waits for a number of calls.
    std::vector<Call> wait_for(size_t number)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        EXPECT_TRUE(called_.wait_for(lock, std::chrono::seconds(60),
                                     [&] { return calls_.size() >= number; }));
        return calls_;
    }

  private:
    static void note(graph_t graph, int status, void* listener)
    {
        auto& self = *static_cast<Listener*>(listener);
        const std::lock_guard<std::mutex> lock(self.mutex_);
        self.calls_.push_back({graph, status, std::this_thread::get_id()});
        self.called_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable called_;
    std::vector<Call> calls_;
};

class CompletionTest : public ApiTest
{
  protected:
    void load(const char* scheduler)
    {
        if (context_) unload();
        context_ = create_context("completion", 0);
        ASSERT_EQ(add_context_device(context_, "A"), 0);
        ASSERT_EQ(tengine_context_set_option(context_, "scheduler", scheduler), 0);
        graph_ = create_relu_graph(context_);
        ASSERT_TRUE(write_floats(get_graph_tensor(graph_, "x"), {-1, 1, -2, 2}));
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }
    void unload()
    {
        EXPECT_EQ(destroy_graph(graph_), 0);
        destroy_context(context_);
        context_ = nullptr;
    }
    void TearDown() override
    {
        if (context_) unload();
        ApiTest::TearDown();
    }
    Floats results() { return read_floats(get_graph_tensor(graph_, "y")); }

    test::TestDevice device_{"A", {"Relu"}};
    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
};

TEST_F(CompletionTest, ARunInFlightIsToldByItsThread)
{
    load("pipeline");
    Listener listener;
    listener.listen(graph_);
    for (size_t i = 1; i <= 20; ++i) {
        ASSERT_EQ(run_graph(graph_, 0), 0) << get_tengine_error();
        const std::vector<Call> calls = listener.wait_for(i);
        ASSERT_EQ(calls.size(), i);
        EXPECT_EQ(calls.back().graph, graph_);
        EXPECT_EQ(calls.back().status, 0);
        EXPECT_NE(calls.back().thread, std::this_thread::get_id());
        ASSERT_EQ(wait_graph(graph_, 0), 1);
        EXPECT_EQ(results(), (Floats{0, 1, 0, 2}));
    }
}

TEST_F(CompletionTest, ARunThatHasEndedAtOnceIsToldByRunGraph)
{
    load("sync");
    Listener listener;
    listener.listen(graph_);
    ASSERT_EQ(run_graph(graph_, 0), 0);
    ASSERT_EQ(listener.wait_for(1).size(), 1u);
    EXPECT_EQ(listener.wait_for(1)[0].thread, std::this_thread::get_id());
    EXPECT_EQ(wait_graph(graph_, 0), 1);
    EXPECT_EQ(results(), (Floats{0, 1, 0, 2}));
    ASSERT_EQ(run_graph(graph_, 1), 0);
    EXPECT_EQ(listener.wait_for(1).size(), 1u) << "a run that blocks";
}

TEST_F(CompletionTest, RunGraphThatFailsHasNone)
{
    for (const char* scheduler : {"sync", "pipeline"}) {
        load(scheduler);
        Listener listener;
        listener.listen(graph_);
        ASSERT_EQ(set_tensor_buffer(get_graph_tensor(graph_, "x"), nullptr, 0), 0);
        EXPECT_EQ(run_graph(graph_, 0), -1);
        EXPECT_TRUE(failed_with(TENGINE_EINVAL));
        EXPECT_EQ(listener.wait_for(0).size(), 0u);
    }
}

TEST_F(CompletionTest, ARunThatIsCancelledIsTold)
{
    load("pipeline");
    device_.use_cancel();
    device_.script.hang_ms = -1;
    device_.script.hang_run = 1;
    Listener listener;
    listener.listen(graph_);
    ASSERT_EQ(run_graph(graph_, 0), 0);
    EXPECT_EQ(wait_graph(graph_, 1), 0);
    while (device_.hanging == 0)
        std::this_thread::yield();
    ASSERT_EQ(tengine_graph_cancel(graph_), 0);
    ASSERT_EQ(tengine_graph_cancel(graph_), 0) << "until wait_graph";
    EXPECT_EQ(listener.wait_for(1)[0].status, TENGINE_ECANCELED);
    EXPECT_EQ(wait_graph(graph_, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
    EXPECT_EQ(tengine_graph_cancel(graph_), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(run_graph(graph_, 0), 0);
    EXPECT_EQ(listener.wait_for(2)[1].status, 0);
    ASSERT_EQ(wait_graph(graph_, 0), 1);
    EXPECT_EQ(results(), (Floats{0, 1, 0, 2}));
}

TEST_F(CompletionTest, TheGraphMayEndWithRunsInFlight)
{
    for (int i = 0; i < 20; ++i) {
        load("pipeline");
        Listener listener;
        listener.listen(graph_);
        ASSERT_EQ(run_graph(graph_, 0), 0);
        ASSERT_EQ(run_graph(graph_, 0), 0);
        if (i % 2 == 1) tengine_graph_cancel(graph_);
        unload();
        EXPECT_EQ(listener.wait_for(2).size(), 2u) << "before destroy_graph has returned";
    }
}

TEST_F(CompletionTest, TheFunctionIsSetBetweenRuns)
{
    load("pipeline");
    Listener listener;
    listener.listen(graph_);
    ASSERT_EQ(run_graph(graph_, 0), 0);
    EXPECT_EQ(tengine_graph_set_completion(graph_, nullptr, nullptr), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    ASSERT_EQ(wait_graph(graph_, 0), 1);
    ASSERT_EQ(tengine_graph_set_completion(graph_, nullptr, nullptr), 0);
    ASSERT_EQ(run_graph(graph_, 0), 0);
    ASSERT_EQ(wait_graph(graph_, 0), 1);
    EXPECT_EQ(listener.wait_for(1).size(), 1u);
}

// A function may cancel the runs behind the one that has ended.
TEST_F(CompletionTest, TheFunctionMayCancel)
{
    load("pipeline");
    ASSERT_EQ(tengine_graph_set_completion(
                  graph_, [](graph_t graph, int, void*) { tengine_graph_cancel(graph); }, nullptr),
              0);
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(run_graph(graph_, 0), 0);
        ASSERT_EQ(run_graph(graph_, 0), 0);
        ASSERT_EQ(wait_graph(graph_, 0), 1);
        EXPECT_EQ(results(), (Floats{0, 1, 0, 2}));
        if (wait_graph(graph_, 0) == 1)
            EXPECT_EQ(results(), (Floats{0, 1, 0, 2}));
        else
            EXPECT_TRUE(failed_with(TENGINE_ECANCELED));
    }
}

}  // namespace
}  // namespace tengine

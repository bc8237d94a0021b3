// SPDX-License-Identifier: Apache-2.0
// Several runs in flight: the scheduler "pipeline" and run_graph(graph, 0).
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "fixture.h"

namespace tengine {
namespace {

using Floats = std::vector<float>;

struct Events
{
    tensor_t input;
    std::vector<int> seen;
};

int note_event(graph_t graph, int event, void* argument)
{
    static_cast<Events*>(argument)->seen.push_back(event);
    EXPECT_EQ(wait_graph(graph, 0), 0);
    EXPECT_EQ(run_graph(graph, 0), -1);
    const float value[4] = {};
    EXPECT_EQ(set_tensor_data(static_cast<Events*>(argument)->input, value, sizeof value), -1);
    return 0;
}

class PipelineTest : public ApiTest
{
  protected:
    void SetUp() override
    {
        ApiTest::SetUp();
        context_ = create_context("pipeline", 0);
        ASSERT_EQ(tengine_context_set_option(context_, "scheduler", "pipeline"), 0);
        piped_ = create_relu_graph(context_);
        in_ = get_graph_tensor(piped_, "x");
        out_ = get_graph_tensor(piped_, "y");
    }

    context_t context_ = nullptr;
    graph_t piped_ = nullptr;
    tensor_t in_ = nullptr, out_ = nullptr;
};

TEST_F(PipelineTest, ARunIsLeftUnderWayAndEndsInWait)
{
    Events events = {in_, {}};
    for (int event : {GRAPH_EXEC_START, GRAPH_EXEC_DONE, GRAPH_EXEC_ABORT})
        ASSERT_EQ(set_graph_event_hook(piped_, event, note_event, &events), 0);
    ASSERT_EQ(prerun_graph(piped_), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(in_, {-1, 1, -2, 2}));
    ASSERT_EQ(run_graph(piped_, 0), 0) << get_tengine_error();
    EXPECT_EQ(get_graph_exec_status(piped_), GRAPH_STAT_RUNNING);
    // The next input, and a buffer for the first result.
    float mine[4] = {}, next[4] = {3, -3, 4, -4};
    ASSERT_EQ(set_tensor_buffer(in_, next, sizeof next), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(piped_, 0), 0) << get_tengine_error();
    next[0] = 100;  // the input has been copied
    EXPECT_EQ(events.seen, (std::vector<int>{GRAPH_EXEC_START, GRAPH_EXEC_START}));
    ASSERT_EQ(set_tensor_buffer(out_, mine, sizeof mine), 0) << get_tengine_error();
    ASSERT_EQ(wait_graph(piped_, 0), 1) << get_tengine_error();
    EXPECT_EQ(Floats(mine, mine + 4), (Floats{0, 1, 0, 2}));
    EXPECT_EQ(get_graph_exec_status(piped_), GRAPH_STAT_RUNNING);
    ASSERT_EQ(wait_graph(piped_, 0), 1) << get_tengine_error();
    EXPECT_EQ(Floats(mine, mine + 4), (Floats{3, 0, 4, 0}));
    EXPECT_EQ(events.seen, (std::vector<int>{GRAPH_EXEC_START, GRAPH_EXEC_START, GRAPH_EXEC_DONE,
                                             GRAPH_EXEC_DONE}));
    EXPECT_EQ(get_graph_exec_status(piped_), GRAPH_STAT_READY);
    EXPECT_EQ(wait_graph(piped_, 0), 1) << "the state of the last run";
}

TEST_F(PipelineTest, WhatTouchesAPreparedGraphWaitsItsTurn)
{
    ASSERT_TRUE(write_floats(in_, {-1, 1, -2, 2}));
    ASSERT_EQ(prerun_graph(piped_), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(piped_, 0), 0) << get_tengine_error();
    ASSERT_EQ(run_graph(piped_, 0), 0) << get_tengine_error();
    EXPECT_EQ(run_graph(piped_, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
    const int dims[] = {8};
    const std::function<int()> refused[] = {
        [&] { return run_graph(piped_, 1); },
        [&] { return prerun_graph(piped_); },
        [&] { return postrun_graph(piped_); },
        [&] { return set_tensor_shape(in_, dims, 1); },
        [&] { return set_graph_thread(piped_, 0, 1); },
        [&] { return set_tensor_buffer(out_, nullptr, 0); },
    };
    for (const auto& call : refused) {
        EXPECT_EQ(call(), -1);
        EXPECT_TRUE(failed_with(TENGINE_ESTATE));
    }
    EXPECT_EQ(destroy_graph(piped_), 0) << "waits: " << get_tengine_error();
    EXPECT_EQ(wait_graph(piped_, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EHANDLE));
}

TEST_F(PipelineTest, ARunThatCannotBeginLeavesTheOthersAlone)
{
    ASSERT_EQ(prerun_graph(piped_), 0) << get_tengine_error();
    ASSERT_TRUE(write_floats(in_, {-1, 1, -2, 2}));
    ASSERT_EQ(run_graph(piped_, 0), 0) << get_tengine_error();
    ASSERT_EQ(set_tensor_buffer(in_, nullptr, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_ESTATE)) << "nothing is taken back while runs are in flight";
    ASSERT_EQ(wait_graph(piped_, 0), 1);
    EXPECT_EQ(read_floats(out_), (Floats{0, 1, 0, 2}));
    ASSERT_EQ(set_tensor_buffer(in_, nullptr, 0), 0);
    EXPECT_EQ(run_graph(piped_, 0), -1);
    EXPECT_TRUE(failed_with(TENGINE_EINVAL));
    EXPECT_EQ(wait_graph(piped_, 0), -1);
    ASSERT_TRUE(write_floats(in_, {1, 1, 1, 1}));
    ASSERT_EQ(run_graph(piped_, 0), 0) << get_tengine_error();
    EXPECT_EQ(wait_graph(piped_, 0), 1);
}

// A random walk over the functions of a graph's life; each call must succeed or fail as c_api.h
// says.
class PipelineWalk
{
  public:
    static constexpr size_t kFrames = 3;

    explicit PipelineWalk(unsigned seed) : random_(seed)
    {
        context_ = create_context("pipeline", 0);
        EXPECT_EQ(tengine_context_set_option(context_, "scheduler", "pipeline"), 0);
        EXPECT_EQ(tengine_context_set_option(context_, "pipeline.frames", "3"), 0);
        graph_ = create_relu_graph(context_);
        x_ = get_graph_tensor(graph_, "x");
        y_ = get_graph_tensor(graph_, "y");
        EXPECT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
    }
    // Destroys the graph, in half of the cases with runs in flight.
    ~PipelineWalk()
    {
        EXPECT_EQ(destroy_graph(graph_), 0);
        destroy_context(context_);
    }

    void step()
    {
        switch (random_() % 10) {
            case 0:
                return idle_only(set_tensor_shape(x_, &(size_ = 5 - size_), 1), true);
            case 1:
                return idle_only(prerun_graph(graph_), false);
            case 2:
                return random_() % 4 ? expect_status() : idle_only(postrun_graph(graph_), false);
            case 3:
                return run_and_wait();
            case 4:
            case 5:
            case 6:
                return feed_and_begin();
            default:
                return wait_for_one();
        }
    }

  private:
    void expect_status()
    {
        const int status = get_graph_exec_status(graph_);
        EXPECT_EQ(status == GRAPH_STAT_RUNNING, !expected_.empty());
    }

    // Checks a call that must fail while runs are in flight; a reshape is undone then.
    void idle_only(int result, bool reshape)
    {
        if (!expected_.empty()) {
            EXPECT_EQ(result, -1);
            EXPECT_TRUE(failed_with(TENGINE_ESTATE));
            if (reshape) size_ = 5 - size_;
            return;
        }
        ASSERT_EQ(result, 0) << get_tengine_error();
        ASSERT_EQ(prerun_graph(graph_), 0) << get_tengine_error();
        has_run_ = false;
    }

    std::vector<float> feed()
    {
        std::vector<float> values(static_cast<size_t>(size_));
        for (float& value : values)
            value = static_cast<float>(random_() % 9) - 4;
        EXPECT_TRUE(write_floats(x_, values)) << get_tengine_error();
        for (float& value : values)
            value = value > 0 ? value : 0;
        return values;
    }

    void feed_and_begin()
    {
        const std::vector<float> results = feed();
        const int begun = run_graph(graph_, 0);
        if (expected_.size() == kFrames) {
            EXPECT_EQ(begun, -1);
            EXPECT_TRUE(failed_with(TENGINE_ELIMIT));
            return;
        }
        ASSERT_EQ(begun, 0) << get_tengine_error();
        expected_.push_back(results);
        has_run_ = true;
    }

    void run_and_wait()
    {
        const std::vector<float> results = feed();
        if (!expected_.empty()) {
            EXPECT_EQ(run_graph(graph_, 1), -1);
            EXPECT_TRUE(failed_with(TENGINE_ESTATE));
            return;
        }
        ASSERT_EQ(run_graph(graph_, 1), 0) << get_tengine_error();
        has_run_ = true;
        EXPECT_EQ(read_floats(y_), results);
    }

    void wait_for_one()
    {
        const int finished = wait_graph(graph_, 0);
        if (!has_run_) {
            EXPECT_EQ(finished, -1);
            EXPECT_TRUE(failed_with(TENGINE_ESTATE));
            return;
        }
        ASSERT_EQ(finished, 1) << get_tengine_error();
        if (expected_.empty()) return;
        EXPECT_EQ(read_floats(y_), expected_.front());
        expected_.pop_front();
    }

    std::mt19937 random_;
    int size_ = 4;
    bool has_run_ = false;
    std::deque<std::vector<float>> expected_;  // of the runs in flight
    context_t context_ = nullptr;
    graph_t graph_ = nullptr;
    tensor_t x_ = nullptr;
    tensor_t y_ = nullptr;
};

TEST_F(PipelineTest, EveryOrderIsLegalOrAClearError)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        PipelineWalk walk(seed);
        for (int i = 0; i < 80 && !HasFatalFailure(); ++i)
            walk.step();
    }
}

}  // namespace
}  // namespace tengine

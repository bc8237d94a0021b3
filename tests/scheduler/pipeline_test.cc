// SPDX-License-Identifier: Apache-2.0
// The pipeline scheduler: several runs in flight, each with its own inputs and results, in order.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "graph/graph.h"
#include "scheduler/fixture.h"

namespace {

using namespace tengine::test;

class PipelineTest : public testing::Test
{
  protected:
    PipelineTest() { session_.set("scheduler", "pipeline"); }

    void prepare(const char* frames)
    {
        add_three_steps(session_);
        session_.set("pipeline.frames", frames);
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    }

    void begin(int number)
    {
        const float first = static_cast<float>(number) / 10;
        session_.feed("x", {first, first + 1, -first, first / 2});
        ASSERT_EQ(session_.run(0), TENGINE_OK) << tengine_error_message();
    }

    void expect_results_of(int number)
    {
        const float first = static_cast<float>(number) / 10;
        const Floats inputs = {first, first + 1, -first, first / 2};
        const Floats results = session_.read("y");
        ASSERT_EQ(results.size(), inputs.size());
        for (size_t i = 0; i < inputs.size(); ++i)
            EXPECT_FLOAT_EQ(results[i], three_steps_of(inputs[i])) << "run " << number;
        EXPECT_EQ(session_.read("r")[1], first + 1);
    }

    // Keeps `limit` runs in flight for `number` runs.
    void run_many(int number, int limit)
    {
        for (int i = 0; i < number + limit; ++i) {
            if (i >= limit) {
                ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
                expect_results_of(i - limit);
            }
            if (i < number) begin(i);
        }
        EXPECT_EQ(session_.source()->status, GRAPH_STAT_READY);
    }

    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
};

TEST_F(PipelineTest, ResultsComeInOrder)
{
    for (const int frames : {1, 2, 3, 8}) {
        SCOPED_TRACE(frames);
        if (!session_.at("x")) add_three_steps(session_);
        session_.set("pipeline.frames", std::to_string(frames).c_str());
        ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
        run_many(40, frames);
    }
}

TEST_F(PipelineTest, DevicesMayStartRunsAndReturn)
{
    device_.use_async();
    prepare("3");
    run_many(30, 3);
    EXPECT_EQ(device_.async_runs, 60);
    EXPECT_EQ(device_.async_waits, 60);
    EXPECT_EQ(device_.runs, 60) << "all of them by async_run";
}

// While the second run is in part 0, the default device prepares the first one for part 2: both
// that and part 0 of the third run can be begun.
TEST_F(PipelineTest, ADeviceHasTheNextPartInItsQueue)
{
    std::atomic<int> begun{0}, most_begun{0};
    device_.use_async();
    device_.on_async_run = [&](subgraph*) {
        most_begun = std::max<int>(most_begun, ++begun);
        return 0;
    };
    device_.on_async_wait = [&](subgraph*, int) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --begun;
        return 1;
    };
    prepare("3");
    run_many(16, 3);
    EXPECT_EQ(most_begun, 2);
}

TEST_F(PipelineTest, AsManyRunsAsThereAreFramesMayBeUnderWay)
{
    prepare("2");
    EXPECT_EQ(session_.wait(), 1) << "none is in flight";
    begin(0);
    begin(1);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_RUNNING);
    EXPECT_EQ(session_.run(0), TENGINE_ELIMIT);
    EXPECT_TRUE(says("2 runs are in flight; call wait_graph"));
    EXPECT_EQ(session_.run(1), TENGINE_ESTATE);
    EXPECT_EQ(session_.prerun(), TENGINE_ESTATE);
    EXPECT_TRUE(may_feed_ir_graph(session_.source()));
    ASSERT_EQ(session_.wait(), 1);
    expect_results_of(0);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_RUNNING);
    begin(2);
    expect_results_of(0);  // until the next wait
    ASSERT_EQ(session_.wait(), 1);
    expect_results_of(1);
    ASSERT_EQ(session_.wait(), 1);
    expect_results_of(2);
    EXPECT_EQ(session_.wait(), 1);
    session_.feed("x", {1, 1, 1, 1});
    ASSERT_EQ(session_.run(1), TENGINE_OK);
    EXPECT_EQ(session_.read("r"), (Floats{1, 1, 1, 1}));
}

TEST_F(PipelineTest, WaitingMayBeTried)
{
    std::atomic<bool> held{true};
    device_.on_run = [&](subgraph*) {
        while (held)
            std::this_thread::yield();
        return 0;
    };
    prepare("2");
    begin(0);
    EXPECT_EQ(session_.wait(1), 0);
    held = false;
    while (session_.wait(1) == 0)
        std::this_thread::yield();
    expect_results_of(0);
}

TEST_F(PipelineTest, ResultsAreCopiedIntoTheUsersBuffers)
{
    prepare("3");
    Floats buffers[3] = {Floats(4), Floats(4), Floats(4)};
    for (int i = 0; i < 3; ++i)
        begin(i);
    for (int i = 0; i < 3; ++i) {
        set_ir_tensor_data(session_.at("y"), buffers[i].data(), false);
        ASSERT_EQ(session_.wait(), 1);
        expect_results_of(i);
        EXPECT_EQ(session_.at("y")->data, buffers[i].data());
    }
    EXPECT_FLOAT_EQ(buffers[0][0], three_steps_of(0));
    EXPECT_FLOAT_EQ(buffers[2][0], three_steps_of(0.2f));
}

TEST_F(PipelineTest, ARunThatFailsIsTheOnlyOne)
{
    session_.set("split.max_fallback_macs", "0");
    const LogCapture log;
    session_.builder().input("x", {2, 2});
    session_.builder().floats("w", {2, 2}, {1, 0, 0, 1});
    session_.builder().add("Neg", {"x"}, {"n"});
    session_.builder().add("Abs", {"n"}, {"a"});
    session_.builder().add("MatMul", {"a", "w"}, {"y"});
    session_.builder().outputs({"y"});
    TestDevice product("B", {"MatMul"});
    ASSERT_EQ(
        add_ir_context_device(session_.source()->attribute->context, product.get(), nullptr, 0),
        TENGINE_OK);
    session_.set("pipeline.frames", "4");
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    product.script.fail_run = 6;
    for (int i = 0; i < 12; ++i) {
        if (i >= 4) {
            const int number = i - 4;
            if (number == 5) {
                EXPECT_EQ(session_.wait(), TENGINE_EDEVICE);
                EXPECT_TRUE(says("device 'B', run of part 2 (1 nodes): told to fail"));
                EXPECT_EQ(session_.source()->status, GRAPH_STAT_RUNNING);
            } else {
                ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
                EXPECT_EQ(session_.read("y")[0], static_cast<float>(number));
            }
        }
        session_.feed("x", Floats(4, static_cast<float>(i)));
        ASSERT_EQ(session_.run(0), TENGINE_OK) << tengine_error_message();
    }
    for (int i = 8; i < 12; ++i) {
        ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
        EXPECT_EQ(session_.read("y")[0], static_cast<float>(i));
    }
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_READY);
    product.fail_run = true;
    EXPECT_EQ(session_.run(1), TENGINE_EDEVICE);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_ERROR);
    product.fail_run = false;
    session_.feed("x", Floats(4, 7.0f));
    ASSERT_EQ(session_.run(1), TENGINE_OK) << tengine_error_message();
    EXPECT_EQ(session_.read("y")[0], 7.0f);
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(remove_ir_context_device(session_.source()->attribute->context, product.get()),
              TENGINE_OK);
}

TEST_F(PipelineTest, TheDefaultDeviceDoesARunThatFails)
{
    const LogCapture log;
    device_.use_async();
    device_.script.fail_run = 7;
    prepare("4");
    run_many(20, 4);
    EXPECT_EQ(log.count("told to fail"), 1);
    EXPECT_GT(session_.part(0)->core->redo_num + session_.part(2)->core->redo_num, 0);
}

TEST_F(PipelineTest, AFailureToStartIsOneOfTheRun)
{
    const LogCapture log;
    device_.use_async();
    device_.on_async_wait = [](subgraph*, int) { return 0; };
    prepare("2");
    run_many(5, 2);
    EXPECT_EQ(log.count("async_wait returned before the end"), 2) << "one for each part";
}

TEST_F(PipelineTest, TheEndWaitsForRunsUnderWay)
{
    prepare("8");
    for (int i = 0; i < 8; ++i)
        begin(i);
    EXPECT_EQ(session_.postrun(), TENGINE_OK);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_DONE);
    EXPECT_EQ(device_.runs, 16);
    EXPECT_EQ(session_.at("y")->data, nullptr);
}

TEST_F(PipelineTest, ShapesThatDependOnDataTravelWithTheirRun)
{
    session_.builder().input("x", {4});
    session_.builder().add("Relu", {"x"}, {"r"});
    session_.builder().add("NonZero", {"r"}, {"where"});
    session_.builder().add("Neg", {"where"}, {"negated"});
    session_.builder().outputs({"where", "negated"});
    session_.set("pipeline.frames", "3");
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    const auto feed = [&](int number) {
        Floats data(4, -1);
        for (int i = 0; i < number % 5; ++i)
            data[static_cast<size_t>(i)] = 1;
        session_.feed("x", data);
        ASSERT_EQ(session_.run(0), TENGINE_OK) << tengine_error_message();
    };
    for (int i = 0; i < 33; ++i) {
        if (i >= 3) {
            const int64_t expected = (i - 3) % 5;
            ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
            const tensor* negated = session_.at("negated");
            ASSERT_EQ(negated->elem_num, expected);
            for (int64_t k = 0; k < expected; ++k)
                EXPECT_EQ(negated->i64[k], -k);
        }
        if (i < 30) feed(i);
    }
}

TEST_F(PipelineTest, OutputsThatNoPartWritesAreServed)
{
    session_.builder().input("x", {2});
    session_.builder().floats("w", {2}, {5, 6});
    session_.builder().add("Identity", {"x"}, {"copy"});
    session_.builder().add("Neg", {"w"}, {"folded"});
    session_.builder().outputs({"copy", "folded"});
    session_.set("pipeline.frames", "2");
    ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message();
    session_.feed("x", {1, 2});
    ASSERT_EQ(session_.run(0), TENGINE_OK);
    session_.feed("x", {3, 4});
    ASSERT_EQ(session_.run(0), TENGINE_OK);
    ASSERT_EQ(session_.wait(), 1);
    EXPECT_EQ(session_.read("copy"), (Floats{1, 2}));
    EXPECT_EQ(session_.read("folded"), (Floats{-5, -6}));
    ASSERT_EQ(session_.wait(), 1);
    EXPECT_EQ(session_.read("copy"), (Floats{3, 4}));
}

}  // namespace

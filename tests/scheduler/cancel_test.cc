// SPDX-License-Identifier: Apache-2.0
// Runs that are cancelled, and runs whose deadline is over, on devices that hang until they are
// told, that ask, and that know nothing of it.
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

#include "graph/graph.h"
#include "graph/run_state.h"
#include "operator/affinity.h"
#include "scheduler/fixture.h"
#include "scheduler/watchdog.h"

namespace {

using namespace tengine::test;
using std::chrono::milliseconds;

void pause()
{
    std::this_thread::sleep_for(milliseconds(1));
}

// Ends every run of the graph from another thread as soon as `is_time`.
class Canceller
{
  public:
    Canceller(Session& session, std::function<bool()> is_time)
        : thread_([source = session.source(), is_time = std::move(is_time)] {
              while (!is_time())
                  pause();
              EXPECT_TRUE(cancel_ir_runs(source));
          })
    {
    }
    ~Canceller() { thread_.join(); }

  private:
    std::thread thread_;
};

class CancelTest : public testing::Test
{
  protected:
    CancelTest() { add_three_steps(session_); }

    void prepare() { ASSERT_EQ(session_.prerun(), TENGINE_OK) << tengine_error_message(); }

    void feed(float first) { session_.feed("x", {first, first + 1, first + 2, first + 3}); }

    void expect_values(float first)
    {
        const Floats results = session_.read("y");
        ASSERT_EQ(results.size(), 4u);
        for (size_t i = 0; i < results.size(); ++i)
            EXPECT_FLOAT_EQ(results[i], three_steps_of(first + static_cast<float>(i)));
    }

    // The part of the device is still the device's.
    void expect_it_runs_on_the_device(float first)
    {
        const int runs = device_.runs;
        feed(first);
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        expect_values(first);
        EXPECT_EQ(device_.runs, runs + 2);
        EXPECT_EQ(session_.execution()->node_list[0]->device, device_.get());
    }

    void expect_cancelled(int status)
    {
        EXPECT_EQ(status, TENGINE_ECANCELED);
        EXPECT_STREQ(tengine_error_message(), "the run of graph '' was cancelled");
    }

    void hang_once()
    {
        device_.script.hang_ms = -1;
        device_.script.hang_run = device_.runs + 1;
    }

    bool is_hanging() const { return device_.hanging > 0; }

    TestDevice device_{"A", {"Relu", "Neg"}};
    Session session_{&device_};
};

// The schedulers, with and without the devices' async_run, and with a watchdog.
struct Way
{
    const char* scheduler;
    const char* watchdog_ms;
    bool is_async;
};

class CancelOfADevice : public CancelTest, public testing::WithParamInterface<Way>
{
  protected:
    CancelOfADevice()
    {
        session_.set("scheduler", GetParam().scheduler);
        session_.set("run.watchdog_ms", GetParam().watchdog_ms);
        if (GetParam().is_async) device_.use_async();
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, CancelOfADevice,
                         testing::Values(Way{"sync", "0", false}, Way{"sync", "60000", false},
                                         Way{"pipeline", "0", false}, Way{"pipeline", "0", true},
                                         Way{"pipeline", "60000", true}));

TEST_P(CancelOfADevice, ThatIsToldEndsTheRun)
{
    const LogCapture log;
    device_.use_cancel();
    prepare();
    for (int i = 0; i < 3; ++i) {
        hang_once();
        feed(0);
        {
            const Canceller canceller(session_, [this] { return is_hanging(); });
            expect_cancelled(session_.run());
        }
        EXPECT_EQ(session_.source()->status, GRAPH_STAT_ERROR);
        EXPECT_EQ(device_.cancels, i + 1);
        expect_it_runs_on_the_device(static_cast<float>(i));
    }
    EXPECT_EQ(log.count("from now on"), 0);
    EXPECT_EQ(session_.part(0)->core->redo_num, 0);
}

// In the shapes of the cancelled run and in others.
TEST_P(CancelOfADevice, LeavesThePreparation)
{
    device_.use_cancel();
    const auto prepare_for = [this](int size) {
        ASSERT_EQ(set_ir_tensor_shape(session_.at("x"), &size, 1), TENGINE_OK);
        session_.feed("x", Floats(static_cast<size_t>(size), 1));
        prepare();
    };
    prepare_for(5);
    prepare_for(4);
    hang_once();
    {
        const Canceller canceller(session_, [this] { return is_hanging(); });
        expect_cancelled(session_.run());
    }
    const int compilations = device_.pre_runs;
    for (const int size : {4, 5, 4}) {
        prepare_for(size);
        ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
        EXPECT_EQ(session_.read("y"), Floats(static_cast<size_t>(size), three_steps_of(1)));
    }
    EXPECT_EQ(device_.pre_runs, compilations);
}

TEST_P(CancelOfADevice, ThatAsksEndsTheRun)
{
    std::atomic<bool> waits{true}, is_waiting{false};
    const auto ask = [&](subgraph* part) {
        while (waits && !is_ir_part_cancelled(part)) {
            is_waiting = true;
            pause();
        }
        return waits ? TENGINE_EDEVICE : TENGINE_OK;
    };
    device_.on_run = ask;
    device_.on_async_run = ask;
    prepare();
    feed(0);
    {
        const Canceller canceller(session_, [&] { return is_waiting.load(); });
        expect_cancelled(session_.run());
    }
    waits = false;
    expect_it_runs_on_the_device(1);
}

// A device that is told may return anything.
TEST_P(CancelOfADevice, ThatSucceedsAllTheSameEndsTheRun)
{
    const auto cancel = [this](subgraph*) {
        if (device_.runs == 1) {
            EXPECT_TRUE(cancel_ir_runs(session_.source()));
            EXPECT_TRUE(cancel_ir_runs(session_.source())) << "a second time";
        }
        return TENGINE_OK;
    };
    device_.on_run = cancel;
    device_.on_async_run = cancel;
    prepare();
    feed(0);
    expect_cancelled(session_.run());
    EXPECT_EQ(device_.runs, 1) << "nothing begins after that";
    expect_it_runs_on_the_device(2);
}

TEST_P(CancelOfADevice, ByItsDeadline)
{
    device_.use_cancel();
    session_.set("run.deadline_ms", "40");
    prepare();
    for (int i = 0; i < 3; ++i) {
        hang_once();
        feed(0);
        EXPECT_EQ(session_.run(), TENGINE_ECANCELED);
        EXPECT_STREQ(tengine_error_message(),
                     "the run of graph '' has not ended within 40 ms (run.deadline_ms)");
    }
    EXPECT_EQ(device_.cancels, 3);
    // A machine that is busy may take longer for any run.
    session_.set("run.deadline_ms", "60000");
    prepare();
    for (int i = 0; i < 20; ++i)
        expect_it_runs_on_the_device(static_cast<float>(i));
}

TEST_F(CancelTest, WithoutARunHasNoEffect)
{
    EXPECT_FALSE(cancel_ir_runs(session_.source()));
    prepare();
    EXPECT_FALSE(cancel_ir_runs(session_.source()));
    expect_it_runs_on_the_device(0);
    EXPECT_FALSE(cancel_ir_runs(session_.source()));
    expect_it_runs_on_the_device(1);
}

// The call returns within the watchdog's time, or the device is given up; this run is not repeated.
TEST_F(CancelTest, OfADeviceThatHangsEndsWithTheWatchdog)
{
    const LogCapture log;
    session_.set("run.watchdog_ms", "500");
    prepare();
    hang_once();
    feed(0);
    {
        const Canceller canceller(session_, [this] { return is_hanging(); });
        expect_cancelled(session_.run());
    }
    EXPECT_EQ(log.count("no return within 500 ms; CPU runs the part from now on"), 1);
    feed(1);
    ASSERT_EQ(session_.run(), TENGINE_OK) << tengine_error_message();
    expect_values(1);
    device_.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
}

TEST_F(CancelTest, OfADeviceThatHangsWhereNothingMayFallBack)
{
    session_.set("run.watchdog_ms", "500");
    session_.set("split.fail_on_fallback", "1");
    ASSERT_EQ(add_ir_graph_affinity(session_.source(), "e", "CPU"), TENGINE_OK);
    prepare();
    hang_once();
    feed(0);
    {
        const Canceller canceller(session_, [this] { return is_hanging(); });
        expect_cancelled(session_.run());
    }
    EXPECT_EQ(session_.run(), TENGINE_EDEVICE);
    EXPECT_TRUE(says("no return within 500 ms; falling back to CPU is not allowed"));
    ASSERT_EQ(session_.postrun(), TENGINE_OK);
    device_.release_hangs();
    EXPECT_EQ(wait_hung_calls(10000), 0);
}

class CancelOfAPipeline : public CancelTest
{
  protected:
    CancelOfAPipeline()
    {
        session_.set("scheduler", "pipeline");
        session_.set("pipeline.frames", "3");
        device_.use_cancel();
    }

    void begin(float first)
    {
        feed(first);
        ASSERT_EQ(session_.run(0), TENGINE_OK) << tengine_error_message();
    }

    void begin_three()
    {
        hang_once();
        for (int i = 0; i < 3; ++i)
            begin(static_cast<float>(i));
        while (!is_hanging())
            pause();
    }
};

TEST_F(CancelOfAPipeline, EndsAllRunsInFlight)
{
    prepare();
    for (int i = 0; i < 3; ++i) {
        begin_three();
        EXPECT_EQ(session_.run(0), TENGINE_ELIMIT) << "no frame is free";
        EXPECT_TRUE(cancel_ir_runs(session_.source()));
        for (int k = 0; k < 3; ++k)
            expect_cancelled(session_.wait());
        EXPECT_EQ(session_.wait(), 1) << "none is in flight";
        begin(5);
        ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
        expect_values(5);
    }
}

// It begins before the cancelled runs have been waited for.
TEST_F(CancelOfAPipeline, LeavesLaterRunsAlone)
{
    prepare();
    hang_once();
    begin(0);
    begin(1);
    while (!is_hanging())
        pause();
    EXPECT_TRUE(cancel_ir_runs(session_.source()));
    begin(2);
    expect_cancelled(session_.wait());
    expect_cancelled(session_.wait());
    ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
    expect_values(2);
    EXPECT_EQ(session_.source()->status, GRAPH_STAT_READY);
}

TEST_F(CancelOfAPipeline, LeavesRunsThatHaveEndedAlone)
{
    prepare();
    begin(7);
    while (session_.wait(1) == 0)
        pause();
    expect_values(7);
    std::atomic<bool> has_ended{false};
    session_.source()->core->completion = {
        [](void*, int, void* ended) { *static_cast<std::atomic<bool>*>(ended) = true; },
        &has_ended};
    begin(8);
    while (!has_ended)
        pause();
    EXPECT_TRUE(cancel_ir_runs(session_.source()));
    ASSERT_EQ(session_.wait(), 1) << tengine_error_message();
    expect_values(8);
}

TEST_F(CancelOfAPipeline, MayBeFollowedByTheEndOfTheGraph)
{
    for (int i = 0; i < 3; ++i) {
        prepare();
        begin_three();
        EXPECT_TRUE(cancel_ir_runs(session_.source()));
        ASSERT_EQ(session_.postrun(), TENGINE_OK);
        EXPECT_EQ(device_.hanging, 0);
    }
}

TEST_F(CancelOfAPipeline, IsAlsoMadeAtTheDeadlineOfRunsThatWait)
{
    session_.set("run.deadline_ms", "100");
    prepare();
    // All hang: a run that begins later may otherwise end before its own deadline.
    device_.script.hang_ms = -1;
    device_.script.hang_run = 0;
    for (int i = 0; i < 3; ++i)
        begin(static_cast<float>(i));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(session_.wait(), TENGINE_ECANCELED);
        EXPECT_TRUE(says("within 100 ms"));
    }
}

// The end of a run and a request to end it meet in all ways; each run has right results or none.
TEST_F(CancelTest, MeetsTheEndOfRuns)
{
    for (const char* scheduler : {"sync", "pipeline"}) {
        session_.set("scheduler", scheduler);
        prepare();
        std::atomic<bool> is_over{false};
        std::thread canceller([&] {
            for (unsigned i = 1; !is_over; ++i) {
                cancel_ir_runs(session_.source());
                std::this_thread::sleep_for(std::chrono::microseconds(i % 64));
            }
        });
        int ended = 0, cancelled = 0;
        for (int i = 0; i < 300; ++i) {
            feed(static_cast<float>(i % 7));
            const int status = session_.run();
            if (status == TENGINE_OK) {
                expect_values(static_cast<float>(i % 7));
                ++ended;
            } else {
                ASSERT_EQ(status, TENGINE_ECANCELED) << tengine_error_message();
                ++cancelled;
            }
        }
        is_over = true;
        canceller.join();
        EXPECT_EQ(ended + cancelled, 300);
        expect_it_runs_on_the_device(1);
    }
}

// ---- completion ----

struct Told
{
    std::mutex mutex;
    std::vector<int> statuses;

    static void note(void*, int status, void* told)
    {
        auto& self = *static_cast<Told*>(told);
        const std::lock_guard<std::mutex> lock(self.mutex);
        self.statuses.push_back(status);
    }
    std::vector<int> take()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return std::exchange(statuses, {});
    }
    size_t count()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return statuses.size();
    }
};

TEST_F(CancelOfAPipeline, IsToldAsTheEndOfEachRun)
{
    Told told;
    session_.source()->core->completion = {Told::note, &told};
    prepare();
    begin_three();
    EXPECT_EQ(told.take(), std::vector<int>());
    EXPECT_TRUE(cancel_ir_runs(session_.source()));
    for (int i = 0; i < 3; ++i) {
        expect_cancelled(session_.wait());
        EXPECT_GE(told.count(), static_cast<size_t>(i) + 1);
    }
    EXPECT_EQ(told.take(), std::vector<int>(3, TENGINE_ECANCELED));
    feed(1);
    ASSERT_EQ(session_.run(), TENGINE_OK);
    EXPECT_EQ(told.take(), std::vector<int>()) << "a run that blocks";
    session_.source()->core->completion = {};
}

// Functions that take time, of runs that end on two threads, one of which fails.
TEST_F(CancelOfAPipeline, TheProgramIsToldInOrder)
{
    struct Slow
    {
        Told told;
        std::atomic<int> inside{0};
    } slow;
    session_.source()->core->completion = {[](void* graph, int status, void* data) {
                                               auto& self = *static_cast<Slow*>(data);
                                               EXPECT_EQ(++self.inside, 1);
                                               std::this_thread::sleep_for(milliseconds(2));
                                               Told::note(graph, status, &self.told);
                                               --self.inside;
                                           },
                                           &slow};
    session_.set("split.fail_on_fallback", "1");
    ASSERT_EQ(add_ir_graph_affinity(session_.source(), "e", "CPU"), TENGINE_OK);
    prepare();
    device_.script.fail_run = 5;
    std::vector<int> seen;
    for (int i = 0; i < 12; ++i) {
        if (i >= 3) {
            const int status = session_.wait();
            seen.push_back(status < 0 ? status : 0);
            const std::lock_guard<std::mutex> lock(slow.told.mutex);
            ASSERT_GE(slow.told.statuses.size(), seen.size());
            EXPECT_EQ(slow.told.statuses[seen.size() - 1], seen.back());
        }
        if (i < 9) begin(static_cast<float>(i));
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), TENGINE_EDEVICE), 1);
    EXPECT_EQ(slow.told.take(), seen);
    session_.source()->core->completion = {};
}

}  // namespace
